"""The command ``selfselect``: ``commands`` declares what can be typed, and a module per subcommand does the work.

``main``, ``commands``, ``options`` and ``errors`` import nothing heavy, so that help and usage errors come at once. The
modules of the subcommands are imported when they run.
"""

from .main import main

__all__ = ["main"]
