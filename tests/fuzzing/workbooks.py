"""Damaged workbooks: refused in our words, or counted as an independent, slow reading of the same file counts them."""

import io
import posixpath
import re
import signal
import struct
import zipfile
import zlib
from collections import Counter
from contextlib import contextmanager
from functools import lru_cache
from xml.etree import ElementTree
from xml.sax.saxutils import escape

from fuzzing.damage import damaged, tried
from fuzzing.tables import GROUPS, counted, generator
from selfselect.tabular.errors import TableError

#: Workbooks that damage begins with.
ORIGINALS = 40
#: Values of attributes, and texts, that do not belong where they are put.
VALUES = [
    b"", b"0", b"1", b"-1", b"2", b"99", b"16385", b"1048577", b"99999999999", b"1e999", b"1.5", b"NaN", b"inf", b"A",
    b"A0", b"A1", b"C1", b"XFD1", b"XFE9", b"ZZZZZ1", b"true", b"rId9", b"../../../etc/passwd", b"/xl/workbook.xml",
    b"http://evil.example/", b"&#x41;", b"&e;", b"&lt;", b"s", b"n", b"b", b"str", b"d", b"e", b"inlineStr",
    b"m/d/yy", b"x" * 5000, b"hidden", b"External", b"\xef\xbf\xbf", b"\xff",
]  # fmt: skip
#: What is put between elements.
ELEMENTS = [
    b"<row/>", b'<row r="2"/>', b"<c/>", b'<c t="s"><v>0</v></c>', b"<v>1</v>", b"<f>1+1</f>", b"<is><t>A</t></is>",
    b"<x/>", b"<!-- -->", b"<?x?>", b"<![CDATA[1]]>", b'<mergeCell ref="A1:C9"/>',
    b'<sheet name="x" sheetId="9" r:id="rId1"/>', b'<!DOCTYPE x [<!ENTITY e "1">]>',
    b'<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]>', b"<si><t>A</t></si>", b"\0",
]  # fmt: skip
#: A zip file says twice what each part is, before the part and at the end, each time after a mark. From there on: bytes
#: at which version, flags and method stand, and those at which checksum, sizes and (at the end) the part's place do.
LOCAL, CENTRAL = b"PK\x03\x04", b"PK\x01\x02"
FIELDS = {LOCAL: (4, 6, 8), CENTRAL: (6, 8, 10)}
SIZES = {LOCAL: (14, 18, 22), CENTRAL: (16, 20, 24, 42)}
#: Nobody waits longer for such a small file.
MOST_SECONDS = 10
#: What the parts of a workbook call their elements after.
OPEN = "http://schemas.openxmlformats.org"
SPREADSHEET, OFFICE = f"{OPEN}/spreadsheetml/2006/main", f"{OPEN}/officeDocument/2006/relationships"
PACKAGE, TYPE = f"{OPEN}/package/2006", "application/vnd.openxmlformats-officedocument.spreadsheetml"
MAIN, RELATION = f"{{{SPREADSHEET}}}", f"{{{OFFICE}}}id"
#: Two styles: of numbers, and of dates.
STYLES = (
    f'<styleSheet xmlns="{SPREADSHEET}"><fonts><font><sz val="11"/></font></fonts>'
    "<fills><fill><patternFill/></fill></fills><borders><border/></borders>"
    '<cellStyleXfs><xf numFmtId="0"/></cellStyleXfs><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/></cellXfs>'
    '<cellStyles><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>'
)
CORE = (
    f'<cp:coreProperties xmlns:cp="{PACKAGE}/metadata/core-properties" xmlns:dc="http://purl.org/dc/elements/1.1/" '
    'xmlns:dcterms="http://purl.org/dc/terms/" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">'
    '<dc:creator>somebody</dc:creator><dcterms:created xsi:type="dcterms:W3CDTF">2020-01-31T08:00:00Z</dcterms:created>'
    "</cp:coreProperties>"
)


class TooSlowError(Exception):
    """A small file that keeps its reader busy."""


@contextmanager
def in_time(seconds):
    """Give up after some seconds, where the system has an alarm."""

    def give_up(*_):
        raise TooSlowError(f"not read within {seconds} seconds")

    if not hasattr(signal, "setitimer"):
        yield
        return
    before = signal.signal(signal.SIGALRM, give_up)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


