"""The flow never runs backwards: rooms import from rooms above them only, and nobody reaches into private parts."""

import ast
import re
import subprocess
import sys
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "selfselect"

#: Rooms from the top down; those of one line know nothing of each other.
ORDER = (
    ("_validation",),
    ("_errors", "_files", "_frames", "_notices", "_text", "_threads"),
    ("counting",),
    ("behaviour",),
    ("costs",),
    ("_formats", "publishing"),
    ("outcomes",),
    ("metrics", "theory"),
    ("auditing",),
    ("learning",),
    ("estimators",),
    ("planning",),
    ("report",),
    ("plotting", "datasets"),
    ("tabular",),
    ("reproduction",),
    ("cli",),
    ("__main__",),
)
LEVEL = {room: level for level, rooms in enumerate(ORDER) for room in rooms}

#: Packages of extras, which people may do without, and narwhals, which only those with other frames wait for: they are
#: imported where they are used, and nowhere else.
EXTRAS = {
    "dask",
    "distributed",
    "jinja2",
    "markupsafe",
    "matplotlib",
    "narwhals",
    "numba",
    "openpyxl",
    "pyarrow",
    "skops",
}


def modules():
    """All modules of the package: their dotted name (without the package's) and what they say."""
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        yield name, path, ast.parse(path.read_text(encoding="utf-8"))


def imported(path, node):
    """Modules of the package that an import statement names, dotted; with the names taken from each."""
    if isinstance(node, ast.Import):
        return [(alias.name.removeprefix("selfselect."), "") for alias in node.names if "selfselect" in alias.name]
    if node.level == 0:
        inside = node.module == "selfselect" or (node.module or "").startswith("selfselect.")
        base = (node.module or "").removeprefix("selfselect").lstrip(".")
        return [(base, alias.name) for alias in node.names] if inside else []
    folder = path.relative_to(PACKAGE).parts[:-1]
    kept = folder[: len(folder) - node.level + 1]
    base = ".".join([*kept, *([node.module] if node.module else [])])
    return [(base, alias.name) for alias in node.names]


NAMES = {name for name, _, _ in modules()}


def targets(base, name):
    """The module that a name is taken from: a submodule counts as itself."""
    inner = f"{base}.{name}" if base else name
    return inner if inner in NAMES else base


def edges():
    """Who imports whom: (importer, imported, taken name), of every module but the lazy front door."""
    for name, path, tree in modules():
        if name == "":
            continue  # the front door opens rooms when they are asked for
        ignored = {id(node) for node in [*typing_imports(tree), *(presenter_imports(name, path, tree))]}
        for node in ast.walk(tree):
            if isinstance(node, ast.Import | ast.ImportFrom) and id(node) not in ignored:
                for base, taken in imported(path, node):
                    yield name, targets(base, taken), taken


#: Rooms whose results show themselves: one line, which imports the report when it is called.
SHOWN = ("auditing", "planning")


def typing_imports(tree):
    """Imports for type checkers only."""
    for block in ast.walk(tree):
        if isinstance(block, ast.If) and ast.unparse(block.test) == "TYPE_CHECKING":
            yield from block.body


def presenter_imports(name, path, tree):
    """Imports of the report inside functions of results that show themselves."""
    for node in inner_imports(tree):
        if room(name) in SHOWN and all(base.startswith("report") for base, _ in imported(path, node)):
            yield node


def room(name):
    return name.partition(".")[0]


def test_every_module_belongs_to_a_room():
    assert {room(name) for name in NAMES} - {""} == set(LEVEL)


def test_rooms_import_only_from_rooms_above_them():
    wrong = [
        f"{importer} imports {target}"
        for importer, target, _ in edges()
        if target and room(importer) != room(target) and LEVEL[room(target)] >= LEVEL[room(importer)]
    ]
    assert not wrong


def test_no_module_imports_itself_in_a_circle():
    graph = {}
    for importer, target, _ in edges():
        # a package's own front page gathers its modules; they never ask it for anything
        if target and importer != target:
            graph.setdefault(importer, set()).add(target)
    list(TopologicalSorter(graph).static_order())


def test_a_room_asks_its_own_front_page_for_nothing():
    wrong = [
        f"{importer} imports {target}"
        for importer, target, _ in edges()
        if target and importer.startswith(target + ".")
    ]
    assert not wrong


def test_nobody_reaches_into_private_parts():
    wrong = [
        f"{importer} takes {taken} from {target}"
        for importer, target, taken in edges()
        if taken.startswith("_") and not taken.startswith("__") and taken not in LEVEL and target != taken
    ]
    assert not wrong


def inner_imports(tree):
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            for node in ast.walk(function):
                if isinstance(node, ast.Import | ast.ImportFrom):
                    yield node


