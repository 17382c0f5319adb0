"""``selfselect demo``."""

from applicants import run


def test_demo_shows_what_self_selection_does_to_a_naive_model_and_ends_with_a_page(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = run("demo")
    assert result.exit_code == 0, result.output
    assert "Asian-Pac-Islander" in (tmp_path / "selfselect-demo.html").read_text()
    assert "a page for any browser" in result.output
    monkeypatch.setattr("selfselect.cli.demo.show", lambda *given: None)  # seconds, and seen already
    assert "selfselect-demo-2.html" in run("demo").output
    assert run("demo", "--report", "selfselect-demo.html").exit_code == 2
    for words in ("Asian-Pac-Islander", "of those who pass", "stays away", "never apply", "selfselect audit FILE"):
        assert words in result.output
    assert len(result.output.split()) < 200  # a minute
