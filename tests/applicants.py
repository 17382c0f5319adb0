"""A table of people as tables are: numbers, categories, missing values, an identifier and a constant; and commands."""

import numpy as np
import pandas as pd
from click.testing import CliRunner

from selfselect.cli import main


def applicants():
    rng = np.random.default_rng(0)
    n = 900
    z = rng.choice(["A", "B", "C"], n, p=[0.5, 0.3, 0.2])
    age = rng.integers(18, 70, n)
    job = rng.choice(["clerk", "smith", "none of these"], n)
    pay = np.exp(rng.normal(3, 0.5, n)).round(2)
    signal = (age - 40) / 15 + (job == "clerk") + pay / 20 + (z == "A") * 0.8 - 1.5
    y = rng.random(n) < 1 / (1 + np.exp(-2 * signal))
    frame = pd.DataFrame(
        {"id": [f"p{i}" for i in range(n)], "z": z, "age": age, "job": job, "pay": pay, "same": 1, "hired": y}
    )
    frame["pay"] = frame["pay"].where(rng.random(n) > 0.05)
    frame["job"] = frame["job"].where(rng.random(n) > 0.03)
    frame.loc[:3, "job"] = "astronaut"
    return frame


def text_columns(frame):
    """Columns as a reader of files gives them."""
    return {name: frame[name].astype(object).where(frame[name].notna(), "").map(str).to_numpy(object) for name in frame}


#: Commands whose files hold exact counts in tests, which compare them with the library.
EXACT = {name: {"min_cell": 0} for name in ("audit", "plan", "frontier", "compare", "train", "simulate")}


def run(*arguments, stdin=None, defaults=EXACT):
    """Run the command in this process; complaints never come as a traceback."""
    result = CliRunner().invoke(main, [str(argument) for argument in arguments], input=stdin, default_map=defaults)
    assert "Traceback" not in result.output
    assert result.exception is None or isinstance(result.exception, SystemExit), repr(result.exception)
    return result


def trained(table, model, *options):
    """Train a model on the table of applicants; what the command said."""
    result = run("train", table, "--label", "hired", "--group", "z", "--cost", "0.7", "--model", model, *options)
    assert result.exit_code == 0, result.output
    return result.output
