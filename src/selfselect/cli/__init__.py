"""The command ``selfselect``.

What is declared here (``main``, ``errors``, ``options`` and one module per subcommand) imports nothing but click, so
that help and usage errors come at once; what the subcommands do is in :mod:`selfselect.cli.work`.
"""

from .starting import ends_at_once

with ends_at_once():
    from .errors import BadInput
    from .main import main

__all__ = ["BadInput", "main"]
