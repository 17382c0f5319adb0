"""Results are short when they are printed, and pages are written as files."""

import numpy as np
import pandas as pd
import pytest

from selfselect import audit, compare, plan_subsidies, threshold_frontier

KINDS = ("audit", "plan", "frontier", "comparison")


def results(n_groups):
    rng = np.random.default_rng(0)
    z = np.repeat(np.arange(n_groups), 10)
    score = rng.random(len(z)).round(3)
    y = rng.random(len(z)) < score
    people = {"sensitive_features": z, "cost": 0.7}
    one = audit(y, score=score, **people)
    return {
        "audit": one,
        "plan": plan_subsidies(y, score=score, **people),
        "frontier": threshold_frontier(y, score, **people),
        "comparison": compare(one, audit(y, score=score, threshold=0.6, **people), n_resamples=5),
        "published": one.published,
    }


@pytest.fixture(scope="module")
def few():
    return results(3)


@pytest.mark.parametrize("kind", KINDS)
def test_a_page_is_written_to_a_file(few, kind, tmp_path):
    pytest.importorskip("jinja2")
    path = tmp_path / "page.html"
    assert few[kind].to_html(path, min_cell=0) is None
    assert path.read_text(encoding="utf-8") == few[kind].to_html(min_cell=0)
    few[kind].to_html(str(path), min_cell=0)
    assert [file.name for file in tmp_path.iterdir()] == ["page.html"]


@pytest.mark.parametrize("n_groups", [40, 2000])
def test_the_text_of_a_result_has_few_lines_and_says_how_many_groups_there_are(n_groups):
    with pd.option_context("display.max_rows", None):  # as many users set it
        for kind, result in results(n_groups).items():
            assert len(repr(result).splitlines()) < 30
            assert result._repr_html_().count("<tr") < 30
            if kind != "frontier":  # it has a row for each of its points
                assert f"[{n_groups} rows x" in repr(result)
        assert pd.get_option("display.max_rows") is None


def test_the_text_of_a_small_result_has_all_groups(few):
    assert [line.split()[0] for line in repr(few["published"]).splitlines()[3:6]] == ["0", "1", "2"]
