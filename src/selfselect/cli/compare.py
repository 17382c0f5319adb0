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
    from selfselect.auditing import Comparison, PairedCounts, Provenance, ScreeningResult
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
@click.option(
    "--prediction-positive", metavar="VALUE", help="The prediction that means passing, if not 1, true or yes."
)
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
def compare(files: tuple[str, ...], costs: tuple[float, ...], same_people: str | None, **options: Any) -> None:
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
    scores, thresholds, predictions = options["scores"], options["thresholds"], options["predictions"]
    check_model_options(scores, thresholds, predictions, options["lower_passes"])
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

    from selfselect.auditing import Audit, compare
    from selfselect.costs import Terms
    from selfselect.tabular.data_checks import check_group_names

    from .inputs import read_results

    outputs = Outputs.of(options)
    check_outputs(outputs, force=options["force"], inputs=files)
    models = _models(options)
    pairs: PairedCounts | None = None
    if len(files) == 1 or same_people is not None:
        screened, pairs = _screen_same_people(files, models, same_people, options)
    else:
        read = [read_results(*each, options, named=True) for each in zip(files, models, strict=True)]
        screened = [(results[0], source) for results, source in read]
    before, after = (
        Audit(result, result, Terms(cost), (), source)  # an option that is given once holds for both
        for (result, source), cost in zip(screened, (costs[0], costs[-1]), strict=True)
    )
    show_findings(check_group_names(before.names, after.names))
    drawn = {"n_resamples": options["resamples"], "random_state": options["seed"]}
    result = compare(before, after, pairs=pairs, names=_names(files, models), **drawn)
    result = replace(result, title=options["title"] or "")
    outputs.deliver(result, _show, result.group_names)


def _models(options: Mapping[str, Any]) -> list[Model]:
    from selfselect.tabular.loading import DecisionColumn, ScoreColumn

    if options["predictions"]:
        return [DecisionColumn(options["predictions"][at], options["prediction_positive"]) for at in (0, -1)]
    limits = options["thresholds"] or (None,)
    return [ScoreColumn(options["scores"][at], limits[at], options["lower_passes"]) for at in (0, -1)]


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


def _screen_same_people(
    files: Sequence[str], models: Sequence[Model], identifier: str | None, options: Mapping[str, Any]
) -> tuple[list[tuple[ScreeningResult, Provenance]], PairedCounts]:
    """Results of two models for the same people, with their sources, and how often the two agree."""
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
            sha256 = table.sha256()
        for model, output in zip(wanted, rows[-1].outputs, strict=True):
            meaning = (rows[-1].qualified, output.passes)
            sources.append(provenance(title_of(file), people, score_name(model), meaning, sha256, options))
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
    return [(before, sources[0]), (after, sources[-1])], pairs


def _show(result: Comparison) -> None:
    from selfselect.report.sentences.comparisons import comparison_note
    from selfselect.report.tables import change_rows, difference_rows

    from .inputs import meaning_line

    click.echo(printable(result.verdict()))
    click.echo(meaning_line(result.before.provenance, result.after.provenance))
    click.echo("\n" + text_table(difference_rows(result), left=("",)))
    rows = change_rows(result)
    if all(len({row["cost before"], row["cost after"]} - {"-"}) < 2 for row in rows):  # the columns say nothing new
        rows = [{name: cell for name, cell in row.items() if not name.startswith("cost")} for row in rows]
    click.echo("\n" + text_table(rows, left=("group", "change"), rest="--csv and --json hold all"))
    click.echo(f"\n{comparison_note(result)}")
