"""``selfselect demo``: what self-selection does to a screening model, on bundled data, in a minute."""

from __future__ import annotations

from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import click
import pandas as pd
from sklearn.model_selection import train_test_split

from selfselect._files import write_atomically
from selfselect._formats import percent
from selfselect._notices import captured_warnings
from selfselect._text import printable
from selfselect.auditing import Audit, Provenance, ScreeningResult
from selfselect.constraints import MaxSocialCost
from selfselect.datasets import fetch_adult
from selfselect.estimators import NaiveClassifier, StrategicClassifier
from selfselect.report import Opening, check_available
from selfselect.report.pages import audit_page
from selfselect.report.sentences.audits import group_statuses

from .outputs import check_files
from .terminal import text_table

#: Cost of applying. At this cost some groups apply to an ordinary model and others do not.
COST = 0.7
#: Largest share of qualified people who may stay away from the other model.
LIMIT = 0.1
#: Title of the picture.
HEADING = "of those who pass, at least so many are qualified"
#: Length of a bar of 100%.
BAR = 30


class DemoPeople(NamedTuple):
    """Features, labels and groups."""

    X: pd.DataFrame
    y: pd.Series
    z: pd.Series


def run(report: str | None, force: bool) -> None:
    """Fit an ordinary model to the Adult data, show who would not apply, and what a model that knows this does."""
    check_files({"report": report}, force=force)
    train, new = load_people()
    ordinary = NaiveClassifier(cost=COST).fit(train.X, train.y, sensitive_features=train.z)
    audit = _audit(ordinary, train, new)
    about_page = _write_page(audit, report)
    show(ordinary, train, new)
    click.echo(about_page)


def load_people() -> tuple[DemoPeople, DemoPeople]:
    """The Adult data: training people, and others who decide whether to apply."""
    adult = fetch_adult()
    parts = train_test_split(adult.data, adult.target, adult.group, test_size=0.3, random_state=0)
    return DemoPeople(*parts[::2]), DemoPeople(*parts[1::2])


def _write_page(audit: Audit, report: str | None) -> str:
    """Write the report and return what to say about it. This comes before any printing, which may end early."""
    try:
        check_available()
    except ImportError as error:
        return f"{error} Then this ends with a page to play with."
    names = (Path(f"selfselect-demo{'' if i == 1 else f'-{i}'}.html") for i in count(1))
    path = Path(report) if report is not None else next(name for name in names if not name.exists())
    opening = Opening(published="training people", counted="held-out people")
    write_atomically(path, audit_page(audit.protected(), opening))
    return (
        f"  {'play with it:':<14}{printable(str(path))}, a page for any browser ({printable(path.resolve().as_uri())})"
    )


def show(ordinary: NaiveClassifier, train: DemoPeople, new: DemoPeople) -> None:
    """What happens, one picture, and what to do next."""
    click.echo(
        f"A model screens people for a job; {len(train.X):,} people of the Adult census data train it (qualified: "
        "income\nabove 50,000). Of each group the firm publishes how many of those who pass are qualified, to be safe "
        f"as\na lower bound. Applying costs {COST:.0%} of what the job is worth. People apply where the number is "
        "higher:\n"
    )
    audit = ordinary.audit(*new)
    click.echo(text_table(_bars(ordinary, audit), left=("group", HEADING)))
    with captured_warnings():
        aware = StrategicClassifier(COST, constraints=[MaxSocialCost(LIMIT)])
        told = aware.fit(train.X, train.y, sensitive_features=train.z).audit(*new)
    click.echo(
        f"\n{percent(audit.social_cost)} of qualified people never apply. The firm does not notice: it sees the "
        f"{percent(audit.induced_accuracy)} it gets right among\nthose who do. A model trained for those who apply "
        f"(selfselect train --max-social-cost {LIMIT:g}) keeps\n{percent(told.social_cost)} of them away, and gets "
        f"{percent(told.induced_accuracy)} right.\n"
        "\nWhat next?\n"
        "  on your table: selfselect audit FILE --label COLUMN --group COLUMN --score COLUMN --cost 0.7"
    )


def _bars(model: NaiveClassifier, audit: Audit) -> list[dict[str, str]]:
    """A bar per group, with a mark at the cost."""
    published, mark = model.published_, round(COST * BAR)
    bounds = model.terms_.max_accepted_cost(published.groups, published.counts)
    rows = []
    for name, bound, status in zip(audit.names, bounds, group_statuses(audit), strict=True):
        bar = ("#" * round(max(bound, 0) * BAR)).ljust(BAR)
        rows.append(
            {
                "group": name,
                HEADING: f"{bar[:mark]}|{bar[mark:]} {percent(bound)}",
                "": status,
            }
        )
    return rows


def _audit(ordinary: NaiveClassifier, train: DemoPeople, new: DemoPeople) -> Audit:
    """The ordinary model, as its report shows it."""
    scores: tuple[Any, Any] = (ordinary.unseen_scores_, ordinary.decision_function(new.X))
    published_by, counted_on = (
        ScreeningResult.from_scores(people.y, score, threshold=0.0, sensitive_features=people.z)
        for people, score in zip((train, new), scores, strict=True)
    )
    return Audit(
        published_by,
        counted_on,
        replace(ordinary.terms_, cost=COST),
        provenance=Provenance(
            title="An ordinary model on census data",
            command="selfselect demo",
            label="income above 50,000",
            groups="race",
            score="score of the model",
        ),
    )
