"""The former place of :mod:`selfselect.cli.outputs`."""

from .outputs import refuse_existing
from .outputs import write_output as write_whole

__all__ = ["refuse_existing", "write_whole"]
