"""Numbers that a change must not move: audits of files, plans, frontiers, comparisons, models, fits.

``python tests/golden/golden.py check`` computes them and compares them with ``*.json`` beside this file: counts to the
last digit, fits to 1e-9. ``write`` rewrites the files; use it only when numbers are meant to change.
"""

from __future__ import annotations

import json
import math
import os
import sys
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).parent
FILES = HERE / "files"
RELATIVE = 1e-9
MODEL = "model.skops"
#: Fits whose name does not start so are left out ("adult", "adult strat_x"), for a quick look.
ONLY = os.environ.get("GOLDEN_ONLY", "")

# ---------------------------------------------------------------------- commands

SCORE = ("--label", "hired", "--group", "region", "--score", "score", "--cost", "0.7")
PLAIN = "01_plain.csv"
OWN_GROUP = (*SCORE, "--missing", "own-group")
#: Files that are read with the same options.
SAME_OPTIONS = (
    *("02_semicolon_comma.csv", "03_tab_latin1.csv", "04_utf16.csv", "05_bom_crlf.csv", "06_compressed.csv.gz"),
    *("07_pipe_quoted.csv", "08_spaces.csv", "11_exponents_truths.csv", "12_multiline.csv", "14_plain.parquet"),
    *("15_typed.parquet", "17_plain.xlsx"),
)
#: Options for the plain file.
OPTIONS = {
    "01": SCORE,
    "01 words": ("--label", "hired_words", "--positive", "yes", *SCORE[2:]),
    "01 decisions": (*SCORE[:4], "--prediction", "passed", "--prediction-positive", "yes", "--cost", "0.7"),
    "01 threshold": (*SCORE, "--threshold", "0.6", "--impact"),
    "01 lower": (*SCORE, "--lower-passes"),
    "01 weight": (*SCORE, "--weight", "weight"),
    "01 combined": (*SCORE, "--group", "sex"),
    "01 separately": (*SCORE, "--group", "sex", "--separately"),
    "01 costs": (*SCORE[:-1], "0.5:0.9:0.1"),
    "01 span": (*SCORE[:-1], "0.6:0.8"),
    "01 terms": (*SCORE, "--cost-of", "West=0.5", "--subsidy", "Nord=0.05"),
    "01 proportional": (*SCORE, "--subsidy", "West=0.2", "--proportional"),
}
AUDITS = {
    **{name: (PLAIN, options) for name, options in OPTIONS.items()},
    **{file[:2]: (file, SCORE) for file in SAME_OPTIONS},
    "09": ("09_missing_group.csv", OWN_GROUP),
    "09 refused": ("09_missing_group.csv", SCORE),
    "10": ("10_untested.csv", (*SCORE, "--threshold", "0.55", "--untested")),
    "13": ("13_points.csv", (*SCORE, "--threshold", "50")),
    "13 refused": ("13_points.csv", SCORE),
    "16": ("16_nullable.parquet", OWN_GROUP),
    "18": ("18_sheets.xlsx", (*SCORE, "--sheet", "people")),
    "19": ("19_missing.xlsx", OWN_GROUP),
    "20": ("20_number_groups.csv", (*SCORE[:3], "month", *SCORE[4:])),
}
#: Columns of the plain file that are no features.
IGNORED = tuple(word for name in ("id", "hired_words", "passed", "weight") for word in ("--ignore", name))
OTHERS = {
    "plan": ("plan", PLAIN, *SCORE),
    "plan target": ("plan", "14_plain.parquet", *SCORE, "--target", "West", "--confidence", "0.9"),
    "plan budget": ("plan", PLAIN, *SCORE, "--budget", "2"),
    "plan proportional": ("plan", PLAIN, *SCORE, "--proportional"),
    "plan retrain": ("plan", PLAIN, *SCORE, "--retrain", *IGNORED),
    "frontier": ("frontier", PLAIN, *SCORE),
    "frontier limit": ("frontier", "02_semicolon_comma.csv", *SCORE, "--max-social-cost", "0.3"),
    "frontier weight": ("frontier", "17_plain.xlsx", *SCORE, "--weight", "weight", "--subsidy", "West=0.1"),
    "compare years": ("compare", PLAIN, "next_year.csv", *SCORE),
    "compare thresholds": ("compare", PLAIN, *SCORE, "--threshold", "0.5", "--threshold", "0.6"),
}
#: Parts of the JSON that are words or name the run, not numbers that people decide by.
NOT_NUMBERS = set(
    "made notes provenance schema selfselect sentence sentences title verdict version warnings words".split()
)


