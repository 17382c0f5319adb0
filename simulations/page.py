"""The page of results: what is promised, what was simulated, what held. Its text is in page.md."""

from __future__ import annotations

from pathlib import Path
from string import Template

import numpy as np
import pandas as pd

from .intervals import NUMBERS, RESAMPLES
from .logs import LOGS
from .populations import GENEROSITY, POPULATIONS, TABLES, Population
from .promises import METHODS
from .run import plan_cells, read_results

#: Ends between which a measure must lie, by kind and measure.
BARS = {
    **{("promise", name): (0.0, 0.1) for name in ("broken_ratio", "broken_mean", "any_broken", "above_truth")},
    **{("audit", name): (0.92, 0.98) for name in (*NUMBERS, "precision")},
    ("new people", "delivered"): (0.92, 1.0),
    ("new people", "wrong_verdict"): (0.0, 0.05),
    **{("compare", name): (0.0, 0.07) for name in NUMBERS},
    ("impact", "below_1"): (0.0, 0.07),
    **{("frontier", name): (-np.inf, 0.005) for name in ("one", "per_group")},
    ("plan", "enough"): (0.9, 1.0),
    **{("log", name): (0.93, 1.0) for name in ("cost", "scale")},
}
#: Least number of groups told in the rows about generosity, and the number under a bound for each count by itself.
MARKS = dict(zip(GENEROSITY, ((18, 5.6), (27, 4.9), (10, 10), (4, 4)), strict=True))


class Results:
    """Texts of measures, bold where they miss their bar, from a table of results."""

    def __init__(self, table: pd.DataFrame) -> None:
        keys = table[["kind", "population", "method", "publish", "measure"]].itertuples(index=False, name=None)
        self.found = dict(zip(keys, table[["value", "se", "note"]].itertuples(index=False, name=None), strict=True))
        self.judged = self.missed = 0

    def mark(self, text: str, holds: bool) -> str:
        """A text, bold if its bar is missed."""
        self.judged, self.missed = self.judged + 1, self.missed + (not holds)
        return text if holds else f"**{text}**"

    def number(self, measure: str, *key: str) -> float:
        """A number without a bar, NaN if there is none."""
        return float(self.found.get((*key, measure), (np.nan,))[0])

    def share(self, measure: str, kind: str, *key: str) -> str:
        """A share with its standard error, judged by its bar; empty if it was not simulated."""
        simulated, _, note = self.found.get((kind, *key, "simulated"), (np.nan, 0, ""))
        if simulated == 0:
            return "*not there*" if "person=" in note else "*refused*"
        value, se, _ = self.found.get((kind, *key, measure), (np.nan, 0, ""))
        if np.isnan(value):
            return "" if np.isnan(simulated) else "*none*"
        low, high = BARS[kind, measure]
        end = low if value < low else high
        in_all = {"broken_ratio": "told_in_all", "above_truth": "published_in_all"}.get(measure, "simulated")
        number = self.number(in_all, kind, *key)
        # the standard error that the share would have if it were at the bar; 0 and 100% have none of their own
        unit = se / np.sqrt(value * (1 - value)) if 0 < value < 1 else 1 / np.sqrt(number)
        spare = 3 * (se if kind == "frontier" else unit * np.sqrt(end * (1 - end)))
        return self.mark(f"{100 * value:.1f}% ± {100 * se:.1f}", low - spare <= value <= high + spare)

    def promises(self, measure: str, publish: str) -> list[dict[str, str]]:
        """Populations by methods: a share, and in brackets the groups told."""

        def text(*key: str) -> str:
            shown, told = self.share(measure, "promise", *key), self.number("told", "promise", *key)
            return f"{shown} ({told:.1f})" if "%" in shown else shown

        return [{"population": name} | {m: text(name, m, publish) for m in METHODS} for name in POPULATIONS]

    def excess(self) -> list[dict[str, str]]:
        """Populations by methods: published minus true, and in brackets counted minus true."""

        def text(*key: str) -> str:
            bound, counted = (self.number(f"{name}_excess", "promise", *key) for name in ("bound", "precision"))
            return "" if np.isnan(bound) else f"{bound:+.3f} ({counted:+.3f})"

        return [{"population": name} | {m: text(name, m, "default") for m in METHODS} for name in POPULATIONS]

    def generosity(self) -> list[dict[str, str]]:
        """Groups told where they deserve it."""
        rows = []
        for cell in plan_cells(1, "generosity"):
            key, (least, before) = (cell.kind, cell.population, cell.method, cell.publish), MARKS[cell.population]
            told, se, _ = self.found.get((*key, "told"), (np.nan, np.nan, ""))
            rows.append(
                {"population": cell.population, "classifier": cell.method}
                | {"told": self.mark(f"{told:.1f} ± {se:.1f}", told >= least - 3 * se), "bar": f"at least {least}"}
                | {"told by separate bounds": f"{before:g}", "broken": f"{self.number('broken_ratio', *key):.1%}"}
            )
        return rows

    def intervals(self, *kinds: str) -> list[dict[str, str]]:
        """Populations by measures of some kinds."""
        return [
            {"population": name}
            | {f"{kind}: {m.replace('_', ' ')}": self.share(m, kind, name, "", "") for kind, m in BARS if kind in kinds}
            for name in TABLES
        ]

    def logs(self) -> list[dict[str, str]]:
        """Logs of applications by measures."""
        return [
            {"log": name, "costs covered": self.share("cost", "log", name, "", "")}
            | {"scale covered": self.share("scale", "log", name, "", "")}
            | {"intervals without an end": f"{100 * self.number('no_end', 'log', name, '', ''):.1f}%"}
            | {"half width": f"{self.number('half_width', 'log', name, '', ''):.3f}"}
            for name in LOGS
        ]


def settings(populations: dict[str, Population]) -> list[dict[str, str]]:
    """Settings of populations; weights and repetitions are in their names."""
    shown = ("groups", "people", "features", "spread", "trend", "base_rate", "slope", "cost")
    return [
        {"population": name} | {each: str(getattr(population, each)) for each in shown}
        for name, population in populations.items()
    ]


def markdown(rows: list[dict[str, str]]) -> str:
    """A table of texts."""
    lines = [[name.replace("_", " ") for name in rows[0]], ["---"] * len(rows[0]), *(row.values() for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def write_page(path: str | Path, out: str | Path) -> None:
    """Write the page from a file of results."""
    table = read_results(path)
    results = Results(table)
    tables = {
        "settings": settings(POPULATIONS),
        "tables": settings(TABLES),
        "broken_ratio": results.promises("broken_ratio", "default"),
        "broken_mean": results.promises("broken_mean", "default"),
        "above_truth": results.promises("above_truth", "default"),
        "excess": results.excess(),
        "guarantee": results.promises("any_broken", "guarantee"),
        "generosity": results.generosity(),
        "audit": results.intervals("audit"),
        "new_people": results.intervals("new people"),
        "compare": results.intervals("compare"),
        "others": results.intervals("impact", "frontier", "plan"),
        "logs": results.logs(),
    }
    hours = table.loc[table["measure"] == "seconds", "value"].sum() / 3600
    verdict = (
        f"{results.missed} of {results.judged} numbers miss it. Cells had {table['repeats'].min()} to "
        f"{table['repeats'].max()} repetitions; all took {hours:.1f} hours of one core."
    )
    parts = {name: markdown(rows) for name, rows in tables.items()} | {"verdict": verdict, "resamples": str(RESAMPLES)}
    template = Template(Path(__file__).with_name("page.md").read_text(encoding="utf-8"))
    Path(out).write_text(template.substitute(parts), encoding="utf-8")
