"""The page of ``selfselect app``: drop a file, choose columns, set a cost, see and save the report.

Every answer comes from the command line, run as another process on a copy of the file in a temporary folder. So what is
shown is what the command that is shown gives, and a file that breaks it cannot break the page.
"""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import streamlit as st
import streamlit.components.v1 as components

from selfselect._errors import InputError
from selfselect._text import printable
from selfselect.tabular.guessing import ColumnSummary, Guess, guess_roles, summary_rows
from selfselect.tabular.read import open_table

#: Seconds that one answer may take.
PATIENCE = 600
NOTHING = "(none)"
KINDS = ["csv", "gz", "tsv", "txt", "xlsx", "parquet"]


def folder() -> Path:
    """The temporary folder of this visit."""
    if "folder" not in st.session_state:
        st.session_state.folder = tempfile.TemporaryDirectory(prefix="selfselect-")
    return Path(st.session_state.folder.name)


def saved(upload: Any) -> str:
    """Name of a copy of an uploaded file in the folder; never a path."""
    name = re.sub(r"[^\w. -]", "_", Path(upload.name).name).lstrip(".-") or "table"
    path = folder() / name
    if not path.exists() or path.stat().st_size != upload.size or path.read_bytes() != upload.getbuffer():
        path.write_bytes(upload.getbuffer())
    return name


def answer(arguments: Sequence[str]) -> subprocess.CompletedProcess[str]:
    """Run the command in the folder."""
    command = [sys.executable, "-m", "selfselect", *arguments]
    try:
        return subprocess.run(
            command, cwd=folder(), capture_output=True, text=True, timeout=PATIENCE, check=False, encoding="utf-8"
        )
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, 2, "", f"This took longer than {PATIENCE} seconds.")


def complain(text: str) -> None:
    """Show an error as plain text: messages hold names from the file."""
    st.error("This does not work yet:")
    st.text(printable(text) if "\n" not in text else "\n".join(map(printable, text.strip().split("\n"))))


@st.cache_data(show_spinner="Reading the file ...", max_entries=4)
def look(path: str, changed: float) -> tuple[Guess | None, int, str]:
    """Guesses about a file, the row of names, and an error."""
    del changed  # part of the key
    try:
        with open_table(path) as table:
            row = table.header_guess() or 1
        with open_table(path, header_row=row) as table:
            return guess_roles(table, {}), row, ""
    except (InputError, OSError, ValueError, ImportError, MemoryError) as error:
        return None, 1, str(error).replace(path, Path(path).name)


def choose(label: str, names: Sequence[str], guess: str | None, key: str) -> str | None:
    """One column, or none."""
    options = [NOTHING, *names]
    at = options.index(guess) if guess in options else 0
    chosen = st.selectbox(label, options, index=at, key=key)
    return None if chosen == NOTHING else chosen


def value_option(title: str, option: str, column: ColumnSummary | None, guess: Guess, key: str) -> list[str]:
    """Which value counts as positive, where it is not plain."""
    if column is None or (
        option not in guess.options and {v.casefold() for v in column.values} <= {"1", "0", "yes", "no"}
    ):
        return []
    values = list(column.values)
    guessed = guess.options[guess.options.index(option) + 1] if option in guess.options else ""
    at = values.index(guessed) if guessed in values else None
    chosen = st.selectbox(title, values, index=at, key=key, placeholder="1, true or yes")
    return [option, chosen] if chosen is not None else []


def columns_part(guess: Guess) -> tuple[list[str], bool]:
    """Options about columns, and whether there is a column of outcomes."""
    by_name = {one.name: one for one in guess.columns}
    names = list(by_name)
    st.header("2. Which column is which?")
    with st.expander("What each column holds"):
        st.dataframe(summary_rows(guess), hide_index=True)
    left, right = st.columns(2)
    with left:
        roles = guess.roles
        default = [roles["group"]] if "group" in roles else []
        groups = st.multiselect("Groups: whose success rate people look at", names, default=default, key="groups")
        label = choose("Outcome: who was qualified (none: only impact ratios)", names, roles.get("label"), "label")
        options = ["--label", label] if label else []
        options += value_option("This value means qualified", "--positive", by_name.get(label or ""), guess, "positive")
    with right:
        kind = st.radio(
            "The model gives", ["a score", "a decision"], 1 if "prediction" in roles else 0, horizontal=True
        )
        if kind == "a score":
            score = choose("Score", names, roles.get("score"), "score")
            options += ["--score", score] if score else []
            summary = by_name.get(score or "")
            if summary is not None and summary.kind == "number":
                inside = summary.low >= 0 and summary.high <= 1
                middle = 0.5 if inside else (summary.low + summary.high) / 2
                threshold = st.number_input(
                    "Above this score a person passes", value=float(f"{middle:.4g}"), format="%g"
                )
                options += ["--threshold", f"{threshold:g}"]
                if st.checkbox("Lower scores pass, not higher ones"):
                    options.append("--lower-passes")
        else:
            decision = choose("Decision: who passes", names, roles.get("prediction"), "prediction")
            options += ["--prediction", decision] if decision else []
            column = by_name.get(decision or "")
            options += value_option("This value means passing", "--prediction-positive", column, guess, "passing")
        if label and by_name[label].missing and st.checkbox("Rejected people have no outcome", value=True):
            options.append("--untested")
    for name in groups:
        options += ["--group", name]
        column = by_name[name]
        if column.kind == "number" and column.distinct > 12:
            edges = ",".join(f"{column.low + (column.high - column.low) * part / 4:.3g}" for part in (1, 2, 3))
            text = st.text_input(
                f"Cut into bands at (numbers with commas): {printable(name)}", edges, key=f"bands {name}"
            )
            options += ["--bands", f"{name}={text}"]
    if any(by_name[name].missing for name in groups):
        fate = st.radio("People without a group", ["count them apart", "leave them out"], horizontal=True)
        options += ["--missing", "own-group" if fate == "count them apart" else "drop"]
    return options, label is not None


