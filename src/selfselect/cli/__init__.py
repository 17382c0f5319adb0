"""The command ``selfselect``: one module per subcommand, with its options and its work.

``main``, ``errors``, ``options`` and the subcommands import nothing heavy at module level, so that help and usage
errors come at once. Heavy imports are inside the functions that need them.
"""

from .main import main

__all__ = ["main"]
