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