# ---------------------------------------------------------------------- workbooks, whole and damaged


def cell(place, value, shared, style=None):
    """XML of a cell: a number, a formula with its value, or a text, among the shared ones if there are any."""
    if isinstance(value, int | float):
        styled = "" if style is None else f' s="{style}"'
        return f'<c r="{place}"{styled}><v>{value}</v></c>'
    if value.startswith("=") and "/" in value:
        return f'<c r="{place}"><f>{value[1:]}</f><v>0.25</v></c>'
    if shared is None:
        return f'<c r="{place}" t="inlineStr"><is><t>{escape(value)}</t></is></c>'
    if value not in shared:
        shared.append(value)
    return f'<c r="{place}" t="s"><v>{shared.index(value)}</v></c>'


def sheet_xml(rows, shared):
    """XML of a sheet; the fourth column is of dates."""
    lines = []
    for number, row in enumerate(rows, start=1):
        cells = [cell(f"{'ABCDE'[at]}{number}", value, shared, 1 if at == 3 else None) for at, value in enumerate(row)]
        lines.append(f'<row r="{number}">{"".join(cells)}</row>')
    size = f'<dimension ref="A1:{"ABCDE"[len(rows[0]) - 1]}{len(rows)}"/>'
    return f'<worksheet xmlns="{SPREADSHEET}">{size}<sheetData>{"".join(lines)}</sheetData></worksheet>'


@lru_cache(maxsize=ORIGINALS)
def original(number):
    """Parts of a workbook of people, by their names: texts or numbers as groups, other columns, sheets, formulas.

    Written here, byte by byte the same at any time: openpyxl puts the time of day into its files.
    """
    rng = generator(number)
    groups = [7, 12, 105] if rng.random() < 0.3 else rng.permutation(GROUPS)[: int(rng.integers(1, 5))].tolist()
    shared = [] if rng.random() < 0.6 else None
    more, as_text, notes = rng.random() < 0.4, rng.random() < 0.5, rng.random() < 0.3
    rows = [["y", "p", "g", *(["when", "score"] if more else [])]]
    for _ in range(int(rng.integers(3, 40))):
        y, p = (int(value) for value in rng.integers(0, 2, 2))
        who = groups[int(rng.integers(len(groups)))]
        rows.append([y, str(p) if as_text else p, who, *([int(rng.integers(40000, 46000)), "=A2/4"] if more else [])])
    sheets = [sheet_xml(rows, shared), *([sheet_xml([["nothing"], ["here"]], shared)] if notes else [])]
    texts = {f"xl/worksheets/sheet{at}.xml": sheet for at, sheet in enumerate(sheets, start=1)}
    others = {"xl/styles.xml": ("styles", STYLES)}
    if shared is not None:
        held = "".join(f"<si><t>{escape(text)}</t></si>" for text in shared)
        others["xl/sharedStrings.xml"] = ("sharedStrings", f'<sst xmlns="{SPREADSHEET}">{held}</sst>')
    texts |= {name: text for name, (_, text) in others.items()}
    kinds = {"xl/workbook.xml": "sheet.main"} | {name: "worksheet" for name in texts if "sheet" in name.split("/")[1]}
    kinds |= {name: kind for name, (kind, _) in others.items()}
    listed = "".join(f'<Override PartName="/{name}" ContentType="{TYPE}.{kind}+xml"/>' for name, kind in kinds.items())
    relations = "".join(
        f'<Relationship Id="rId{at}" Type="{OFFICE}/{kinds[name]}" Target="{name.removeprefix("xl/")}"/>'
        for at, name in enumerate(texts, start=1)
    )
    named = "".join(f'<sheet name="s{at}" sheetId="{at}" r:id="rId{at}"/>' for at in range(1, len(sheets) + 1))
    texts |= {
        "xl/workbook.xml": f'<workbook xmlns="{SPREADSHEET}" xmlns:r="{OFFICE}"><sheets>{named}</sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{PACKAGE}/relationships">{relations}</Relationships>',
        "_rels/.rels": f'<Relationships xmlns="{PACKAGE}/relationships"><Relationship Id="rId1" '
        f'Type="{OFFICE}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "docProps/core.xml": CORE,
        "[Content_Types].xml": f'<Types xmlns="{PACKAGE}/content-types"><Default Extension="rels" '
        'ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" '
        f'ContentType="application/xml"/>{listed}</Types>',
    }
    return {name: text.encode() for name, text in texts.items()}


