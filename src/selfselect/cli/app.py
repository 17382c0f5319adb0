"""``selfselect app``: the page of :mod:`selfselect.cli.app_page`, on this machine only."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import click

from selfselect.tabular.excel import check_excel

from .errors import BadInput

#: Settings of Streamlit: nothing leaves this machine, nobody else can connect, no file is watched.
SETTINGS = {
    "server.address": "127.0.0.1",
    "browser.serverAddress": "127.0.0.1",
    "browser.gatherUsageStats": "false",
    "server.fileWatcherType": "none",
    "server.enableXsrfProtection": "true",
    "client.toolbarMode": "minimal",
    "client.showErrorDetails": "none",
}


def run(port: int, max_upload: int, browser: bool) -> None:
    """Start the app, until it is interrupted."""
    if find_spec("streamlit") is None:
        raise BadInput("The app needs streamlit: pip install streamlit (extra app).")
    check_excel()
    settings = SETTINGS | {
        "server.port": str(port),
        "server.headless": "false" if browser else "true",
        "server.maxUploadSize": str(max_upload),
    }
    page = Path(__file__).with_name("app_page.py")
    click.echo(f"The app is at http://127.0.0.1:{port} (end it with Ctrl+C). Files stay on this machine.")
    command = [sys.executable, "-m", "streamlit", "run", str(page), *(f"--{k}={v}" for k, v in settings.items())]
    sys.exit(subprocess.run(command, check=False).returncode)
