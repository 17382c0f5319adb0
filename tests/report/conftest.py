"""Pages in a real browser; tests that ask for one are skipped where there is none."""

import pytest

from pages import settle


@pytest.fixture
def show(browser, tmp_path):
    """Open an audit; any console message, error, dialog or request beyond the file itself fails the test."""
    contexts, wrong = [], []

    def open_page(result, address="", width=1280, height=900, scheme="light", name="report.html"):
        path = tmp_path / name
        path.write_text(result if isinstance(result, str) else result.to_html(), encoding="utf-8")
        context = browser.new_context(
            viewport={"width": width, "height": height}, color_scheme=scheme, accept_downloads=True
        )
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: wrong.append(f"console: {message.text}"))
        page.on("pageerror", lambda error: wrong.append(f"error: {error}"))
        page.on("dialog", lambda dialog: wrong.append(f"dialog: {dialog.message}"))
        page.on("request", lambda r: None if r.url.startswith(("file:", "data:", "blob:")) else wrong.append(r.url))
        page.goto(path.as_uri() + address)
        settle(page)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert wrong == []
