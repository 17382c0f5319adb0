"""What ``selfselect status`` does."""

from __future__ import annotations

import click
import pandas as pd

from selfselect._text import printable
from selfselect.reproduction import COSTS, Store, progress
from selfselect.reproduction.wording import in_words, is_ones_own


def run(*, path: str, splits: int) -> None:
    """Show what a store holds and lacks."""
    with Store(path, read_only=True) as store:
        rows, sweeps = progress(store, splits), store.sweeps()
    table = [
        {
            "data set": printable(row.dataset),
            "method": row.method,
            "done": row.done,
            "under way": row.under_way,
            "missing": row.missing,
            "s per fit": "-" if row.seconds is None else f"{row.seconds:.2f}",
            "in words": in_words(row.method).removesuffix(f" ({row.method})"),
        }
        for row in rows
    ]
    done, under_way = sum(row.done for row in rows), sum(row.under_way for row in rows)
    path = printable(path)
    click.echo(pd.DataFrame(table).to_string(index=False))
    click.echo(f"\n{done} results in {path}, {under_way} under way.")
    if rows and is_ones_own(row.dataset for row in rows):
        click.echo("Every method, cost and split that was begun is expected of all; missing ones are made by the same")
        click.echo(f"selfselect reproduce --data FILE --label COLUMN --group COLUMN --store {path} as the others.")
    else:
        click.echo(f"Of the paper's data sets, {len(COSTS)} costs and {splits} splits are expected; missing ones are")
        click.echo(f"made by:\nselfselect reproduce --store {path}")
    if sweeps:
        spent = sum(sweep["seconds"] for sweep in sweeps)
        click.echo(f"Made by {len(sweeps)} finished sweep(s) in {spent / 60:.1f} minutes.")
