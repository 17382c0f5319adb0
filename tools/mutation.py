"""Mutation testing of the modules that count and decide: a small change of their code should break a test.

Makes a copy of the code and its tests, lets mutmut change one thing at a time there, and lists the changes that no test
noticed. mutmut cannot switch a mutant on where a decorator wraps the function. So the copy spells out ``@property`` and
``@cached_property`` as an assignment after the function, which means the same.

    python tools/mutation.py --out build/mutation.md
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import libcst as cst
from mutmut.mutation.diff_apply import get_diff_for_mutant

ROOT = Path(__file__).resolve().parent.parent
COPIED = ("src", "tests", "README.md", "pyproject.toml")
#: Exit codes of mutmut: a test failed, ended or hung; no test noticed the change; no test ran.
NOTICED, UNNOTICED, UNTESTED = (1, 3, -9, -11, -24, 24, 36, 152, 255), 0, 33
DECORATORS = {"property", "cached_property"}
#: Share of changes that tests must notice.
MIN_NOTICED = 0.9


class SpellOut(cst.CSTTransformer):
    """Turns ``@property def f`` into ``def f`` and ``f = property(f)``."""

    def leave_FunctionDef(  # noqa: N802 the name is libcst's
        self, original_node: cst.FunctionDef, updated_node: cst.FunctionDef
    ) -> cst.BaseStatement | cst.FlattenSentinel[cst.BaseStatement]:
        """Move the decorator behind the function."""
        decorators = [each.decorator for each in updated_node.decorators]
        if len(decorators) != 1 or not isinstance(decorators[0], cst.Name) or decorators[0].value not in DECORATORS:
            return updated_node
        name, decorator = updated_node.name.value, decorators[0].value
        after = cst.parse_statement(f"{name} = {decorator}({name})  # type: ignore")
        return cst.FlattenSentinel([updated_node.with_changes(decorators=[]), after])


def prepare(folder: Path) -> None:
    """Copy the project, or what changed of it, and spell out decorators in the files that are mutated."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in COPIED:
        source, target = ROOT / name, folder / name
        if source.is_dir():
            shutil.copytree(source, target, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, target)
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["mutmut"]
    for path in (path for pattern in settings["only_mutate"] for path in folder.glob(pattern)):
        path.write_text(cst.parse_module(path.read_text()).visit(SpellOut()).code)


def unnoticed_changes(folder: Path) -> tuple[int, list[str]]:
    """Number of changes, and the diff of each that no test noticed."""
    total, diffs = 0, []
    for meta in sorted((folder / "mutants" / "src").rglob("*.meta")):
        codes = json.loads(meta.read_text())["exit_code_by_key"]
        path = str(meta.relative_to(folder / "mutants"))[: -len(".meta")]
        unknown = {code for code in codes.values() if code not in (*NOTICED, UNNOTICED, UNTESTED)}
        if unknown:
            sys.exit(f"{path} has changes that were not tried to the end (codes {unknown}): run it again.")
        total += len(codes)
        with contextlib.chdir(folder):
            names = [name for name, code in codes.items() if code in (UNNOTICED, UNTESTED)]
            diffs += [get_diff_for_mutant(name, path=path) for name in names]
    return total, diffs


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=ROOT / ".mutation", help="where the copy goes")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--out", type=Path, required=True, help="log to write")
    parser.add_argument("only", nargs="*", help="patterns of mutants")
    chosen = parser.parse_args()
    prepare(chosen.folder)
    command = [sys.executable, "-m", "mutmut", "run", "--max-children", str(chosen.workers), *chosen.only]
    subprocess.run(command, cwd=chosen.folder, env={**os.environ, "OMP_NUM_THREADS": "1"}, check=True)
    total, diffs = unnoticed_changes(chosen.folder)
    noticed = total - len(diffs)
    summary = f"Tests noticed {noticed:,} of {total:,} changes ({100 * noticed / total:.1f}%)."
    chosen.out.write_text("\n\n".join([summary, *(f"```diff\n{diff.strip()}\n```" for diff in diffs)]) + "\n")
    print(summary)
    if noticed < MIN_NOTICED * total:
        sys.exit(f"That is less than {MIN_NOTICED:.0%}.")


if __name__ == "__main__":
    main()
