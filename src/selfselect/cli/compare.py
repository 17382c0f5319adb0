"""``selfselect compare``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from selfselect._text import printable

from .errors import show_findings
from .options import (
    Number,
    check_model_options,
    file_options,
    output_options,
    people_options,
    seed_option,
    weight_option,
)
from .outputs import Outputs, check_outputs
from .terminal import text_table

if TYPE_CHECKING:
    from selfselect.auditing import Audit, Comparison, PairedCounts
    from selfselect.costs import Terms
    from selfselect.tabular.loading import Model
    from selfselect.tabular.pairing import ModelTable


#: More resamples would take long, and hardly change an interval.
MAX_RESAMPLES = 100_000


@click.command(short_help="Compare two years, or two models.")
@click.argument("files", nargs=-1, required=True, metavar="FILE [FILE]")
@people_options
@click.option(
    "--score", "scores", multiple=True, metavar="COLUMN", help="Score; twice if the two are in different columns."
)
@click.option("--threshold", "thresholds", multiple=True, type=float, metavar="T", help="Of the score; once or twice.")
@click.option("--lower-passes", is_flag=True, help="Below the threshold passes, not above it.")
@click.option("--prediction", "predictions", multiple=True, metavar="COLUMN", help="Who passes; once or twice.")
@click.option("--prediction-positive", metavar="VALUE", help="The prediction that means passing, if not 1 or true.")
@weight_option
@click.option(
    "--cost",
    "costs",
    type=Number(0, 1),
    multiple=True,
    required=True,
    help="Cost of being tested; twice if it changed.",
)
@click.option(
    "--same-people",
    metavar="COLUMN",
    help="The two files hold the same people, matched by this column: two models are compared on them.",
)
@click.option("--resamples", type=click.IntRange(2, MAX_RESAMPLES), default=1000, show_default=True)
@seed_option("Of the resamples.")
@output_options
@file_options
def compare(
    files: tuple[str, ...],
    scores: tuple[str, ...],
    thresholds: tuple[float, ...],
    lower_passes: bool,
    predictions: tuple[str, ...],
    prediction_positive: str | None,
    costs: tuple[float, ...],
    same_people: str | None,
    resamples: int,
    seed: int,
    force: bool,
    **options: Any,
) -> None:
    """Compare one year with another, or model A with model B: which groups start or stop applying, beyond chance.

    Two FILEs hold different people, or with --same-people the scores of two models for the same people. One FILE with
    two --score (or two --prediction, or two --threshold) holds two models on the same people. Of an option that is
    given twice, the first is for the first.

    \b
    Examples:
      selfselect compare 2023.csv 2024.csv --label repaid --positive yes --group region --score score --cost 0.7
      selfselect compare loans.csv --label repaid --positive yes --group region --score old --score new --cost 0.7
      selfselect compare old.csv new.csv --same-people id \\
        --label repaid --positive yes --group region --score score --cost 0.7

    Exit code 0: fine; 2: wrong input.
    """  # noqa: D301
    if len(files) > 2:
        raise click.UsageError(f"Two files are compared, not {len(files)}.")
    check_model_options(scores, thresholds, predictions, lower_passes)
    repeatable = {"--score": scores, "--prediction": predictions, "--threshold": thresholds, "--cost": costs}
    for option, values in repeatable.items():
        if len(values) > 2:
            raise click.UsageError(f"{option} is given once for both, or twice; not {len(values)} times.")
    if len(files) == 1 and same_people is not None:
        raise click.UsageError("--same-people is for two files; in one they are the same people.")
    if len(files) == 1 and max(map(len, repeatable.values())) < 2:
        raise click.UsageError("With one FILE, give --score, --prediction or --threshold twice: once per model.")
    if files.count("-") > 1:
        raise click.UsageError("Standard input can be one of the two files only.")

    from selfselect.auditing import compare
    from selfselect.costs import Terms
    from selfselect.tabular.data_checks import check_group_names

    outputs = Outputs.of(options)
    check_outputs(outputs, force=force, inputs=files)
    models = _models(scores, thresholds, lower_passes, predictions, prediction_positive)
    terms = [Terms(cost) for cost in (costs[0], costs[-1])]  # an option that is given once holds for both
    pairs: PairedCounts | None = None
    if len(files) == 1 or same_people is not None:
        before, after, pairs = _audits_of_same_people(files, models, same_people, terms, options)
    else:
        before, after = (_audit(*each, options) for each in zip(files, models, terms, strict=True))
    show_findings(check_group_names(before.names, after.names))
    result = compare(before, after, pairs=pairs, names=_names(files, models), n_resamples=resamples, random_state=seed)
    result = replace(result, title=options["title"] or "")
    outputs.deliver(result, _show, result.group_names)


def _models(
    scores: Sequence[str],
    thresholds: Sequence[float],
    lower_passes: bool,
    predictions: Sequence[str],
    positive: str | None,
) -> list[Model]:
    from selfselect.tabular.loading import DecisionColumn, ScoreColumn

    if predictions:
        return [DecisionColumn(name, positive) for name in (predictions[0], predictions[-1])]
    limits = thresholds or (None,)
    return [ScoreColumn(scores[at], limits[at], lower_passes) for at in (0, -1)]


def _names(files: Sequence[str], models: Sequence[Model]) -> tuple[str, str]:
    """What the two are called: the files, or in one file what differs between the models."""
    from selfselect.tabular.loading import ScoreColumn

    from .inputs import title_of

    if len(files) == 2:
        one, other = (title_of(file) for file in files)
        return (one, other) if one != other else (files[0], files[1])
    if models[0].name != models[1].name:
        return models[0].name, models[1].name
    texts = [
        f"{model.name} {'<' if model.lower_passes else '>'} {model.threshold:g}"
        for model in models
        if isinstance(model, ScoreColumn) and model.threshold is not None
    ]
    return (texts[0], texts[1]) if len(set(texts)) == 2 else ("the first", "the second")


def _audit(file: str, model: Model, terms: Terms, options: Mapping[str, Any]) -> Audit:
    from selfselect.auditing import Audit

    from .inputs import read_results

    (result,), source = read_results(file, model, options, named=True)
    return Audit(result, result, terms, (), source)


def _audits_of_same_people(
    files: Sequence[str],
    models: Sequence[Model],
    identifier: str | None,
    terms: Sequence[Terms],
    options: Mapping[str, Any],
) -> tuple[Audit, Audit, PairedCounts]:
    """Audits of the same people under two models."""
    from selfselect.auditing import Audit
    from selfselect.tabular.data_checks import check_column_roles, check_labels_and_groups
    from selfselect.tabular.loading import check_output
    from selfselect.tabular.pairing import match_people, read_model_table, screen_twice

    from .inputs import people_columns, provenance, score_name, table_at, title_of

    people = people_columns(options)
    rows: list[ModelTable] = []
    sources = []
    for file, wanted in zip(files, [[models[0]], [models[1]]] if len(files) == 2 else [list(models)], strict=True):
        with table_at(file, options) as table:
            rows.append(read_model_table(table, people, wanted, identifier))
            sources.append(provenance(title_of(file), people, score_name(wanted[0]), table.sha256(), options))
    both = (rows[0], rows[-1])
    if identifier is not None:
        one, other, left_out = match_people(*both, identifier)
        both = (one, other)
        if left_out:
            click.echo(f"Note: {left_out:,} people are in one of the two files only, and are left out.", err=True)
    before, after, pairs = screen_twice(*both)
    show_findings(
        [
            *check_column_roles(people.label, people.groups),
            *check_labels_and_groups(before.table, people.label),
            *check_output(before, models[0]),
            *(check_output(after, models[1]) if models[0] != models[1] else ()),
        ]
    )
    return Audit(before, before, terms[0], (), sources[0]), Audit(after, after, terms[1], (), sources[-1]), pairs


def _show(result: Comparison) -> None:
    from selfselect.report.sentences.comparisons import comparison_note
    from selfselect.report.tables import change_rows, difference_rows

    click.echo(printable(result.verdict()))
    click.echo("\n" + text_table(difference_rows(result), left=("",)))
    rows = change_rows(result)
    if all(len({row["cost before"], row["cost after"]} - {"-"}) < 2 for row in rows):  # the columns say nothing new
        rows = [{name: cell for name, cell in row.items() if not name.startswith("cost")} for row in rows]
    click.echo("\n" + text_table(rows, left=("group", "change"), rest="--csv and --json hold all"))
    click.echo(f"\n{comparison_note(result)}")
