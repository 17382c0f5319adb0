"""Pictures of the five kinds of report, as the README shows them: audit, plan, compare, train, rounds.

Runs the command on the bundled examples and opens each page in chromium (tools/install-browser). ``make docs``
writes ``docs/images/report-KIND.png``, and the audit as a phone shows it; ``--all FOLDER`` writes every kind, light and
dark, on a desk and on a phone.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

ROOT = Path(__file__).resolve().parent.parent
PEOPLE = "--label repaid --positive yes --group region".split()
MODEL = [*PEOPLE, "--score", "score"]
COMMANDS = {
    "audit": ["audit", "loans.csv", *MODEL, "--cost", "0.7"],
    "plan": ["plan", "loans.csv", *MODEL, "--cost", "0.7"],
    "compare": ["compare", "loans.csv", "loans_next_year.csv", *MODEL, "--cost", "0.7"],
    "train": [
        "train",
        "loans.csv",
        *PEOPLE,
        *"--ignore score --cost 0.7 --max-social-cost 0.3 --model model.skops --force".split(),
    ],
    "rounds": [
        "simulate",
        "loans.csv",
        *PEOPLE,
        *"--ignore score --cost 0.7 --initial 0.05 --exploration 0.05".split(),
    ],
}
#: The picture of the guide's page about application data.
ESTIMATE = (
    "estimate-cost applications.csv --group region --published published --applicants applied --pool people".split()
)
DESK, PHONE = (1280, 800), (390, 844)


def make_reports(folder: Path, pictures: Path) -> None:
    """Run the command once for each kind of report, and for the picture of an estimate."""
    for name in ("loans.csv", "loans_next_year.csv", "applications.csv"):
        shutil.copy(ROOT / "examples" / name, folder)
    drawn = [sys.executable, "-m", "selfselect", *ESTIMATE, "--figure", str(pictures / "estimate-cost.png"), "--force"]
    subprocess.run(drawn, cwd=folder, check=True, stdout=subprocess.DEVNULL)
    for kind, command in COMMANDS.items():
        run = [sys.executable, "-m", "selfselect", *command, "--report", f"{kind}.html"]
        subprocess.run(run, cwd=folder, check=True, stdout=subprocess.DEVNULL)


def main() -> None:
    """Write the pictures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "images")
    parser.add_argument("--all", type=Path, help="a folder for every kind, light and dark, on a desk and on a phone")
    arguments = parser.parse_args()
    browser_path = os.environ.get("SELFSELECT_CHROMIUM") or shutil.which("chromium")
    if browser_path is None:
        sys.exit("No chromium: run tools/install-browser, or set SELFSELECT_CHROMIUM.")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as engine:
        make_reports(Path(folder), arguments.all or arguments.out)
        browser = engine.chromium.launch(executable_path=browser_path, args=["--headless=new", "--no-sandbox"])
        everything = [(size, scheme) for size in (DESK, PHONE) for scheme in ("light", "dark")]
        for kind in COMMANDS:
            shown = [(DESK, "light"), (PHONE, "light")] if kind == "audit" else [(DESK, "light")]
            for size, scheme in everything if arguments.all else shown:
                page = browser.new_page(
                    viewport={"width": size[0], "height": size[1]}, color_scheme="dark" if scheme == "dark" else "light"
                )
                page.goto((Path(folder) / f"{kind}.html").as_uri())
                page.wait_for_timeout(600)  # charts that are in sight are drawn
                name = f"report-{kind}{'-phone' if size == PHONE else ''}.png"
                if arguments.all:
                    name = f"report-{kind}-{size[0]}-{scheme}.png"
                target = arguments.all or arguments.out
                target.mkdir(parents=True, exist_ok=True)
                page.screenshot(path=target / name)
                page.close()
        browser.close()


if __name__ == "__main__":
    main()
