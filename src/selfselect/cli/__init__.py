"""The command ``selfselect``.

What is declared here (``main``, ``errors``, ``options`` and one module per subcommand) imports nothing but click, so
that help and usage errors come at once; what the subcommands do is in :mod:`selfselect.cli.work`.
"""

import sys

try:
    from .errors import BadInput
    from .main import main
except KeyboardInterrupt:  # while the command starts; what comes later, it answers itself
    sys.stderr.write("Interrupted.\n")
    raise SystemExit(130) from None

__all__ = ["BadInput", "main"]
