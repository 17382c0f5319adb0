"""``selfselect status``."""

from __future__ import annotations

import click


@click.command()
@click.option("--store", "path", required=True, type=click.Path(dir_okay=False), help="SQLite file of results.")
@click.option("--splits", default=10, show_default=True, type=click.IntRange(min=1), help="Splits to expect.")
def status(path: str, splits: int) -> None:
    """Show which results a store holds, which are missing, and which are being made."""
    import pandas as pd

    from selfselect.reproduction import BUNDLED, COSTS, METHODS, Store

    with Store(path, create=False) as store:
        results, under_way, sweeps = store.results(), store.under_way(), store.sweeps()
    stored = {result.cell for result in results}
    known = dict.fromkeys([*BUNDLED, *(cell.dataset for cell in sorted(stored))])
    datasets = [name for name in known if not stored or any(cell.dataset == name for cell in stored | under_way)]
    rows = []
    for dataset in datasets:
        for method in METHODS:
            mine = {cell for cell in stored if cell.dataset == dataset and cell.method == method}
            running = sum(cell.dataset == dataset and cell.method == method for cell in under_way)
            seconds = [r.seconds for r in results if r.cell in mine]
            here = {cell for cell in stored if cell.dataset == dataset}
            # of a table of one's own, what was asked for is known only by what is there
            costs = COSTS if dataset in BUNDLED else sorted({cell.cost for cell in here})
            asked = splits if dataset in BUNDLED else 1 + max(cell.split for cell in here)
            rows.append(
                {
                    "data set": dataset,
                    "method": method,
                    "done": len(mine),
                    "under way": running,
                    "missing": sum((c, s) not in {(m.cost, m.split) for m in mine} for c in costs for s in range(asked))
                    - running,
                    "s per fit": f"{sum(seconds) / len(seconds):.2f}" if seconds else "-",
                }
            )
    click.echo(pd.DataFrame(rows).to_string(index=False))
    click.echo(f"\n{len(stored)} results in {path}, {len(under_way)} under way. Of the paper's data sets,")
    click.echo(f"{len(COSTS)} costs and {splits} splits are expected; missing ones are made by:")
    click.echo(f"selfselect reproduce --store {path}")
    if sweeps:
        spent = sum(sweep["seconds"] for sweep in sweeps)
        click.echo(f"Made by {len(sweeps)} finished sweep(s) in {spent / 60:.1f} minutes.")
