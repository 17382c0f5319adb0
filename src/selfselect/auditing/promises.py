"""Whether new people did as well as published.

The promise to a group that applies is that it does not lose by trusting the published precision: of its new people who
pass screening, at least a share as large as its cost is qualified.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy.special import betainc

from .._validation import BoolArray, FloatArray
from ..counting import GroupCounts, precision_interval

#: Level of the tests.
RARE = 0.05


def promises(applies: BoolArray, costs: FloatArray, new: GroupCounts, groups: pd.Index) -> pd.DataFrame:
    """Whether the promise was kept to each group that applies by what was published, from counts of new people.

    Returns
    -------
    DataFrame, indexed by group
        ``delivered`` (precision among new people, NaN if nobody passes) with its 95% Clopper-Pearson interval
        ``delivered_low`` and ``delivered_high``, ``new_selected`` and ``new_true_positives`` (new people who pass,
        and those of them who are qualified; sums of weights if there are any), and ``promise_kept``: "no" or "yes" if a
        one-sided binomial test at 5% says that the precision is below or above the cost, else
        "undecided"; empty for groups that stay away. Weighted and repeated people count by their effective number.
    """
    true_positives, passed = (np.asarray(part, dtype=np.float64) for part in new.effective_trials)
    # binomial chances, by the incomplete beta function: it also takes sums of weights
    at_most, at_least = np.ones(len(true_positives)), np.ones(len(true_positives))
    fewer, some = true_positives < passed, true_positives > 0
    at_most[fewer] = betainc((passed - true_positives)[fewer], true_positives[fewer] + 1, 1 - costs[fewer])
    at_least[some] = betainc(true_positives[some], (passed - true_positives)[some] + 1, costs[some])
    kept = np.where(at_most < RARE, "no", np.where(at_least < RARE, "yes", "undecided"))
    low, high = precision_interval(true_positives, passed, interval="clopper-pearson")
    return pd.DataFrame(
        {
            "delivered": new.precision,
            "delivered_low": low,
            "delivered_high": high,
            "new_selected": new.selected,
            "new_true_positives": new.true_positives,
            "promise_kept": np.where(applies, kept, ""),
        },
        index=groups,
    )
