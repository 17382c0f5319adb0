"""The command ``selfselect``.

One module per subcommand holds its options and its work. ``main``, ``errors``, ``options`` and the subcommands import
nothing but click at module level, so that help and usage errors come at once; heavy imports are inside the functions.
"""

from .starting import ends_at_once

with ends_at_once():
    from .errors import BadInput
    from .main import main

__all__ = ["BadInput", "main"]
