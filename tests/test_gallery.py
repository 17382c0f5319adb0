"""Every example of the gallery runs by itself, without a warning, and ends in one picture that says something."""

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
