"""``selfselect simulate``."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import click

from selfselect._notices import captured_warnings
from selfselect._text import printable
from selfselect.behaviour import LogitResponse
from selfselect.report.sentences.rounds import KEY, letters, shown_rounds
from selfselect.report.tables import round_rows
from selfselect.simulation import Discounted, History, simulate
from selfselect.tabular.columns import match_groups
from selfselect.tabular.data_checks import Finding
from selfselect.tabular.features import fit_encoder, read_features
from selfselect.tabular.loading import read_for_training
from selfselect.tabular.train import Method, make_classifier

from .errors import BadInput, show_findings
from .inputs import group_terms, meaning_line, people_columns, provenance, table_at, title_of
from .outputs import check_files, deliver
from .terminal import text_table


def run(file: str, method: Method, seed: int, **options: Any) -> None:
    """Simulate rounds on the people of a table."""
    check_files(options, force=options["force"], inputs=[file, options["costs_file"]])
    if options["person"] is not None:
        raise BadInput("A simulation takes each row as a person. Keep one row of each person, and leave out --person.")
    findings: list[Finding] = []
    with table_at(file, options) as table:
        people = read_for_training(
            table,
            people_columns(options),
            ignore=options["ignore"],
            learn_from_groups=options["use_group"],
            findings=findings,
        )
        source = provenance(title_of(file), "score of the model", people.qualified, "", table, options, "")
    show_findings(findings)
    names, amounts = zip(*options["subsidies"], strict=True) if options["subsidies"] else ((), ())
    paid = dict(zip(match_groups(names, people.groups.labels, "subsidy"), amounts, strict=True))
    terms = group_terms(
        people.groups.labels, options["cost"], options, subsidies=paid or None, kind=options["subsidy_kind"]
    )
    frame, left_out = read_features(people.columns)
    for name, reason in left_out.items():
        click.echo(f"Note: {printable(f'Column {name!r} is left out: {reason}.')}", err=True)
    with captured_warnings():
        history = simulate(
            (fit_encoder(frame).transform(frame), people.y.astype(int), people.groups),
            make_classifier(method, terms, random_state=seed),
            behaviour=None if options["scale"] is None else LogitResponse(options["scale"]),
            rounds=options["rounds"],
            beliefs=None if options["memory"] is None else Discounted(options["memory"]),
            exploration=options["exploration"],
            retrain=options["retrain"],
            initial=options["initial"],
            random_state=seed,
            progress=True,
        )
    deliver(replace(history, provenance=source), options, _show)


def _show(history: History) -> None:
    click.echo(printable(history.verdict()))
    click.echo(meaning_line(history.provenance))
    rows = letters(history)
    click.echo("\n" + text_table(rows, left=tuple(rows[0])[:2], total=len(history.names), rest="--csv holds all"))
    click.echo(KEY)
    click.echo("\n" + text_table(round_rows(history, shown_rounds(len(history))), rest="--csv holds all"))
