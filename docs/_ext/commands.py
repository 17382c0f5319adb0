"""What the build makes of a page's directives.

``{run}``: a command of selfselect, run when the site is built, with what it says.

    ```{run} selfselect audit loans.csv --label repaid ...
    :lines: 12
    ```

It runs in a folder with the example tables, in the order of the page, so that a later command may read what an earlier
one wrote. A command that fails stops the build, unless it is to fail: with a condition that does not hold
(``:fails:``), or with another exit code (``:fails: 2``). ``:from: text`` leaves out lines before the first one that
begins with a text.

``{python}``: statements, run in one scope for each page, with what they print; a last expression is shown.

``{made-by} module.function``: what a function of the package returns, as Markdown.
"""

from __future__ import annotations

import ast
import contextlib
import io
import shlex
import shutil
import tempfile
import textwrap
from importlib import import_module
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


#: Letters in a line of what commands say; tables may be wider, and scroll.
WIDTH = 92


def command_lines(words: list[str]) -> str:
    """A command as it would be typed on lines of some width."""
    lines, line = [], "$"
    for word in map(shlex.quote, words):
        if len(line) + len(word) > WIDTH and word.startswith("-"):
            lines.append(f"{line} \\")
            line = "   "
        line = f"{line} {word}"
    return "\n".join([*lines, line])


def broken(line: str) -> str:
    """A sentence on lines of some width; a row of a table as it is."""
    if len(line) <= WIDTH or "  " in line.strip():
        return line
    return textwrap.fill(line, WIDTH)


class Run(SphinxDirective):
    """A command and what it says."""

    required_arguments = 1
    final_argument_whitespace = True
    option_spec: ClassVar[dict[str, Any]] = {
        "lines": directives.positive_int,
        "fails": lambda given: int(given or 1),
        "from": directives.unchanged_required,
    }

    def run(self) -> list[nodes.Node]:
        """Run the command, and show it."""
        typed = " ".join(self.arguments[0].split())
        words = shlex.split(typed)
        with contextlib.chdir(folder_of(self.env.docname)):
            done = CliRunner(env={"COLUMNS": "160"}).invoke(main, words[1:], prog_name="selfselect")
        if done.exit_code != self.options.get("fails", 0):
            raise self.error(f"`{typed}` ended with {done.exit_code}:\n{done.output}")
        lines = done.output.rstrip().splitlines()
        first = self.options.get("from", "")
        start = next(i for i, line in enumerate(lines) if line.startswith(first))
        lines = [*(["..."] if start else []), *lines[start:]]
        most = self.options.get("lines", len(lines))
        shown = lines[:most] + (["..."] if len(lines) > most else [])
        text = "\n".join([command_lines(words), *(broken(line) for line in shown)])
        return [nodes.literal_block(text, text, language="console")]


SCOPES: dict[str, dict[str, Any]] = {}


#: Characters that fit a line of a page.
READABLE = 74


def filled(text: str) -> str:
    """A text with lines short enough to be read; what has lines of its own is left alone."""
    return text if "\n" in text else textwrap.fill(text, READABLE)


class Python(SphinxDirective):
    """Statements of Python, and what they print; in one scope for each page."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        """Run the statements, and show both."""
        source = "\n".join(self.content)
        scope = SCOPES.setdefault(self.env.docname, {"__name__": "page"})
        body = ast.parse(source)
        last = body.body.pop() if body.body and isinstance(body.body[-1], ast.Expr) else None
        said = io.StringIO()
        with contextlib.redirect_stdout(said), contextlib.chdir(folder_of(self.env.docname)):
            exec(compile(body, self.env.docname, "exec"), scope)
            if last is not None:
                value = eval(compile(ast.Expression(last.value), self.env.docname, "eval"), scope)
                if value is not None:
                    print(filled(value) if isinstance(value, str) else repr(value))
        shown: list[nodes.Node] = [nodes.literal_block(source, source, language="python")]
        if said.getvalue().strip():
            text = said.getvalue().rstrip()
            shown.append(nodes.literal_block(text, text, language="none", classes=["printed"]))
        return shown


class MadeBy(SphinxDirective):
    """Markdown that a function of the package makes."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Call the function, and parse what it returns."""
        module, name = self.arguments[0].rsplit(".", 1)
        return self.parse_text_to_nodes(getattr(import_module(module), name)())


def clean(app: Any, exception: Exception | None) -> None:
    """Forget the folders."""
    for folder in FOLDERS.values():
        shutil.rmtree(folder, ignore_errors=True)
    FOLDERS.clear()
    SCOPES.clear()


def setup(app: Any) -> dict[str, bool]:
    """Add the directive."""
    app.add_directive("run", Run)
    app.add_directive("python", Python)
    app.add_directive("made-by", MadeBy)
    app.connect("build-finished", clean)
    return {"parallel_read_safe": False, "parallel_write_safe": True}
