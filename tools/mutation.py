"""Mutation testing of the rooms on which everything stands: every small change of their code should break a test.

Makes a copy of the code and its tests, lets mutmut change one thing at a time there, and writes what came out to a
page: how many changes were noticed, and each that was not, with the reason why it does not matter (SURVIVORS).

A mutant of a function is chosen while the tests run, which mutmut cannot do where a decorator stands in between. So the
copy spells out ``@property`` and the like as an assignment after the function, which means the same.

    python tools/mutation.py --out docs/mutation.md
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

import libcst as cst
from mutmut.mutation.diff_apply import get_diff_for_mutant

ROOT = Path(__file__).resolve().parent.parent
SOURCES = ("src/selfselect/counting", "src/selfselect/deciding", "src/selfselect/learning/evaluation.py")
#: What the copy needs besides.
COPIED = ("src", "tests", "README.md", "pyproject.toml")
#: Why changes that no test notices do not matter: rules, each with patterns of the function and of the change.
SURVIVORS = ROOT / "tests" / "survivors.toml"
#: What mutmut's codes mean to us: the change broke a test (or ended, or hung, it), no test noticed it, or none was run.
NOTICED, UNNOTICED, UNTESTED = (1, 3, -9, -11, -24, 24, 36, 152, 255), 0, 33
SPELLED_OUT = {"property", "cached"}
#: Share of changes that tests must notice.
LEAST_NOTICED = 0.9


class SpellOut(cst.CSTTransformer):
    """Turns ``@property def f`` into ``def f`` and ``f = property(f)``."""

    def leave_FunctionDef(  # noqa: N802 the name is libcst's
        self, original_node: cst.FunctionDef, updated_node: cst.FunctionDef
    ) -> cst.BaseStatement | cst.FlattenSentinel[cst.BaseStatement]:
        """Move the decorator behind the function."""
        if len(updated_node.decorators) != 1:
            return updated_node
        decorator = updated_node.decorators[0].decorator
        if not isinstance(decorator, cst.Name) or decorator.value not in SPELLED_OUT:
            return updated_node
        name = updated_node.name.value
        after = cst.parse_statement(f"{name} = {decorator.value}({name})  # type: ignore")
        return cst.FlattenSentinel([updated_node.with_changes(decorators=[]), after])


def prepare(folder: Path) -> None:
    """Copy the project, or what changed of it, and spell out decorators in what will be changed."""
    for name in COPIED:
        source, target = ROOT / name, folder / name
        if source.is_dir():
            shutil.copytree(source, target, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, target)
    for path in sources(folder):
        path.write_text(cst.parse_module(path.read_text()).visit(SpellOut()).code)


def sources(folder: Path) -> list[Path]:
    """Files that are changed."""
    found = [folder / name for name in SOURCES]
    return sorted(file for path in found for file in (path.glob("*.py") if path.is_dir() else [path]))


def run(folder: Path, workers: int, only: list[str]) -> None:
    """Try all changes, or those of some functions; what was tried already is kept."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "mutmut", "run", "--max-children", str(workers), *only]
    subprocess.run(command, cwd=folder, env=environment, check=True)


@dataclass(frozen=True)
class Survivor:
    """A change that no test noticed."""

    function: str
    before: str
    after: str

    @property
    def change(self) -> str:
        """What was changed to what, on one line."""
        return f"{self.before or '(nothing)'} -> {self.after or '(nothing)'}"


@dataclass(frozen=True)
class Tried:
    """What came of the changes to one file."""

    path: str
    changes: int
    survivors: list[Survivor]

    @property
    def noticed(self) -> int:
        """Changes that a test noticed."""
        return self.changes - len(self.survivors)


