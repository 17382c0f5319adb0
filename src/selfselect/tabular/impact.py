"""Read from a table what impact ratios need: groups, and the scores or decisions of a model."""

from __future__ import annotations

from collections.abc import Sequence

from ..auditing import ImpactAudit
from .columns import GroupRules, as_numbers, encode_frame, group_frame, read_binary
from .loading import DecisionColumn, Model
from .table import Table


def read_impact(table: Table, groups: Sequence[str], rules: GroupRules, model: Model) -> tuple[ImpactAudit, str]:
    """Rates and impact ratios by group, and who passes, in words (empty: a score without a threshold)."""
    named = [*((name, "group") for name in groups), (model.name, model.named_by)]
    *parts, output = table.columns([table.position(*each) for each in named])
    if rules.missing == "drop":
        kept = rules.known_rows(table, parts)
        *parts, output = (column.take(kept) for column in (*parts, output))
        if not kept.any():
            raise table.error("no row has a group", column=" / ".join(groups), named_by="group")
    codes = encode_frame(group_frame(table, parts, rules), rules)
    if isinstance(model, DecisionColumn):
        decisions = read_binary(table, output, () if model.positive is None else (model.positive,))
        return ImpactAudit.from_decisions(decisions.is_positive, codes), decisions.meaning
    score, threshold = as_numbers(table, output), model.threshold
    passes = "" if threshold is None else f"{model.name} {'<' if model.lower_passes else '>'} {threshold:g}"
    return ImpactAudit.from_scores(score, codes, threshold, lower_passes=model.lower_passes), passes
