"""``python -m selfselect`` is the command ``selfselect``."""

from .cli import main

if __name__ == "__main__":
    main(prog_name="selfselect")
