"""People drawn at random, and what they are put into."""

import numpy as np
import pandas as pd
from hypothesis import strategies as st

from selfselect import PublishedStatistics, ThresholdCurves

#: (qualified, selected, group) of each.
decided_people = st.lists(st.tuples(st.booleans(), st.booleans(), st.sampled_from("abc")), min_size=1, max_size=40)
#: (qualified, score, group) of each; scores tie often.
scored_people = st.lists(st.tuples(st.booleans(), st.integers(0, 6), st.sampled_from("abc")), min_size=1, max_size=30)


def columns(people):
    y, yhat, z = zip(*people, strict=True)
    return list(y), list(yhat), list(z)


def curves_of(rows, **options):
    y, score, z = zip(*rows, strict=True)
    y, score, z = list(y), [float(s) for s in score], list(z)
    return y, score, z, ThresholdCurves.from_scores(y, score, sensitive_features=z, **options)


def table_of(**groups):
    """Published statistics from (n, positives, selected, true positives, and perhaps untested) of each group."""
    columns = ["n", "positives", "selected", "true_positives", "untested"]
    frame = pd.DataFrame.from_dict(groups, orient="index")
    return PublishedStatistics.from_counts(frame.set_axis(columns[: frame.shape[1]], axis=1))


def thresholds_to_try(score):
    return [-np.inf, *(s + d for s in sorted(set(score)) for d in (-0.5, 0.0, 0.5))]
