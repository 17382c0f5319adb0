"""Workbooks (.xlsx) that are written: tables of results, and a template to fill in."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

import numpy as np
import pandas as pd

from .._text import printable
from .columns import is_missing

#: Sheet of a workbook that holds options of the command: their names, and their values.
SETTINGS = "settings"
#: Widest column, and longest text of a cell, that Excel takes.
MAX_WIDTH, MAX_CELL = 60, 32_767
#: Longest name of a sheet, and characters that it may not have.
MAX_NAME, NO_NAME = 31, str.maketrans(dict.fromkeys("[]:*?/\\", "-"))

#: Columns of the template with what belongs there; of the last two one is used.
PEOPLE = {
    "person": "A number or code. It is not used.",
    "group": "The group whose success rate people look at: a region, a school, an age band.",
    "qualified": "yes or no: whether the person turned out to be qualified. Empty if unknown because rejected.",
    "score": "The model's score, between 0 and 1.",
    "passes": "yes or no: whether the model selects the person.",
}
#: Options that the template sets, with what they mean.
DEFAULTS = {
    "label": ("qualified", "the column of outcomes"),
    "group": ("group", "the column of groups"),
    "cost": ("0.7", "the cost of applying, as a share of what being selected is worth"),
    "untested": ("yes", "outcomes of rejected people may be empty"),
}


def check_excel() -> None:
    """Complain if the extra that workbooks need is not installed."""
    try:
        import openpyxl  # noqa: F401 (an optional extra)
    except ImportError as error:
        raise ImportError("Workbooks need openpyxl: pip install openpyxl (extra excel).") from error


def workbook_bytes(sheets: Mapping[str, pd.DataFrame]) -> bytes:
    """Tables as a workbook, one sheet each. Texts are texts: none is a formula."""
    check_excel()
    import openpyxl
    from openpyxl.styles import Font
    from openpyxl.utils import get_column_letter

    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, frame in sheets.items():
        sheet = book.create_sheet(printable(name).translate(NO_NAME)[:MAX_NAME])
        rows = [[str(column) for column in frame.columns], *frame.itertuples(index=False)]
        for at, row in enumerate(rows, start=1):
            for column, value in enumerate(row, start=1):
                _write(sheet.cell(at, column), value)
        for at in range(1, len(frame.columns) + 1):
            sheet.cell(1, at).font = Font(bold=True)
            longest = max((len(str(row[at - 1])) for row in rows[:200]), default=0)
            sheet.column_dimensions[get_column_letter(at)].width = min(max(longest + 2, 8), MAX_WIDTH)
        sheet.freeze_panes = "A2"
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def _write(cell: Any, value: Any) -> None:
    """One value: numbers and truth values as such, NaN as an empty cell, all else as text."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or value != value:
        return
    if isinstance(value, bool | int | date) or (isinstance(value, float) and np.isfinite(value)):
        cell.value = value
        return
    cell.value = printable(str(value))[:MAX_CELL]
    cell.data_type = "s"  # also what begins with =


def template_bytes(*, decisions: bool = False) -> bytes:
    """A workbook to fill in: a sheet of people, options, and what to do."""
    left_out, model = ("score", "prediction") if decisions else ("passes", "score")
    columns = [name for name in PEOPLE if name != left_out]
    settings = DEFAULTS | {model: ("passes" if decisions else "score", "the column of the model")}
    rows = [(name, value, meaning) for name, (value, meaning) in settings.items()]
    steps = [
        "Fill in the sheet people: one row per person whom the model screened, also those whom it rejected.",
        "In the sheet settings, write the cost of applying. Any option of the command can be added there, by its name.",
        "Save the file, and run: selfselect audit FILE.xlsx",
        *(f"{name}: {PEOPLE[name]}" for name in columns),
    ]
    return workbook_bytes(
        {
            "people": pd.DataFrame(columns=columns),
            SETTINGS: pd.DataFrame(rows, columns=["option", "value", "meaning"]),
            "how to": pd.DataFrame({"what to do": steps}),
        }
    )


def read_settings(path: str) -> dict[str, list[str]]:
    """Options in the sheet of settings of a workbook, by name; none if there is no such sheet, or no workbook."""
    try:
        import python_calamine

        book = python_calamine.CalamineWorkbook.from_path(path)
        if SETTINGS not in book.sheet_names:
            return {}
        rows: Sequence[Sequence[Any]] = book.get_sheet_by_name(SETTINGS).to_python()
    except Exception:  # reading the table itself says what is wrong with the file
        return {}
    found: dict[str, list[str]] = {}
    for row in rows[1:]:
        name, value = (str(cell).strip() for cell in [*row, "", ""][:2])
        if name and not is_missing(np.array([value], dtype=object))[0]:
            found.setdefault(name.removeprefix("--"), []).append(value)
    return found
