"""``selfselect app`` in a real browser: drop a file, choose columns, see and save the report."""

import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import openpyxl
import pandas as pd
import pytest

from applicants import run
from selfselect.cli.app import SETTINGS

pytest.importorskip("streamlit")
EXAMPLES = Path(__file__).parents[2] / "examples"
SLOW = 90_000


def test_the_app_listens_on_this_machine_only_and_reports_to_nobody():
    assert SETTINGS["server.address"] == "127.0.0.1"
    assert SETTINGS["browser.gatherUsageStats"] == "false"
    page = Path(__file__).parents[2] / "src" / "selfselect" / "cli" / "app_page.py"
    assert len(page.read_text().splitlines()) <= 400


@pytest.fixture(scope="module")
def address():
    """Where a running app listens; files of more than 1 MB are too large for it."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "selfselect", "app", "--port", str(port), "--no-browser", "--max-upload", "1"]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    app = subprocess.Popen(
        command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )
    url = f"http://127.0.0.1:{port}"
    for _ in range(240):
        try:
            urllib.request.urlopen(f"{url}/_stcore/health", timeout=1).read()
            break
        except OSError:
            time.sleep(0.25)
    yield url
    os.killpg(app.pid, 15)
    app.wait()


@pytest.fixture
def page(address, browser):
    shown = browser.new_context(viewport={"width": 1100, "height": 900}).new_page()
    shown.set_default_timeout(SLOW)
    asked = []
    shown.on("request", lambda request: asked.append(request.url))
    shown.goto(address)
    shown.get_by_text("Who will not apply?").wait_for()
    yield shown
    elsewhere = [url for url in asked if url.startswith("http") and not url.startswith(address)]
    shown.context.close()
    assert elsewhere == []


def drop(page, path):
    page.locator("input[type=file]").first.set_input_files(path)


def shown_report(page):
    page.get_by_role("button", name="Show the report").click()
    page.get_by_text("The same as a command").wait_for()
    frame = page.frame_locator("iframe").last
    frame.locator("#verdict").wait_for()
    return frame


def test_a_csv_file_gives_the_report_of_the_command_that_is_shown(page, tmp_path, monkeypatch):
    drop(page, EXAMPLES / "loans.csv")
    verdict = shown_report(page).locator("#verdict").inner_text()
    command = page.locator("code").last.inner_text()
    shutil.copy(EXAMPLES / "loans.csv", tmp_path)
    monkeypatch.chdir(tmp_path)
    arguments = shlex.split(command)
    assert arguments[:3] == ["selfselect", "audit", "loans.csv"]
    said = run(*arguments[1:])
    assert said.exit_code == 0, said.output
    assert re.sub(r"\s+", " ", verdict).split(". ")[0] in re.sub(r"\s+", " ", said.output)
    with page.expect_download() as download:
        page.get_by_role("button", name="Save the workbook").click()
    download.value.save_as(tmp_path / "saved.xlsx")
    book = openpyxl.load_workbook(tmp_path / "saved.xlsx")
    assert book.sheetnames[:2] == ["summary", "groups"]
    with page.expect_download() as download:
        page.get_by_role("button", name="Save the page").click()
    assert "Content-Security-Policy" in Path(download.value.path()).read_text(encoding="utf-8")


def test_a_workbook_with_a_title_and_the_calculator_of_the_cost(page, tmp_path):
    path, frame = tmp_path / "Loans 2025.xlsx", pd.read_csv(EXAMPLES / "loans.csv").head(800)
    with pd.ExcelWriter(path, engine="openpyxl") as writer:
        frame.to_excel(writer, index=False, startrow=2)
    book = openpyxl.load_workbook(path)
    book.active["A1"] = "Loans of the year"
    book.save(path)
    drop(page, path)
    page.get_by_text("Row 3 is taken to name the columns.").wait_for()
    page.get_by_text("with a calculator").click()
    page.get_by_text("Applying costs 25.0% of what being selected is worth.").wait_for()
    shown_report(page)
    command = page.locator("code").last.inner_text()
    assert "--cost 0.2500 --worth 1000 --currency EUR --header-row 3" in command


def test_costs_come_from_a_log(page):
    drop(page, EXAMPLES / "loans.csv")
    page.get_by_text("from a log of applications").click()
    page.get_by_text("A log: one row per group and period").wait_for()
    page.locator("input[type=file]").last.set_input_files(EXAMPLES / "applications.csv")
    page.get_by_text("Applying costs 0.662 for Centre").wait_for()
    shown_report(page)
    assert "--costs costs.json" in page.locator("code").last.inner_text()


def test_a_hostile_file_is_text_all_the_way(page, tmp_path):
    path = tmp_path / "hostile.csv"
    names = [
        "<img src=x onerror=window.pwned=1>",
        "</script><script>window.pwned=1</script>",
        "**bold** [x](http://evil.example)",
    ]
    rows = [f'"{names[i % 3]}",{(i * 7 % 100) / 100},{["yes", "no"][i * 11 % 3 == 0]}' for i in range(300)]
    path.write_text("group,score,hired\n" + "\n".join(rows) + "\n")
    drop(page, path)
    frame = shown_report(page)
    assert frame.locator("body").evaluate("() => window.pwned") is None
    assert page.evaluate("() => window.pwned") is None
    assert page.locator("a[href*='evil']").count() == 0


def test_a_damaged_file_is_refused_in_words(page, tmp_path):
    path = tmp_path / "damaged.xlsx"
    path.write_bytes(b"PK\x03\x04" + bytes(range(256)))
    drop(page, path)
    page.get_by_text("this is a damaged .xlsx file").wait_for()


def test_a_file_that_is_too_large_is_refused(page, tmp_path):
    path = tmp_path / "large.csv"
    path.write_text("group,score,hired\n" + "A,0.5,yes\n" * 150_000)
    drop(page, path)
    page.get_by_text("1.0MB or smaller").or_(page.get_by_text("1MB or smaller")).first.wait_for()
    assert page.get_by_role("button", name="Show the report").count() == 0


def test_the_keyboard_is_enough_and_a_phone_is_wide_enough(page):
    drop(page, EXAMPLES / "loans.csv")
    button = page.get_by_role("button", name="Show the report")
    button.wait_for()
    page.get_by_text("Set it").wait_for()
    for _ in range(60):
        page.keyboard.press("Tab")
        if button.evaluate("element => element === document.activeElement"):
            break
    page.keyboard.press("Enter")
    page.get_by_text("The same as a command").wait_for()
    page.set_viewport_size({"width": 390, "height": 800})
    page.wait_for_timeout(500)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