def results(folder: Path) -> list[Tried]:
    """What was found, file by file."""
    tried = []
    for meta in sorted((folder / "mutants" / "src").rglob("*.meta")):
        codes = json.loads(meta.read_text())["exit_code_by_key"]
        path = str(meta.relative_to(folder / "mutants"))[: -len(".meta")]
        unknown = {code for code in codes.values() if code not in (*NOTICED, UNNOTICED, UNTESTED)}
        if unknown:
            sys.exit(f"{path} has changes that were not tried to the end (codes {unknown}): run it again.")
        left = [name for name, code in codes.items() if code in (UNNOTICED, UNTESTED)]
        if codes:
            tried.append(Tried(path, len(codes), [survivor(folder, path, name) for name in left]))
    return tried


def survivor(folder: Path, path: str, name: str) -> Survivor:
    """The lines that a change replaced."""
    with contextlib.chdir(folder):
        diff = get_diff_for_mutant(name, path=path).splitlines()
    lines = [line for line in diff if not line.startswith(("---", "+++"))]
    before, after = (" ".join(line[1:].strip() for line in lines if line.startswith(sign)) for sign in "-+")
    function = name.rpartition("__mutmut_")[0].removeprefix("selfselect.")
    function = re.sub(r"\.x_(?=\w)|\.xǁ", ".", function).replace("ǁ", ".")
    return Survivor(function, before, after)


def page(tried: list[Tried]) -> str:
    """What came out, as Markdown."""
    rules = tomllib.loads(SURVIVORS.read_text())["reason"] if SURVIVORS.exists() else []
    changes, noticed = sum(t.changes for t in tried), sum(t.noticed for t in tried)
    explained: dict[str, list[Survivor]] = {rule["why"]: [] for rule in rules}
    open_: list[Survivor] = []
    for one in (one for t in tried for one in t.survivors):
        fits = (r for r in rules if re.search(r["function"], one.function) and re.search(r["change"], one.change))
        rule = next(fits, None)
        (open_ if rule is None else explained[rule["why"]]).append(one)
    share = f"{100 * noticed / changes:.1f}%"
    parts = [
        "# Changes that tests notice\n",
        "Written by `make mutation`; do not edit it. In the code of counting, deciding and judging one thing at a time "
        "is changed by mutmut (a sign, a number, an argument, a word), and tests are run: a change that none of them "
        f"notices shows something untested.\n\nOf **{changes:,}** changes tests noticed **{noticed:,} ({share})**.\n",
        "| file | changes | noticed | share |\n|---|--:|--:|--:|\n"
        + "\n".join(
            f"| {t.path.removeprefix('src/selfselect/')} | {t.changes:,} | {t.noticed:,} "
            f"| {100 * t.noticed / t.changes:.0f}% |"
            for t in tried
        )
        + "\n",
        "## Not noticed, and why that does not matter\n",
    ]
    parts += [listed(why, group) for why, group in explained.items() if group]
    if open_:
        parts.append("## Not noticed, and not explained: tests are missing here\n\n" + listed("", open_))
    return "\n".join(parts)


def listed(why: str, survivors: list[Survivor]) -> str:
    """Survivors with one reason."""
    title = f"**{why}** ({len(survivors)})\n\n" if why else ""
    return title + "\n".join(f"- `{one.function}`: `{one.change.replace('`', chr(39))}`" for one in survivors) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=ROOT / ".mutation", help="where the copy goes")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--out", type=Path, help="page to write")
    parser.add_argument("--report", action="store_true", help="only write the page of what was run before")
    parser.add_argument("only", nargs="*", help="patterns of mutants")
    chosen = parser.parse_args()
    chosen.folder.mkdir(parents=True, exist_ok=True)
    if not chosen.report:
        prepare(chosen.folder)
        run(chosen.folder, chosen.workers, chosen.only)
    tried = results(chosen.folder)
    if chosen.out:
        chosen.out.write_text(page(tried))
    changes, noticed = sum(t.changes for t in tried), sum(t.noticed for t in tried)
    print(f"Tests noticed {noticed:,} of {changes:,} changes ({100 * noticed / changes:.1f}%).")
    if noticed < LEAST_NOTICED * changes:
        sys.exit(f"That is less than {LEAST_NOTICED:.0%}.")


if __name__ == "__main__":
    main()
