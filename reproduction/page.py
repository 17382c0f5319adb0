"""The page of the reproduction and the tables beside it; its sentences are in ``templates/page.md``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from . import claims, summaries, tables
from .claims import CORRECTED, FAILS, HOLDS, UNDECIDED
from .methods import ALL_METHODS, CROSS_FIT_METHODS, METHODS
from .results import write_atomically
from .tables import SHORT, number

_TEMPLATES = Path(__file__).parent / "templates"
#: How verdicts are shown in tables.
MARKS = {HOLDS: "✓", CORRECTED: "≈", FAILS: "✗", UNDECIDED: "?"}
#: Rows of the table of promises: the others are in its CSV file.
SHOWN_PROMISES = ("naive", "strat_x", "strat_x_honest", "thresholds_both")


def write_page(results: pd.DataFrame, path: Path) -> list[Path]:
    """Write the page as Markdown, and its tables into the folder of the same name beside it. Return the files."""
    found = evidence(results)
    folder = path.with_suffix("")
    contents = {path: render_page(results, found, assets=folder.name)}
    for name in ("extended", "claims", "runs", "naive_on_bank", "order", "price_of_order", "promises"):
        if len(found[name]):
            contents[folder / f"{name}.csv"] = found[name].to_csv(
                index=False, float_format="%.10g", lineterminator="\n"
            )
    for name, part in (("main", tables.main_part(found["extended"])), ("extended", found["extended"])):
        cells = tables.results_table(part)
        contents[folder / f"{name}.tex"] = cells.to_latex(index=False, escape=True, longtable=True)
    for file, text in contents.items():
        write_atomically(file, text.encode())
    return list(contents)


def evidence(results: pd.DataFrame) -> dict[str, Any]:
    """Tables with all digits, by the names of their files, and verdicts (``judged``)."""
    descents, promised = summaries.descent_part(results), summaries.promise_part(results)
    judged = claims.verdicts({name: part(results) for name, part in summaries.PARTS.items()})
    # the price of order is shown on splits that no constant was chosen on, if they were run
    known = list(map(tables.price_of_order, (summaries.later_part(results), summaries.our_part(results))))
    return {
        "extended": summaries.compare(results),
        "judged": judged,
        "claims": tables.claims_table(judged),
        "runs": tables.runs(results),
        "naive_on_bank": tables.naive_on_bank(descents),
        "order": tables.order_experiments(results),
        "price_of_order": next((table for table in known if len(table)), pd.DataFrame()),
        "promises": summaries.summarise_promises(promised) if len(promised) else pd.DataFrame(),
    }


def render_page(results: pd.DataFrame, found: Mapping[str, Any], assets: str = "reproduction") -> str:
    """Text of the page. Tables without results say so."""
    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {"num": number, "table": _table, "dataset": SHORT.__getitem__}
    extended, promises = found["extended"], found["promises"]
    parts = {name: part(results) for name, part in summaries.PARTS.items()}
    later_price = "strat_order" in set(parts["later"]["method"])
    adult = claims.Numbers.of_fits("adult", parts["rerun"])
    footnote = claims.by_footnote(adult)
    bank, cells = found["naive_on_bank"], _cells(extended)
    clear = bank[(bank["cost"] > 0.65) & bank["printed_accuracy_se"].notna()] if len(bank) else bank
    summarised = len(promises) > 0
    unseen = promises[promises["method"].isin(CROSS_FIT_METHODS)] if summarised else promises
    seen = promises[~promises["method"].isin(CROSS_FIT_METHODS)] if summarised else promises
    high = [tables.at_high_costs("re-run", parts["rerun"]), tables.at_high_costs("ours", parts["later"])]
    return environment.get_template("page.md").render(
        assets=assets,
        found=found,
        judged=found["judged"],
        marks=MARKS,
        sources={"printed": "printed", "rerun": "re-run", "ours": "ours, 0 to 9", "later": "ours, 30 to 49"},
        parts=parts,
        agreement={name: tables.agreement(extended, name) for name in ("rerun", "ours", "later")},
        moved=moved(extended),
        printed_first=sum(
            behind == 0
            for each in found["judged"]["strat_x_is_best"].values()
            for behind in each["printed"].numbers.values()
        ),
        value=lambda dataset, method, cost, name: cells.get((dataset, method, cost), {}).get(name, float("nan")),
        unmarked=sum(
            (extended["printed_applicants_in"] == "all splits")
            & (extended["printed_applying_groups"] < 1)
            & (extended["method"] == "strat_parity")
        ),
        main=tables.results_table(tables.main_part(extended)),
        runs=tables.runs_table(found["runs"]),
        bank={
            "cells": len(clear),
            "aligned": (clear["rerun_errors_away"].abs() <= 2).sum() if len(clear) else 0,
            "shifted": (clear["shifted_errors_away"].abs() <= 2).sum() if len(clear) else 0,
            "furthest": clear["shifted_errors_away"].abs().max() if len(clear) else float("nan"),
            "table": tables.naive_on_bank_table(bank) if len(bank) else bank,
        },
        order=tables.order_table(found["order"]) if len(found["order"]) else [],
        weights=_by_name(found["order"]),
        price=tables.price_table(found["price_of_order"]) if len(found["price_of_order"]) else [],
        impact={name: tables.impact(parts["later"], name, "adult") for name in ("strat_x", "strat_parity")},
        high=pd.concat(high),
        by_text={
            rule.__name__: adult.judge(rule).text for rule in (claims.strat_x_is_best, claims.social_cost_is_high)
        },
        distances=[claims.distance_to_print(*pair) for pair in ((adult, footnote), (footnote, adult))],
        promised=tables.promises_by_method(promises, SHOWN_PROMISES) if summarised else [],
        broken={
            name: {"broken": int(part["broken"].sum()), "made": int(part["promises"].sum())} if summarised else None
            for name, part in (("unseen", unseen), ("seen", seen))
        },
        above=unseen[(unseen["promises"] > 0) & (unseen["p_value"] < 0.05)].to_dict("records") if summarised else [],
        unseen_cells=int((unseen["promises"] > 0).sum()) if summarised else 0,
        titles={name: method.title for name, method in ALL_METHODS.items()},
        later_price=later_price,
        times=times(parts),
        hours={
            name: sum(parts[each]["seconds"].sum() for each in names) / 3600
            for name, names in {"ours": ("ours", "later"), "rerun": ("rerun",)}.items()
        },
    )


def _table(rows: Any, text_columns: int = 1) -> str:
    table = pd.DataFrame(rows)
    return "Not run yet." if table.empty else tables.markdown_table(table, text_columns)


def _cells(extended: pd.DataFrame) -> dict[tuple[str, str, float], dict[str, Any]]:
    """Rows of the extended table by data set, method and cost."""
    return {tuple(row[name] for name in summaries.SETTING): row for row in extended.to_dict("records")}


def _by_name(order: pd.DataFrame) -> dict[tuple[str, str], dict[str, Any]]:
    return {(row["dataset"], row["method"]): row for row in order.to_dict("records")}


def moved(extended: pd.DataFrame) -> dict[str, Any]:
    """How accuracies on later splits differ from those on the first, over cells run on both."""
    known = extended[extended["method"].isin([*METHODS, "strat_order"])].dropna(
        subset=["ours_accuracy_se", "later_accuracy_se"]
    )
    change = known["later_accuracy"] - known["ours_accuracy"]
    clear = 2 * (known["ours_accuracy_se"] ** 2 + known["later_accuracy_se"] ** 2) ** 0.5
    return {"mean": change.mean(), "cells": len(known), "lower": sum(change < -clear), "higher": sum(change > clear)}


def times(parts: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Seconds per fit by the clock; naive and semi share one fit among all costs of a split."""
    rows = []
    for source, fits in (("re-run", parts["rerun"]), ("ours", parts["ours"])):
        for method in [each for each in METHODS if each in set(fits["method"])]:
            keys = ["dataset", "split"] if method in ("naive", "semi") else ["dataset", "split", "cost"]
            seconds = fits[fits["method"] == method].groupby(keys)["seconds"].sum().groupby("dataset").median()
            cells = {SHORT[each]: number(seconds.get(each, float("nan")), ".1f") for each in SHORT}
            rows.append({"learner": source, "method": method, **cells})
    return pd.DataFrame(rows)
