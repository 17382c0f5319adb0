"""Figure 6 by our learner."""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure

from ..summaries import our_part
from .figure06_by_group import draw_groups


def draw(results: pd.DataFrame) -> tuple[Figure, pd.DataFrame]:
    """Draw our learner."""
    return draw_groups(our_part(results))
