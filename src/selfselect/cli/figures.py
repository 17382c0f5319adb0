"""``selfselect figures``."""

from __future__ import annotations

import click


@click.command()
@click.option("--out", required=True, type=click.Path(file_okay=False), help="Folder to write to.")
@click.option("--store", "path", type=click.Path(dir_okay=False), help="Results, which figures 5 and 6 show.")
@click.option(
    "--figure",
    "numbers",
    multiple=True,
    type=click.IntRange(1, 11),
    help="Number of a figure; repeatable. Default: all.",
)
@click.option("--force", is_flag=True, help="Overwrite existing files.")
def figures(out: str, path: str | None, numbers: tuple[int, ...], force: bool) -> None:
    """Draw the figures of the paper as SVG and PNG, each with its data as CSV."""
    from pathlib import Path

    try:
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise click.UsageError("Figures need matplotlib: pip install 'selfselect[plot]'.") from error
    from selfselect.reproduction import Store
    from selfselect.reproduction.paper.figures import FIGURES, make_figure

    from ._files import refuse_existing, write_whole

    chosen = [FIGURES[number] for number in numbers or FIGURES]
    if path is None:
        if numbers and any(recipe.needs_results for recipe in chosen):
            raise click.UsageError("Figures 5 and 6 show results: pass --store.")
        skipped = [str(recipe.number) for recipe in chosen if recipe.needs_results]
        chosen = [recipe for recipe in chosen if not recipe.needs_results]
        if skipped:
            click.echo(f"Without --store, figures {' and '.join(skipped)} are left out: they show results.", err=True)
        stored = []
    else:
        with Store(path, create=False) as store:
            stored = store.results()
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    names = [folder / f"{recipe.stem}.{ending}" for recipe in chosen for ending in ("csv", "svg", "png")]
    refuse_existing(names, force=force)
    for recipe in chosen:
        for ending, content in make_figure(recipe, stored).items():
            write_whole(folder / f"{recipe.stem}.{ending}", content, force=force)
    click.echo(f"Wrote {len(chosen)} figures, each as SVG, PNG and CSV, to {folder}.")