def test_only_extras_are_imported_inside_functions():
    wrong = []
    for name, path, tree in modules():
        allowed = {id(node) for node in presenter_imports(name, path, tree)}
        for node in inner_imports(tree):
            if id(node) in allowed:
                continue
            first = node.names[0].name if isinstance(node, ast.Import) else node.module or ""
            if getattr(node, "level", 0) or first.partition(".")[0] not in EXTRAS:
                wrong.append(f"{name}: line {node.lineno}")
    assert not wrong


#: Who may change the filters of warnings, which all threads share: what the command alone calls.
FILTERING = ("cli.", "tabular.training")


def test_no_filter_of_warnings_is_changed_where_threads_may_meet():
    for name, _, tree in modules():
        named = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
        assert name.startswith(FILTERING) or not named & {"catch_warnings", "simplefilter"}, f"{name}: notices_kept"


#: Methods that write files, whoever has them.
WRITERS = {"open", "write_text", "write_bytes", "to_csv", "to_excel", "to_parquet", "to_pickle", "savefig", "savez"}
#: Functions of Python's own modules that write, make or move files; None: all of them.
MOVERS = {"os": {"open", "fdopen", "rename", "replace", "link", "symlink"}, "shutil": None, "tempfile": None}
#: Who writes files, and with what: all others hand texts or bytes to ``_files``.
WRITING = {
    ("_files", "os.fdopen"),
    ("_files", "os.open"),
    ("_files", "os.replace"),
    # SQLite's own files: a copy of one that cannot be written beside, and a damaged one that is moved aside
    ("reproduction.sweep.database", "tempfile.TemporaryDirectory"),
    ("reproduction.sweep.database", "shutil.copyfile"),
    ("reproduction.sweep.repairing", "os.rename"),
    # rows that wait in a file without a name until all are there
    ("tabular.writing", "tempfile.SpooledTemporaryFile"),
    ("tabular.writing", "tempfile.gettempdir"),
    # these write to memory, and to the terminal
    ("cli.work.frontier", "savefig"),
    ("reproduction.paper.figures", "savefig"),
    ("cli.streams", "write_bytes"),
}


def writes(call):
    """What a call writes files with; None if it does not."""
    owner, _, name = ast.unparse(call.func).rpartition(".")
    if name == "open" and not opens_for_writing(call):
        return None
    if owner in MOVERS:
        return f"{owner}.{name}" if MOVERS[owner] is None or name in MOVERS[owner] else None
    return name if name in WRITERS else None


def opens_for_writing(call):
    """Whether a mode, or what may be one, is not plainly that of reading; nothing is ever in the null device."""
    if call.args and ast.unparse(call.args[0]) == "os.devnull":
        return False
    modes = [*call.args[1:2], *(keyword.value for keyword in call.keywords if keyword.arg == "mode")]
    if isinstance(call.func, ast.Attribute):  # a path's own takes it first
        modes += [part for part in call.args[:1] if re.fullmatch(r"'[rwaxbt+]+'", ast.unparse(part))]
    return any(ast.unparse(mode) not in ("'r'", "'rb'", "os.O_RDONLY") for mode in modes)


def test_files_are_written_in_one_place():
    found = {
        (name, writes(node))
        for name, _, tree in modules()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and writes(node)
    }
    assert found == WRITING


@pytest.mark.parametrize(
    "statement",
    [
        *("open(path, 'w')", "open(path, mode='ab')", "open(path, mode)", "path.open('w')", "gzip.open(path, 'wt')"),
        *("os.open(path, os.O_WRONLY)", "path.write_text(text)", "Path(path).write_bytes(data)", "shutil.copy(a, b)"),
        *("os.replace(a, b)", "np.savez(path, a)", "frame.to_csv(path)"),
    ],
)
def test_writing_elsewhere_would_be_noticed(statement):
    assert writes(ast.parse(statement).body[0].value)


@pytest.mark.parametrize(
    ("statement", "heavy"),
    [
        ("import selfselect", "numpy"),
        ("import selfselect.cli", "numpy"),
        ("import selfselect.estimators, selfselect.planning, selfselect.tabular", "matplotlib"),
        ("import selfselect.estimators, selfselect.planning, selfselect.tabular", "distributed"),
        ("import selfselect.estimators, selfselect.planning, selfselect.tabular", "skops"),
        ("import selfselect.reproduction, selfselect.plotting", "matplotlib.pyplot"),
    ],
)
def test_importing_one_thing_does_not_import_another(statement, heavy):
    probe = f"{statement}\nimport sys\nsys.exit({heavy!r} in sys.modules)"
    assert subprocess.run([sys.executable, "-c", probe], check=False).returncode == 0


def test_every_public_name_is_there():
    import selfselect

    for name in selfselect.__all__:
        assert getattr(selfselect, name) is not None
    assert set(selfselect.__all__) <= set(dir(selfselect))
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = selfselect.nonsense


def test_tests_mirror_the_tree():
    rooms, tested = ({path.parent.name for path in folder.glob("*/*.py")} for folder in (PACKAGE, ROOT / "tests"))
    assert tested - {"fuzzing", "golden"} == rooms  # which are about several
