"""Every example of the gallery runs by itself, without a warning, and ends in one picture that says something."""

import ast
import runpy
import warnings
from pathlib import Path

import matplotlib as mpl
import pytest

mpl.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.text import Text

GALLERY = Path(__file__).parents[1] / "docs" / "gallery"
EXAMPLES = sorted(GALLERY.glob("plot_*.py"))


def title_of(path):
    """The title, what underlines it, and the text below."""
    title, line, _, *text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))).splitlines()
    return title, line, " ".join(text)


def test_there_are_at_least_twelve_examples_and_a_title_above_them():
    assert len(EXAMPLES) >= 12
    assert (GALLERY / "GALLERY_HEADER.rst").read_text(encoding="utf-8").startswith("Gallery\n=======\n")


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_has_a_question_as_title_and_explains_its_cells(path):
    title, line, text = title_of(path)
    assert "?" in title
    assert line == "=" * len(title)
    assert len(text) > 100
    cells = path.read_text(encoding="utf-8").split("\n# %%\n")[1:]
    assert len(cells) >= 2
    assert all(cell.startswith("# ") for cell in cells)
    for cell in cells:  # a last value would be printed by its name
        last = ast.parse(cell).body[-1]
        if isinstance(last, ast.Expr):
            assert ast.unparse(last).startswith(("print(", "display.figure_.set_size_inches("))


@pytest.fixture
def _clean():
    """Begin without figures, and leave none behind, nor a change of warnings."""
    plt.close("all")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # as in pyproject.toml
        warnings.filterwarnings("ignore", "'[a-zA-Z]+' (deprecated -|argument is deprecated,) use", DeprecationWarning)
        yield
    plt.close("all")


@pytest.mark.usefixtures("_clean")
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_runs_and_draws_one_picture_in_which_nothing_is_cut_off(path, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(path), run_name="__main__")
    (number,) = plt.get_fignums()
    figure = plt.figure(number)
    figure.draw_without_rendering()
    written = [*figure.texts]  # the title of all panels among them
    for axes in figure.axes:
        assert axes.get_xlabel()
        written += [axes.title, axes.xaxis.label, axes.yaxis.label, *axes.texts]
    assert any(axes.get_title() for axes in figure.axes) or figure.get_suptitle()
    for box in (Text.get_window_extent(text) for text in written if text.get_text()):
        assert -1 <= box.x0 < box.x1 <= figure.bbox.width + 1
        assert -1 <= box.y0 < box.y1 <= figure.bbox.height + 1
