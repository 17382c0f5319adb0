"""The tables of a result, as the sheets of a workbook."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from ..outcomes import Outcome


def result_sheets(result: Any) -> dict[str, pd.DataFrame]:
    """Tables of a result by the name of their sheet: first what it says and where it comes from, then all numbers."""
    sheets = {"summary": _summary(result)}
    kind = type(result).__name__
    if kind == "ImpactAudit":
        return {**sheets, **result.tables}
    names = result.group_names if kind == "Comparison" else getattr(result, "names", None)
    if kind == "SubsidyPlan":
        names = result.before.names
    frame = result.to_frame()
    if kind in ("ThresholdFrontier", "History"):
        sheets["thresholds" if kind == "ThresholdFrontier" else "rounds and groups"] = _with_index(frame)
    else:
        sheets["groups"] = frame.reset_index(drop=True)
        sheets["groups"].insert(0, "group", names)
    if kind == "Audit":
        sheets["all groups together"] = _outcomes({"value": result.outcome})
        sheets["impact ratios"] = result.impact_ratios()
        if len(result.costs) > 1:
            sheets["costs"] = _with_index(result.by_cost())
    elif kind == "SubsidyPlan":
        sheets["all groups together"] = _outcomes({"before": result.unpaid.outcome, "after": result.after.outcome})
        if result.path is not None:
            sheets["search"] = result.path
    elif kind == "Comparison":
        sheets["differences"] = _with_index(result.differences())
    elif kind == "History":
        sheets["rounds"] = _with_index(result.totals())
    return sheets


def _summary(result: Any) -> pd.DataFrame:
    source = getattr(result, "provenance", None) or getattr(getattr(result, "before", None), "provenance", None)
    rows = [("result", sentence) for sentence in result.verdict().split(". ")]
    for title in ("title", "command", "label", "passes", "sha256", "dated", "note"):
        if source is not None and getattr(source, title):
            rows.append((title, getattr(source, title)))
    return pd.DataFrame(rows, columns=["what", "text"])


def _outcomes(outcomes: dict[str, Outcome]) -> pd.DataFrame:
    columns = {title: outcome.to_dict() for title, outcome in outcomes.items()}
    numbers = list(dict.fromkeys(name for column in columns.values() for name in column))
    values = {title: [column.get(name, np.nan) for name in numbers] for title, column in columns.items()}
    return pd.DataFrame({"number": numbers, **values})


def _with_index(frame: pd.DataFrame) -> pd.DataFrame:
    return frame if isinstance(frame.index, pd.RangeIndex) else frame.reset_index()
