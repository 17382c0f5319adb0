"""Workbooks of several programs, also damaged: each is refused with an error, or read as openpyxl reads it."""

import datetime
import io
import re
import warnings
import zipfile

import openpyxl

from fuzzing.damage import damaged
from fuzzing.tables import GROUPS, some, try_file
from selfselect.tabular.read import open_table

#: Values of cells, by the kind of their column.
VALUES = {
    "group": [*GROUPS[:8], "  padded ", "N/A", None],
    "whole": [0, 1, -1, 7, 105, 2**53, None],
    "decimal": [0.5, 0.1, -2.25, 1e-7, 12345.678, None],
    "truth": [True, False],
    "day": [datetime.date(2020, 1, 31), datetime.datetime(2021, 12, 24, 18, 30), None],
    "mixed": [1, "1", 1.5, True, "x", datetime.date(1999, 9, 9), None],
}


def workbook_bytes(rng):
    """A workbook of random cells, as openpyxl writes it."""
    book = openpyxl.Workbook()
    kinds = [some(rng, list(VALUES)) for _ in range(int(rng.integers(1, 5)))]
    for _ in range(int(rng.integers(0, 3))):
        book.active.append([])
    book.active.append([f"{kind} {at}" for at, kind in enumerate(kinds)])
    for _ in range(int(rng.integers(1, 30))):
        book.active.append([some(rng, VALUES[kind]) for kind in kinds])
    if rng.random() < 0.3:
        book.create_sheet("other").append(["nothing", "here"])
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def as_others_write(data, rng):
    """The same cells in XML that other programs write: without numbers of cells, sizes, or with shared texts."""
    changes = [
        (rb' r="[A-Z]*\d+"', b""),
        (rb"<dimension[^>]*>", b""),
        (rb"<dimension[^>]*>", b'<dimension ref="A1:B2"/>'),
        (rb' t="n"', b""),
        (rb"</row>", b"</row>\n  "),
    ]
    chosen = [change for change in changes if rng.random() < 0.3]
    out = io.BytesIO()
    methods = [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED]
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(out, "w") as new:
        for name in old.namelist():
            part = old.read(name)
            if "worksheets" in name:
                for pattern, replacement in chosen:
                    part = re.sub(pattern, replacement, part)
            new.writestr(zipfile.ZipInfo(name), part, some(rng, methods))
    return out.getvalue()


def by_openpyxl(path):
    """Header and rows of the first sheet as texts; None if openpyxl cannot read it."""
    try:
        book = openpyxl.load_workbook(path, data_only=True)
        rows = [list(row) for row in book.worksheets[0].iter_rows(values_only=True)]
    except Exception:  # openpyxl has no error of its own
        return None
    numbered = [(number, [as_text(cell) for cell in row]) for number, row in enumerate(rows, 1)]
    numbered = [(number, row) for number, row in numbered if any(row)]
    if len(numbered) < 2:
        return None
    width = max(at for at, cell in enumerate(numbered[0][1], 1) if cell)
    return numbered[0][1][:width], [(number, row[:width]) for number, row in numbered[1:]]


def as_text(value):
    if value is None:
        return ""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, datetime.datetime) and value.time() == datetime.time():
        return str(value.date())
    return str(value)


def try_xlsx(rng, folder, tally):
    """One workbook, of one of several writers, maybe damaged."""
    data = as_others_write(workbook_bytes(rng), rng)
    path = folder / "fuzz.xlsx"
    path.write_bytes(damaged(data, rng) if rng.random() < 0.5 else data)

    def read():
        with open_table(path) as table:
            columns = table.columns(range(len(table.header)))
        cells = zip(columns[0].rows, *(column.cells() for column in columns), strict=True)
        return table.header, [(number, list(row)) for number, *row in cells]

    ours = try_file(path, tally, read)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = by_openpyxl(path)
    if ours is not None and theirs is not None:
        assert ours == theirs, (ours, theirs)
        tally.compared += 1
