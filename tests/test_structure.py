"""The order of imports: a module imports only from rooms above its own, and no private names."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "selfselect"

#: Rooms from the top down; rooms of one line do not import each other.
ORDER = (
    ("_validation",),
    ("_errors", "_files", "_frames", "_notices", "_text", "_threads"),
    ("counting",),
    ("statistics",),
    ("behaviour",),
    ("costs",),
    ("_formats", "publishing"),
    ("outcomes",),
    ("constraints",),
    ("metrics", "theory"),
    ("auditing",),
    ("estimation",),
    ("learning",),
    ("boosting",),
    ("estimators",),
    ("torch",),
    ("planning", "simulation"),
    ("report",),
    ("plotting", "datasets"),
    ("tabular",),
    ("cli",),
    ("__main__",),
)
LEVEL = {room: level for level, rooms in enumerate(ORDER) for room in rooms}

#: Packages of extras and heavy ones that few need. They are imported inside the functions that use them.
EXTRAS = set(
    "dask distributed gymnasium jinja2 markupsafe matplotlib narwhals openpyxl pettingzoo pyarrow python_calamine "
    "skops streamlit scipy.stats sklearn.model_selection".split()
)


def modules():
    """Dotted name (without the package's), path and syntax tree of every module."""
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        yield name, path, ast.parse(path.read_text(encoding="utf-8"))


def imported(path, node):
    """Modules of the package that a statement imports from, each with the imported name."""
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
    """The module that a name comes from: a submodule counts as itself."""
    inner = f"{base}.{name}" if base else name
    return inner if inner in NAMES else base


def edges():
    """(importer, imported module, imported name) of every module but the lazy ``__init__``."""
    for name, path, tree in modules():
        if name == "":
            continue
        ignored = {id(node) for node in [*typing_imports(tree), *(presenter_imports(name, path, tree))]}
        for node in ast.walk(tree):
            if isinstance(node, ast.Import | ast.ImportFrom) and id(node) not in ignored:
                for base, taken in imported(path, node):
                    yield name, targets(base, taken), taken


#: Rooms whose results show themselves: one line, which imports the report or a display when it is called.
SHOWN = ("auditing", "estimation", "planning", "simulation")


def typing_imports(tree):
    """Imports for type checkers only."""
    for block in ast.walk(tree):
        if isinstance(block, ast.If) and ast.unparse(block.test) == "TYPE_CHECKING":
            yield from block.body


def presenter_imports(name, path, tree):
    """Imports of the report and of displays inside functions of results that show themselves."""
    for node in inner_imports(tree):
        if room(name) in SHOWN and all(base.startswith(("report", "plotting")) for base, _ in imported(path, node)):
            yield node


def room(name):
    return name.partition(".")[0]


def test_every_module_belongs_to_a_room():
    assert {room(name) for name in NAMES} - {""} == set(LEVEL)


def from_below(importer, target, _):
    return target and room(importer) != room(target) and LEVEL[room(target)] >= LEVEL[room(importer)]


def from_own_init(importer, target, _):
    return target and importer.startswith(target + ".")


def private(_, target, taken):
    return taken.startswith("_") and not taken.startswith("__") and taken not in LEVEL and target != taken


@pytest.mark.parametrize("is_wrong", [from_below, from_own_init, private])
def test_modules_import_public_names_from_rooms_above_and_not_from_their_own_init(is_wrong):
    assert [edge for edge in edges() if is_wrong(*edge)] == []


def inner_imports(tree):
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            for node in ast.walk(function):
                if isinstance(node, ast.Import | ast.ImportFrom):
                    yield node


def test_only_extras_and_commands_are_imported_inside_functions():
    wrong = []
    for name, path, tree in modules():
        if room(name) == "cli":
            continue  # help and usage errors come at once: a command imports its libraries when it runs
        allowed = {id(node) for node in presenter_imports(name, path, tree)}
        for node in inner_imports(tree):
            if id(node) in allowed:
                continue
            first = node.names[0].name if isinstance(node, ast.Import) else node.module or ""
            if getattr(node, "level", 0) or not {first, first.partition(".")[0]} & EXTRAS:
                wrong.append(f"{name}: line {node.lineno}")
    assert not wrong


#: Only modules that the command alone calls may change the filters of warnings, which all threads share.
FILTERING = ("cli.", "tabular.train")


def test_the_library_changes_no_filter_of_warnings():
    for name, _, tree in modules():
        named = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
        assert name.startswith(FILTERING) or not named & {"catch_warnings", "simplefilter"}, (
            f"{name}: captured_warnings"
        )


LIBRARY = "import selfselect.estimators, selfselect.planning, selfselect.tabular"


@pytest.mark.parametrize(
    ("statement", "heavy"),
    [
        ("import selfselect", "numpy"),
        ("import selfselect.cli", "numpy"),
        *((LIBRARY, extra) for extra in ("matplotlib", "distributed", "skops", "torch")),
        ("import selfselect.plotting", "matplotlib.pyplot"),
        ("import selfselect.boosting", "lightgbm"),
        ("import selfselect.boosting", "xgboost"),
    ],
)
def test_importing_one_thing_does_not_import_another(statement, heavy):
    probe = f"{statement}\nimport sys\nsys.exit({heavy!r} in sys.modules)"
    assert subprocess.run([sys.executable, "-c", probe], check=False).returncode == 0


def test_an_audit_starts_without_what_it_does_not_need(tmp_path):
    (tmp_path / "t.csv").write_text("y,z,s\n" + "1,A,0.9\n0,B,0.2\n" * 10)
    heavy = (
        "sklearn",
        "scipy.stats",
        "scipy.optimize",
        "scipy.sparse",
        "pyarrow.parquet",
        "jinja2",
        "skops",
        "narwhals",
    )
    probe = f"""
import sys
from selfselect.cli import main
sys.argv = "selfselect audit t.csv --label y --group z --score s --cost 0.5".split()
try:
    main()
finally:
    print([name for name in {heavy!r} if name in sys.modules], file=sys.stderr)
"""
    done = subprocess.run([sys.executable, "-c", probe], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stderr.splitlines()[-1] == "[]"


def test_every_public_name_is_there():
    import selfselect

    for name in selfselect.__all__:
        assert getattr(selfselect, name) is not None
    assert set(selfselect.__all__) <= set(dir(selfselect))
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = selfselect.nonsense


def test_tests_mirror_the_tree():
    rooms, tested = ({path.parent.name for path in folder.glob("*/*.py")} for folder in (PACKAGE, ROOT / "tests"))
    assert tested - {"fuzzing", "golden", "reproduction", "simulations"} == rooms


def test_numbers_are_rounded_by_half_of_the_slack_of_decisions():
    from selfselect._formats import SPARE, THOUSAND
    from selfselect.statistics import SLACK

    assert SPARE == THOUSAND * SLACK / 2  # written twice, so that numbers can be worded without importing numpy
