"""Pages in a real browser; tests that ask for one are skipped where there is none."""

import pytest

from browsing import watched_page
from pages import settle


@pytest.fixture
def show(browser, tmp_path):
    """Open an audit; any console message, error, dialog or request beyond the file itself fails the test."""
    pages, wrong = [], []

    def open_page(result, address="", scheme="light", folded=False, **size):
        path = tmp_path / "report.html"
        path.write_text(result.to_html(min_cell=0), encoding="utf-8")
        page = watched_page(browser, wrong, color_scheme=scheme, accept_downloads=True, **size)
        pages.append(page)
        page.goto(path.as_uri() + address)
        if not folded:
            page.evaluate("() => document.querySelectorAll('.part').forEach((part) => { part.open = true; })")
        settle(page)
        return page

    yield open_page
    for page in pages:
        page.context.close()
    assert wrong == []
