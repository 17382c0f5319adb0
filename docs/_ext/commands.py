"""``{run}``: a command of selfselect, run when the site is built, with what it says.

    ```{run} selfselect audit loans.csv --label repaid ...
    :lines: 12
    ```

It runs in a folder with the example tables, in the order of the page, so that a later command may read what an earlier
one wrote. A command that fails, other than with a condition that does not hold (``:fails:``), stops the build.
"""

from __future__ import annotations

import os
import shlex
import shutil
import tempfile
from pathlib import Path
from typing import Any, ClassVar

from click.testing import CliRunner
from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.util.docutils import SphinxDirective

from selfselect.cli import main

EXAMPLES = Path(__file__).parents[2] / "examples"
FOLDERS: dict[str, Path] = {}


def folder_of(page: str) -> Path:
    """Where the commands of a page run: a folder of its own, with the example tables."""
    if page not in FOLDERS:
        folder = Path(tempfile.mkdtemp(prefix="selfselect-docs-"))
        for table in EXAMPLES.glob("*.csv"):
            shutil.copy(table, folder)
        FOLDERS[page] = folder
    return FOLDERS[page]


class Run(SphinxDirective):
    """A command and what it says."""

    required_arguments = 1
    final_argument_whitespace = True
    option_spec: ClassVar[dict[str, Any]] = {"lines": directives.positive_int, "fails": directives.flag}

    def run(self) -> list[nodes.Node]:
        """Run the command, and show it."""
        typed = " ".join(self.arguments[0].split())
        words = shlex.split(typed)
        before = os.getcwd()
        os.chdir(folder_of(self.env.docname))
        try:
            done = CliRunner(env={"COLUMNS": "160"}).invoke(main, words[1:], prog_name="selfselect")
        finally:
            os.chdir(before)
        if done.exit_code != (1 if "fails" in self.options else 0):
            raise self.error(f"`{typed}` ended with {done.exit_code}:\n{done.output}")
        lines = done.output.rstrip().splitlines()
        most = self.options.get("lines", len(lines))
        shown = lines[:most] + (["..."] if len(lines) > most else [])
        text = "\n".join([f"$ {typed}", *shown])
        return [nodes.literal_block(text, text, language="console")]


def clean(app: Any, exception: Exception | None) -> None:
    """Forget the folders."""
    for folder in FOLDERS.values():
        shutil.rmtree(folder, ignore_errors=True)
    FOLDERS.clear()


def setup(app: Any) -> dict[str, bool]:
    """Add the directive."""
    app.add_directive("run", Run)
    app.connect("build-finished", clean)
    return {"parallel_read_safe": False, "parallel_write_safe": True}
