"""Read from a table what impact ratios need: groups, and the scores or decisions of a model."""

from __future__ import annotations

from collections.abc import Sequence

from ..auditing import ImpactAudit
from .columns import BinaryColumn, GroupRules, as_numbers, encode_frame, group_frame, read_binary
from .errors import Problems
from .loading import DecisionColumn, Model
from .table import Table


def read_impact(table: Table, groups: Sequence[str], rules: GroupRules, model: Model) -> tuple[ImpactAudit, str]:
    """Rates and impact ratios by group, and who passes, in words (empty: a score without a threshold)."""
    named = [*((name, "group") for name in groups), (model.name, model.named_by)]
    problems = Problems()
    positions = [problems.catch(table.position, *each) for each in named]
    problems.raise_all()
    *parts, output = table.columns(positions)
    if rules.missing == "drop":
        kept = rules.known_rows(table, parts)
        *parts, output = (column.take(kept) for column in (*parts, output))
        if not kept.any():
            raise table.error("no row has a group", column=" / ".join(groups), named_by="group")
    frame = problems.catch(group_frame, table, parts, rules)
    if isinstance(model, DecisionColumn):
        named_positive = () if model.positive is None else (model.positive,)
        decisions: BinaryColumn = problems.catch(read_binary, table, output, named_positive)
        problems.raise_all()
        codes = encode_frame(frame, rules)
        return ImpactAudit.from_decisions(decisions.is_positive, codes), decisions.meaning
    score, threshold = problems.catch(as_numbers, table, output), model.threshold
    problems.raise_all()
    codes = encode_frame(frame, rules)
    passes = "" if threshold is None else f"{model.name} {'<' if model.lower_passes else '>'} {threshold:g}"
    return ImpactAudit.from_scores(score, codes, threshold, lower_passes=model.lower_passes), passes