def zipped(parts, methods=None):
    """A zip file of these parts, in their order."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for at, (name, data) in enumerate(parts):
            method = zipfile.ZIP_DEFLATED if methods is None else methods[at]
            archive.writestr(zipfile.ZipInfo(name), data, method)
    return out.getvalue()


def some(rng, values):
    return values[int(rng.integers(len(values)))]


#: What is changed in XML: values of attributes, texts, what comes after a tag, elements, numbers of rows and cells.
PATTERNS = (
    rb'(?<==")[^"]*(?=")', rb"(?<=>)[^<]+(?=<)", rb"<[^>]+>", rb"<(\w+)[^>]*>[^<]*</\1>", rb'(?<=<row r=")\d+',
    rb'(?<=<c r=")[A-E]\d+',
)  # fmt: skip


def other_xml(data, rng):
    """XML with another value, text or number, an element out of place, twice or not at all; or damaged bytes."""
    way = int(rng.integers(len(PATTERNS) + 1))
    found = list(re.finditer(PATTERNS[way], data)) if way < len(PATTERNS) else []
    if not found:
        return damaged(data, rng)
    at = some(rng, found)
    match way:
        case 0 | 1:
            new = some(rng, VALUES)
        case 2:
            new = at[0] + some(rng, ELEMENTS)
        case 3:
            new = some(rng, [b"", at[0] * 2])
        case _:  # the number of another, or of none
            new = some(rng, [some(rng, found)[0], some(rng, VALUES)])
    return data[: at.start()] + new + data[at.end() :]


def other_parts(parts, rng):
    """The same parts, but one is missing, there twice, called otherwise, in place of another, or in another order."""
    at, other = (int(i) for i in rng.integers(0, len(parts), 2))
    name, data = parts[at]
    match int(rng.integers(5)):
        case 0:
            return parts[:at] + parts[at + 1 :]
        case 1:
            return [*parts, (name, other_xml(data, rng))]
        case 2:
            return [
                *parts[:at],
                (some(rng, [name.upper(), "../" + name, "/" + name, "x", name + "\\"]), data),
                *parts[at + 1 :],
            ]
        case 3:
            return [*parts[:at], (name, parts[other][1]), *parts[at + 1 :]]
        case _:
            return [parts[int(i)] for i in rng.permutation(len(parts))]


def other_entries(stored, rng):
    """A zip file that says something else about one of its parts: flags, method, version, checksum, sizes, place."""
    stored = bytearray(stored)
    kind = some(rng, [LOCAL, CENTRAL])
    at = some(rng, [found.start() for found in re.finditer(re.escape(kind), bytes(stored))])
    if rng.random() < 0.6:
        field = some(rng, FIELDS[kind])
        value = some(rng, [1, 2, 8, 9, 12, 14, 20, 46, 63, 64, 95, 99, 1 << int(rng.integers(16)), 0xFFFF])
        struct.pack_into("<H", stored, min(at + field, len(stored) - 2), value)
    else:
        field = some(rng, SIZES[kind])
        value = some(rng, [0, 1, 100, 1 << int(rng.integers(32)), 0xFFFFFFFF, int(rng.integers(2**20))])
        struct.pack_into("<I", stored, min(at + field, len(stored) - 4), value)
    return bytes(stored)


def damaged_workbook(parts, rng):
    """Bytes of a workbook that is damaged in one of these ways, or (seldom) not at all."""
    listed = list(parts.items())
    match int(rng.integers(10)):
        case 0 | 1:
            return damaged(zipped(listed), rng)
        case 2 | 3 | 4 | 5:
            at = int(rng.integers(len(listed)))
            if rng.random() < 0.6:  # where the cells are
                at = some(rng, [i for i, (name, _) in enumerate(listed) if "sheet" in name or "Strings" in name])
            listed[at] = (listed[at][0], other_xml(listed[at][1], rng))
            return zipped(listed)
        case 6:
            return zipped(other_parts(listed, rng))
        case 7 | 8:
            return other_entries(zipped(listed), rng)
        case _:
            methods = [some(rng, [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2]) for _ in listed]
            return zipped(listed, methods)


# ---------------------------------------------------------------------- an independent reading

#: What is not as it was written, one way or another.
ODD = (
    zipfile.BadZipFile, ElementTree.ParseError, zlib.error, NotImplementedError, RuntimeError, KeyError, IndexError,
    ValueError, AttributeError, TypeError, EOFError, OSError,
)  # fmt: skip


def slowly_read(path, parts):
    """People by label, decision and group, if the sheet is whole and what it was meant to be; None if not.

    Styles must be those of the original: they make dates of numbers.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
            if len(set(names)) < len(names) or any(info.flag_bits & 1 for info in archive.infolist()):
                return None
            held = {name: archive.read(name) for name in names}
        if held.get("xl/styles.xml") != parts["xl/styles.xml"] or any(b"<!" in data for data in held.values()):
            return None
        rows = _cells(held)
    except ODD:
        return None
    if not rows or rows[0] != ["y", "p", "g"]:
        return None
    people = [tuple(row) for row in rows[1:]]
    if any(y not in ("0", "1") or p not in ("0", "1") or not g for y, p, g in people):
        return None
    return Counter(people)


