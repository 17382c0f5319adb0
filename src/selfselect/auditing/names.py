"""Names of groups."""

from __future__ import annotations

import json

import pandas as pd


def group_names(labels: pd.Index) -> list[str]:
    """One text per group: combinations of several columns are joined by " / "."""
    if labels.nlevels == 1:
        return [str(label) for label in labels]
    names = [" / ".join(map(str, label)) for label in labels]
    if len(set(names)) < len(names):  # the separator is part of a value
        names = [json.dumps([str(part) for part in label], ensure_ascii=False) for label in labels]
    return names