def cost_part() -> list[str]:
    """Options about the cost of applying."""
    st.header("3. What does applying cost?")
    way = st.radio("Set it", ["by hand", "with a calculator", "from a log of applications"], horizontal=True)
    if way == "by hand":
        cost = st.slider("Cost, as a share of what being selected is worth", 0.0, 1.0, 0.7, 0.01)
        return ["--cost", f"{cost:g}"]
    if way == "with a calculator":
        left, right = st.columns(2)
        fees = left.number_input("Fees, travel and other expenses", min_value=0.0, value=50.0)
        hours = left.number_input("Hours that applying takes", min_value=0.0, value=10.0)
        hourly = right.number_input("What an hour is worth", min_value=0.0, value=20.0)
        worth = right.number_input("What being selected is worth (over the whole time)", min_value=0.01, value=1000.0)
        currency = right.text_input("Currency", "EUR", max_chars=8)
        cost = min((fees + hours * hourly) / worth, 1.0)
        st.write(f"Applying costs {cost:.1%} of what being selected is worth.")
        return ["--cost", f"{cost:.4f}", "--worth", f"{worth:g}", "--currency", currency]
    upload = st.file_uploader("A log: one row per group and period", KINDS, key="log")
    if upload is None:
        return []
    name = saved(upload)
    guess, _, error = look(str(folder() / name), (folder() / name).stat().st_mtime)
    if guess is None:
        complain(error)
        return []
    names = [one.name for one in guess.columns]
    wanted = {"group": "Group", "published": "What was published", "applicants": "How many applied"}
    wanted |= {"pool": "How many could have applied", "period": "Period"}
    words = {
        "group": "region|group",
        "published": "publ|rate",
        "applicants": "appl",
        "pool": "pool|people",
        "period": "year|period",
    }
    options: list[str] = []
    for key, title in wanted.items():
        near = next((one for one in names if re.search(words[key], one, re.IGNORECASE)), None)
        column = choose(title, names, near, f"log {key}")
        options += [f"--{key}", column] if column else []
    done = answer(["estimate-cost", name, *options, "--costs", "costs.json", "--force"])
    if done.returncode:
        complain(done.stderr or done.stdout)
        return []
    st.text(done.stdout.split("\n\n")[0])
    return ["--costs", "costs.json"]


def report_part(name: str, options: list[str], row: int, has_label: bool) -> None:
    """Run the command, and show and hand out what it makes."""
    command = "audit" if has_label else "impact"
    arguments = [command, name, *options, *(["--header-row", str(row)] if row > 1 else [])]
    outputs = {"--report": "report.html", "--xlsx": "tables.xlsx", "--json": "numbers.json"}
    if st.button("Show the report", type="primary"):
        with st.spinner("Working ..."):
            written = [part for pair in outputs.items() for part in pair]
            done = answer([*arguments, *written, "--force"])
        st.session_state.answer = (arguments, done)
    if "answer" not in st.session_state:
        return
    shown, done = st.session_state.answer
    if shown != arguments:
        st.info("The choices have changed. Press the button again.")
        return
    if done.returncode == 2:
        complain(done.stderr)
        return
    for line in done.stderr.splitlines():
        st.text(line)
    st.header("4. The report")
    left, middle, right = st.columns(3)
    for place, option, title in (
        (left, "--report", "Save the page"),
        (middle, "--xlsx", "Save the workbook"),
        (right, "--json", "Save the numbers"),
    ):
        place.download_button(title, (folder() / outputs[option]).read_bytes(), outputs[option], on_click="ignore")
    components.html((folder() / outputs["--report"]).read_text(encoding="utf-8"), height=900, scrolling=True)
    st.subheader("The same as a command")
    st.code(shlex.join(["selfselect", *arguments, "--report", "report.html"]), language="shell", wrap_lines=True)
    with st.expander("What the command says"):
        st.text(done.stdout)


def main() -> None:
    """The page."""
    st.set_page_config("selfselect", layout="centered")
    st.title("Who will not apply?")
    st.header("1. Your table")
    st.write(
        "One row per person whom the model screened: the outcome, the group, and the model's score or decision. "
        "The file stays on this machine."
    )
    upload = st.file_uploader("A CSV, Excel or Parquet file", KINDS, key="table")
    if upload is None:
        return
    name = saved(upload)
    path = folder() / name
    guess, row, error = look(str(path), path.stat().st_mtime)
    if guess is None:
        complain(error)
        return
    if row > 1:
        st.write(f"Row {row} is taken to name the columns.")
    options, has_label = columns_part(guess)
    if "--group" not in options or not {"--score", "--prediction"} & set(options):
        st.info("Choose a group, and a score or a decision.")
        return
    if has_label:
        costs = cost_part()
        if not costs:
            return
        options += costs
    report_part(name, options, row, has_label)


if __name__ == "__main__":  # as Streamlit runs it
    main()