def _cells(held):
    """Texts of the first sheet, row by row in the order of the file, whatever their numbers: nobody gets lost.

    None if something else stands between them, or if cells are not one after the other.
    """
    book = ElementTree.fromstring(held["xl/workbook.xml"])
    first = book.find(f"{MAIN}sheets")[0].attrib[RELATION]
    relations = {one.attrib["Id"]: one.attrib for one in ElementTree.fromstring(held["xl/_rels/workbook.xml.rels"])}
    target = relations[first]["Target"]
    place = target.lstrip("/") if target.startswith("/") else posixpath.normpath(f"xl/{target}")
    texts = []
    if "xl/sharedStrings.xml" in held:
        root = ElementTree.fromstring(held["xl/sharedStrings.xml"])
        if any([part.tag for part in one] != [f"{MAIN}t"] or one.tag != f"{MAIN}si" for one in root):
            return None
        texts = [one[0].text or "" for one in root]
    found = []
    sheet = ElementTree.fromstring(held[place])
    rows = sheet.find(f"{MAIN}sheetData")
    if sheet.tag != f"{MAIN}worksheet" or len(list(sheet.iter(f"{MAIN}row"))) != len(rows):
        return None
    for row in rows:
        columns = "".join(re.sub(r"\d+$", "", one.get("r", "?")) for one in row)
        if row.tag != f"{MAIN}row" or columns != "ABCDE"[: len(row)]:
            return None
        found.append([_text(one, texts) for one in row[:3]])
    widths = {len(row) for row in rows}
    return None if len(widths) != 1 or any(text is None for cells in found for text in cells) else found


def _text(one, texts):
    """A cell as text, if it is one of those that were written; None if not."""
    tags, kind = [part.tag.removeprefix(MAIN) for part in one], one.get("t", "n")
    if one.tag != f"{MAIN}c" or one.get("s") not in (None, "0") or len(one) != 1 or set(one[0].attrib):
        return None
    if kind == "inlineStr" and tags == ["is"]:
        return (one[0][0].text or "").strip() if [part.tag for part in one[0].iter()][1:] == [f"{MAIN}t"] else None
    value = one[0].text or ""
    if tags != ["v"] or len(one[0]):
        return None
    if kind == "s":
        return texts[int(value)].strip() if re.fullmatch(r"\d+", value, re.ASCII) else None
    # numbers as everybody writes them
    return value if kind == "n" and re.fullmatch(r"0|[1-9]\d{0,8}", value, re.ASCII) else None


def try_xlsx(rng, folder, tally):
    """One damaged workbook, called as it should be or (seldom) otherwise."""
    parts = original(int(rng.integers(ORIGINALS)))
    path = folder / ("fuzz.xlsx" if rng.random() < 0.98 else some(rng, ["fuzz", "fuzz.XLSM", "fuzz.zip", "fuzz.csv"]))
    path.write_bytes(damaged_workbook(parts, rng))
    tally.tried += 1
    with in_time(MOST_SECONDS):
        ours, refusal = tried(lambda: counted(path), TableError)
    if refusal is not None:
        assert path.name in refusal, refusal
        assert "\n" not in refusal, refusal
        tally.refused += 1
        return
    tally.read += 1
    theirs = slowly_read(path, parts)
    if theirs is not None:
        assert ours == theirs, (ours, theirs)
        tally.compared += 1
