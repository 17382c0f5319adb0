"""Everything is compared on one core: import this before numpy."""

import os

from selfselect._threads import ONE_THREAD  # imports no numpy

for _name, _value in ONE_THREAD.items():
    os.environ.setdefault(_name, _value)