def run_json(command: tuple[str, ...]) -> Any:
    """JSON that a command writes, without its words; the exit code with it."""
    from click.testing import CliRunner

    from selfselect.cli import main

    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder, "out.json")
        name, *rest = command
        words = [str(FILES / part) if (FILES / part).is_file() else part for part in rest]
        result = CliRunner().invoke(main, [name, *words, "--json", str(out), "--min-cell", "0"])
        written = json.loads(out.read_text(encoding="utf-8")) if out.exists() else None
    return {"exit": result.exit_code, "json": without_words(written)}


def trained(method: str, *options: str) -> dict[str, Any]:
    """Scores and predictions that a model trained on one file gives to the people of another."""
    import pandas as pd
    from click.testing import CliRunner

    from selfselect.cli import main

    with tempfile.TemporaryDirectory() as folder:
        model, out = Path(folder, MODEL), Path(folder, "out.csv")
        people = ["--label", "hired", "--group", "region", "--cost", "0.6"]
        train = ["train", str(FILES / "09_missing_group.csv"), *people, "--missing", "own-group", "--method", method]
        made = CliRunner().invoke(
            main, [*train, *IGNORED, *options, "--allow-shut-out", "--min-cell", "0", "--model", str(model)]
        )
        if not model.exists():
            return {"exit": made.exit_code}
        used = CliRunner().invoke(
            main, ["predict", str(model), str(FILES / "next_year.csv"), "--output", str(out), "--prefix", "new_"]
        )
        predicted = pd.read_csv(out).astype({"new_applies": np.float64})
    columns = {name: plain_value(predicted[f"new_{name}"].to_numpy()) for name in ("score", "prediction", "applies")}
    return {"exit": [made.exit_code, used.exit_code], **columns}


def trained_models() -> dict[str, Any]:
    """Models that the command trains, saves, reads back and uses."""
    return {
        "naive": trained("naive"),
        "semi": trained("semi", "--use-group"),
        "thresholds": trained("thresholds"),
        "strategic": trained("strategic", "--use-group"),
        "strategic limited": trained("strategic", "--max-social-cost", "0.9"),
    }


def without_words(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: without_words(part) for key, part in value.items() if key not in NOT_NUMBERS}
    if isinstance(value, list):
        return [without_words(part) for part in value]
    return value


def audits() -> dict[str, Any]:
    """Audits of files of every format."""
    return {name: run_json(("audit", file, *options)) for name, (file, options) in AUDITS.items()}


def commands() -> dict[str, Any]:
    """Plans, frontiers and comparisons."""
    return {name: run_json(command) for name, command in OTHERS.items()}


# ---------------------------------------------------------------------- fits


def split(dataset: str, number: int = 0) -> tuple[Any, ...]:
    from sklearn.model_selection import train_test_split

    from selfselect.datasets import fetch_adult, fetch_bank

    bunch = fetch_adult() if dataset == "adult" else fetch_bank(negatives_removed=0.3 if dataset == "bank_30" else 0.0)
    rows = np.arange(len(bunch.target))
    train, test = train_test_split(rows, test_size=0.3, random_state=number)
    features = bunch.data.to_numpy(dtype=np.float64)
    plain = bunch.data.drop(columns=bunch.group_columns).to_numpy(dtype=np.float64)
    return train, test, features, plain, bunch.target.to_numpy(), bunch.group.astype(str).to_numpy()


def models(cost: float) -> dict[str, tuple[bool, Any]]:
    """Each method: whether it sees the group columns, and the classifier."""
    import selfselect as s
    from selfselect.constraints import (
        BaseRateOrder,
        DemographicParity,
        MaxSocialCost,
        MinSelectionRate,
        TruePositiveRateParity,
    )
    from selfselect.publishing import Holdout

    rates = [kind(0.2, relative=True, weight=10.0) for kind in (DemographicParity, TruePositiveRateParity)]
    train, limits = {"cost": cost, "publish": "train"}, [DemographicParity(ratio_bound=0.5), MinSelectionRate(0.01)]
    descent = {"max_iter": 200, "n_starts": 2, "random_state": 0}
    return {
        "naive": (True, s.NaiveClassifier(**train)),
        "semi": (True, s.SemiStrategicClassifier(**train)),
        "strat_x": (True, s.StrategicClassifier(**train, shut_out="select_all")),
        "strat_no_group": (False, s.StrategicClassifier(**train)),
        "strat_order": (False, s.StrategicClassifier(**train, constraints=[BaseRateOrder(), *rates])),
        "semi_cross_fit": (True, s.SemiStrategicClassifier(cost=cost)),
        "strat_x_cross_fit": (True, s.StrategicClassifier(cost=cost)),
        "strat_social_cost": (False, s.StrategicClassifier(**train, constraints=[MaxSocialCost(0.6)])),
        "thresholds": (True, s.GroupThresholdClassifier(cost=cost)),
        "thresholds_parity": (True, s.GroupThresholdClassifier(**train, constraints=limits)),
        "thresholds_guarantee": (True, s.GroupThresholdClassifier(cost=cost, publish=Holdout(guarantee=True))),
        "descent": (True, s.PaperClassifier(cost=cost, preset="paper", **descent)),
        "descent_released": (
            False,
            s.PaperClassifier(cost=cost, parity=1.0, settings={"dtype": "float64"}, **descent),
        ),
    }


