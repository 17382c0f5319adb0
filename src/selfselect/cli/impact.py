"""``selfselect impact``."""

from __future__ import annotations

import shlex
import sys
from typing import Any

import click

from selfselect._text import printable
from selfselect.auditing import ImpactAudit, Provenance
from selfselect.auditing.impact import SMALL_SHARE
from selfselect.report.sentences.impact import impact_notes, impact_sentences
from selfselect.report.tables import impact_rows
from selfselect.tabular.impact import read_impact

from .inputs import group_rules, model_column, table_at, title_of
from .outputs import check_files, deliver
from .terminal import text_table


def run(file: str, groups: tuple[str, ...], all_categories: bool, **options: Any) -> None:
    """Show rates and impact ratios."""
    check_files(options, force=options["force"], inputs=[file])
    model = model_column(options)
    with table_at(file, options) as table:
        found, passes = read_impact(table, groups, group_rules(options), model)
        source = Provenance(
            title=options["title"] or title_of(file),
            command=shlex.join(["selfselect", *sys.argv[1:]]),
            sha256=table.sha256(),
            groups=" / ".join(groups),
            score=model.name,
            passes=passes,
            note=options["note"] or "",
            dated=options["data_date"] or "",
        )
    deliver(found.with_source(source, 0.0 if all_categories else SMALL_SHARE), options, _show)


def _show(found: ImpactAudit) -> None:
    for sentence in impact_sentences(found):
        click.echo(printable(sentence))
    if found.provenance.passes:
        click.echo(printable(f"(A person passes when {found.provenance.passes}.)"))
    for rate, frame in found.tables.items():
        for table in impact_rows(frame, rate):
            click.echo(f"\n{rate.capitalize()} by {printable(table['by'])}:\n")
            click.echo(text_table(table["rows"], left=("category", "note"), rest="--csv and --json hold all"))
    click.echo()
    for note in impact_notes(found):
        click.echo(printable(note))
