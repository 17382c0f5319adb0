"""A real browser for tests and fuzzers: chromium (tools/install-browser), driven by playwright."""

import os
import shutil
from contextlib import contextmanager

CHROMIUM = os.environ.get("SELFSELECT_CHROMIUM") or shutil.which("chromium")
NO_CHROMIUM = "no chromium: run tools/install-browser, or set SELFSELECT_CHROMIUM"
FLAGS = (
    "--headless=new --no-sandbox --disable-gpu --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
).split()


@contextmanager
def chromium():
    """The browser, until it is not needed any more; one at a time."""
    from playwright.sync_api import sync_playwright  # where there is no browser, this may be missing too

    with sync_playwright() as engine:
        browser = engine.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


def watched_page(browser, wrong, width=1280, height=900, **options):
    """A new page; what it tells the console, asks for or opens is added to a list, but for files and data."""
    page = browser.new_context(viewport={"width": width, "height": height}, **options).new_page()

    def dismissed(dialog):
        wrong.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    page.on("console", lambda message: wrong.append(f"console: {message.text}"))
    page.on("pageerror", lambda error: wrong.append(f"error: {error}"))
    page.on("popup", lambda other: wrong.append(f"window: {other.url}"))
    page.on("request", lambda r: None if r.url.startswith(("file:", "data:", "blob:")) else wrong.append(r.url))
    page.on("dialog", dismissed)
    return page