def fit(dataset: str, method: str, cost: float) -> dict[str, Any]:
    """Counts that a fit publishes, its parameters, and what it does to people it has not seen."""
    train, test, features, plain, y, z = split(dataset)
    with_groups, model = models(cost)[method]
    X = features if with_groups else plain
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(X[train], y[train], sensitive_features=z[train])
            audited = model.audit(X[test], y[test], z[test])
    except ValueError as error:
        return {"error": type(error).__name__}
    result = {name: getattr(model.published_.counts, name) for name in ("n", "positives", "selected", "true_positives")}
    result |= {name: getattr(audited, name) for name in ("assumed_accuracy", "induced_accuracy", "social_cost")}
    result["applies"] = model.applies().to_numpy()
    for name in ("coef_", "intercept_", "thresholds_", "threshold_"):
        if hasattr(model, name):
            result[name] = np.asarray(getattr(model, name), dtype=np.float64).ravel()
    return json.loads(json.dumps({key: plain_value(value) for key, value in result.items()}))


def plain_value(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return [plain_value(item) for item in value.tolist()]
    if isinstance(value, float | np.floating):
        return float(value) if math.isfinite(value) else str(value)
    return value.item() if isinstance(value, np.generic) else value


#: 13 methods on Adult at three costs and on bank_30 at one, and 12 on bank_original: 64 fits.
FITS = [("adult", cost) for cost in (0.65, 0.75, 0.85)] + [("bank_30", 0.7), ("bank_original", 0.75)]


def fits() -> dict[str, Any]:
    """Fits over data sets, methods and costs."""
    results = {}
    for dataset, cost in FITS:
        for method in models(cost):
            name = f"{dataset} {method} {cost:g}"
            if (dataset == "bank_original" and method == "strat_order") or not name.startswith(ONLY):
                continue  # the first takes longest, and says no more
            results[name] = fit(dataset, method, cost)
            print(name, file=sys.stderr, flush=True)
    return results


# ---------------------------------------------------------------------- compare

PARTS: dict[str, Callable[[], dict[str, Any]]] = {
    "audits": audits,
    "commands": commands,
    "models": trained_models,
    "fits": fits,
}


def differences(expected: Any, got: Any, where: str = "") -> list[str]:
    """Where two values differ: integers, texts and truths exactly, other numbers by more than 1e-9 relative."""
    if isinstance(expected, dict) and isinstance(got, dict):
        missing = [f"{where}.{key}: missing" for key in expected if key not in got]
        return missing + [
            line for key in expected if key in got for line in differences(expected[key], got[key], f"{where}.{key}")
        ]
    if isinstance(expected, list) and isinstance(got, list) and len(expected) == len(got):
        return [
            line
            for i, (one, two) in enumerate(zip(expected, got, strict=True))
            for line in differences(one, two, f"{where}[{i}]")
        ]
    if isinstance(expected, float) and isinstance(got, float | int):
        same = math.isclose(expected, got, rel_tol=RELATIVE, abs_tol=RELATIVE)
    else:
        same = type(expected) is type(got) and expected == got
    return [] if same else [f"{where}: {expected!r} became {got!r}"]


def check(part: str) -> list[str]:
    """What has changed in a part since it was written."""
    expected = json.loads((HERE / f"{part}.json").read_text(encoding="utf-8"))
    if part == "fits":
        expected = {name: value for name, value in expected.items() if name.startswith(ONLY)}
    return differences(expected, json.loads(json.dumps(PARTS[part]())), part)


def main(action: str, *parts: str) -> int:
    failed = 0
    for part in parts or PARTS:
        if action == "write":
            text = json.dumps(PARTS[part](), indent=None, sort_keys=True, ensure_ascii=False)
            (HERE / f"{part}.json").write_text(text.replace('}, "', '},\n"') + "\n", encoding="utf-8")
        else:
            lines = check(part)
            print("\n".join(lines[:200]) or f"{part}: equal")
            failed += bool(lines)
    return failed


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
