"""The commands of the README, run in order in one folder: what is printed there is what comes out.

``python tests/cli/test_readme_commands.py`` writes the outputs anew.
"""

import os
import re
import shlex
import shutil
import tempfile
from pathlib import Path

from click.testing import CliRunner

from selfselect.cli import main

ROOT = Path(__file__).parents[2]
EXAMPLES = ("loans.csv", "loans_next_year.csv")
BLOCK = re.compile(r"(?<=```console\n)(.*?)(?=```)", re.S)


def played(block):
    """A console block with the outputs that its commands really have."""
    lines = []
    for command in re.findall(r"^\$ (.*)$", block, re.M):
        output = CliRunner().invoke(main, shlex.split(command)[1:]).output
        lines += [f"$ {command}", *(line.rstrip() for line in output.strip("\n").split("\n"))]
    return "\n".join(lines) + "\n"


def test_what_the_readme_shows_is_what_comes_out(tmp_path, monkeypatch):
    for name in EXAMPLES:
        shutil.copy(ROOT / "examples" / name, tmp_path)
    monkeypatch.chdir(tmp_path)
    blocks = BLOCK.findall((ROOT / "README.md").read_text(encoding="utf-8"))
    assert blocks
    for block in blocks:
        assert played(block) == block
    assert (tmp_path / "loans.html").exists()


def test_the_guide_shows_every_command_for_tables():
    """They are run when the site is built; a command that fails stops the build."""
    pages = [page.read_text(encoding="utf-8") for page in (ROOT / "docs" / "guide").glob("*.md")]
    shown = {command for page in pages for command in re.findall(r"\{run\} selfselect (\w+)", page)}
    assert shown >= {"audit", "check", "compare", "frontier", "plan", "predict", "train"}


def test_the_example_is_what_its_script_makes(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "examples"))
    import make_loans

    made = (make_loans.make(), make_loans.make_next_year())
    for name, table in zip(EXAMPLES, made, strict=True):
        assert table.to_csv(index=False) == (ROOT / "examples" / name).read_text()


if __name__ == "__main__":
    readme = ROOT / "README.md"
    with tempfile.TemporaryDirectory() as folder:
        for name in EXAMPLES:
            shutil.copy(ROOT / "examples" / name, folder)
        os.chdir(folder)
        text = BLOCK.sub(lambda found: played(found[0]), readme.read_text(encoding="utf-8"))
        os.chdir(ROOT)
    readme.write_text(text, encoding="utf-8")
