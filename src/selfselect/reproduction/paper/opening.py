"""How the page of the reproduction opens: what was run, by which learner, with what settings, on which splits."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from statistics import mean
from typing import Any

from ... import __version__
from ...constraints import RELEASED_FACTOR
from ..methods import METHODS
from ..people import BUNDLED
from ..sweep.plan import COSTS, SPLITS
from ..sweep.results import Result
from ..sweep.store import Store
from .experiments import PAPER_METHODS
from .splits import BLOCKS, block_name

#: Splits that were looked at while constants of our learners were chosen.
LOOKED_AT = BLOCKS[0]


def what_was_run(results: Sequence[Result], descents: Sequence[Result]) -> str:
    """Both learners side by side, and what of the paper's table was not run again.

    Parameters
    ----------
    results : sequence of Result
        Of our learners.
    descents : sequence of Result
        Of the paper's own training, under the names of its methods.
    """
    looked = f"none by us; those of the released code ({_presets(descents)})" if descents else "-"
    rows = [
        ("settings of", f"released code (preset {_presets(descents)})", "our own"),
        ("naive and semi", _simple(descents), "a converged logistic regression; every threshold is searched"),
        ("strategic methods", _strategic(descents), _strategic(results)),
        ("margin beyond the cost (tolerance)", _values(descents, "tolerance"), _values(results, "tolerance")),
        ("starts", _values(descents, "n_starts"), "informed ones, from the data"),
        (
            "weight of parity",
            _values(descents, "parity", over=0.0) + _in_the_text(descents),
            _values(results, "parity", over=0.0) + _within(results),
        ),
        ("weight of the penalty on nobody applying", _penalties(descents), "-"),
        ("groups that are kept out", "as training has it", _values(results, "shut_out") or "nobody of them selected"),
        ("splits", _splits(descents), _splits(results)),
        ("constants chosen looking at", looked, f"splits {block_name(LOOKED_AT)}"),
        (
            "settings run",
            f"{_settings(descents)} of {len(_all_cells())}",
            f"{_settings(results)} of {len(_all_cells())}",
        ),
        ("fits", f"{len(descents):,}", f"{len(results):,}"),
        ("made by", "`make reproduce-descent`", "`make reproduce`"),
    ]
    lines = ["| | the paper's own method, re-run by us | our learner |", "|---|---|---|"]
    lines += [f"| {name} | {again or '-'} | {ours or '-'} |" for name, again, ours in rows]
    return "\n".join(lines) + "\n\n" + _not_run_again(descents)


def _presets(descents: Sequence[Result]) -> str:
    names = {str(result.configuration["preset"]) for result in descents if "preset" in result.configuration}
    return ", ".join(f'`"{name}"`' for name in sorted(names)) or "none run yet"


def _simple(descents: Sequence[Result]) -> str:
    naive = [result.configuration for result in descents if result.cell.method in ("naive", "semi")]
    grids = sorted({settings["grid"] for settings in naive if "grid" in settings})
    types = sorted({settings["dtype"] for settings in naive if "dtype" in settings})
    if not types:
        return ""
    return f"a logistic regression by the same descent ({', '.join(types)}); {', '.join(map(str, grids))} thresholds"


def _strategic(results: Sequence[Result]) -> str:
    solvers = {result.configuration.get("solver", "auto") for result in _with(results, "tolerance")}
    return ", ".join(f'`StrategicClassifier(solver="{solver}")`' for solver in sorted(solvers))


def _with(results: Sequence[Result], setting: str) -> list[Result]:
    return [result for result in results if setting in result.configuration]


def _values(results: Sequence[Result], setting: str, over: float | None = None) -> str:
    """Values of a setting, by data set where they differ."""
    by_dataset: dict[str, list[Any]] = {}
    for result in _with(results, setting):
        value = result.configuration[setting]
        if over is None or value > over:
            by_dataset.setdefault(result.cell.dataset, []).append(value)
    shown = {name: _range(values) for name, values in by_dataset.items()}
    if len(set(shown.values())) == 1:
        return next(iter(shown.values()))
    return "; ".join(f"{BUNDLED[name]} {shown[name]}" for name in BUNDLED if name in shown)


def _in_the_text(descents: Sequence[Result]) -> str:
    """What weights of parity in the released form are in that of the paper's text."""
    weights: dict[str, list[float]] = {}
    for result in _with(descents, "parity"):
        if result.configuration["parity"] > 0:
            factor = RELEASED_FACTOR**2 * len(result.groups)
            weights.setdefault(result.cell.dataset, []).append(factor * result.configuration["parity"])
    shown = "; ".join(f"{BUNDLED[name]} {_range(weights[name], ',.0f')}" for name in BUNDLED if name in weights)
    return f" (in the form of the released code; in that of the text {shown})" if shown else ""


def _within(results: Sequence[Result]) -> str:
    """How close rates are to be besides."""
    asked = {result.configuration["parity_tolerance"] for result in _with(results, "parity_tolerance")}
    return (
        f", and rates within {', '.join(f'{value:g}' for value in sorted(asked))} of the overall one" if asked else ""
    )


def _penalties(descents: Sequence[Result]) -> str:
    """Weights of the penalty, as fractions, with and without parity."""
    found: dict[str, set[str]] = {}
    for result in _with(descents, "application"):
        weight = Fraction(result.configuration["application"]).limit_denominator(1000)
        kind = "with parity" if result.configuration.get("parity") else "without parity"
        found.setdefault(str(weight), set()).add(f"{BUNDLED[result.cell.dataset]} {kind}")
    if len(found) == 1:
        return next(iter(found))
    most = max(found, key=lambda weight: len(found[weight]), default="")
    others = "; ".join(f"{weight} ({', '.join(sorted(where))})" for weight, where in found.items() if weight != most)
    return f"{most}; {others}" if others else most


def _range(values: Sequence[Any], form: str = ".4g") -> str:
    if isinstance(values[0], str):
        return ", ".join(sorted(set(values)))
    low, high = min(values), max(values)
    return format(low, form) if low == high else f"{low:{form}} to {high:{form}}"


def _splits(results: Sequence[Result]) -> str:
    numbers = sorted({result.cell.split for result in results})
    return f"{numbers[0]} to {numbers[-1]}" if numbers else ""


def _all_cells() -> list[tuple[str, str, float]]:
    """Cells of the paper's extended table."""
    return [(dataset, method, cost) for dataset in BUNDLED for method in PAPER_METHODS for cost in COSTS]


def _done(results: Sequence[Result]) -> dict[tuple[str, str, float], int]:
    """Splits that each cell was run on."""
    found: dict[tuple[str, str, float], int] = {}
    for result in results:
        found[result.cell.key[:3]] = found.get(result.cell.key[:3], 0) + 1
    return found


def _settings(results: Sequence[Result]) -> int:
    return len(_done(results).keys() & set(_all_cells()))


def _not_run_again(descents: Sequence[Result]) -> str:
    done, missing = _done(descents), []
    for dataset in BUNDLED:
        by_costs: dict[tuple[float, ...], list[str]] = {}
        for method in PAPER_METHODS:
            costs = tuple(cost for cost in COSTS if (dataset, method, cost) not in done)
            if costs:
                by_costs.setdefault(costs, []).append(method)
        for costs, methods in by_costs.items():
            at = "all costs" if len(costs) == len(COSTS) else "c = " + ", ".join(f"{cost:g}" for cost in costs)
            missing.append(f"{BUNDLED[dataset]}: {', '.join(methods)} at {at}")
    partly = sorted((cell, splits) for cell, splits in done.items() if splits < SPLITS)
    text = f"Not re-run, and said so in the tables: {'; '.join(missing)}." if missing else "Every cell was re-run."
    if partly:
        listed = "; ".join(f"{BUNDLED[d]}, {m}, c = {c:g} ({splits})" for (d, m, c), splits in partly)
        text += f" Re-run on fewer than {SPLITS} splits: {listed}."
    return text


# ---------------------------------------------------------------------- machine and time


def machine_and_time(store: Store, results: Sequence[Result], descents: Sequence[Result]) -> str:
    """Where fits were made, and how long they took."""
    versions = sorted({result.package_version for result in (*results, *descents)})
    fits = sum(result.seconds for result in results)
    lines = [
        "## Machine and time",
        "",
        f"{len(results):,} fits of our learners: {len(BUNDLED)} data sets, {len(METHODS)} methods, {len(COSTS)} costs, "
        f"{SPLITS} splits; selfselect {', '.join(versions)} (page: {__version__}). They took {fits / 60:.1f} minutes "
        "if added up, the paper's 7,290 runs of 20 to 45 minutes some thousands of hours.",
    ]
    if descents:
        hours = sum(result.seconds for result in descents) / 3600
        lines[-1] += f" {len(descents):,} fits by the paper's descent, all starts of a fit at once: {hours:.1f} hours."
    lines += ["", "| finished sweep | fits | engine | minutes | machine |", "|---|--:|---|--:|---|"]
    for sweep in store.sweeps():
        machine = sweep["machine"]
        described = f"{machine['processor']}, {machine['cores']} cores, Python {machine['python']}, scikit-learn "
        described += f"{machine['scikit-learn']}, numpy {machine['numpy']}, scipy {machine['scipy']}"
        lines.append(
            f"| {sweep['started_at'][:10]} | {sweep['fits']} | {sweep['engine']} | {sweep['seconds'] / 60:.1f} | "
            f"{described} |"
        )
    lines += [
        "",
        "Seconds per fit, on average and at best: by the clock, so that other work on the machine counts too. Naive "
        "and semi share one fit among all costs of a split; its time is given.",
        "",
        "| method | " + " | ".join(BUNDLED.values()) + " |",
        "|---|" + "--:|" * len(BUNDLED),
    ]
    for whose, part in (("", results), (", the paper's descent", descents)):
        times = _times(part)
        for method in METHODS:
            found = [times.get((dataset, method)) for dataset in BUNDLED]
            if any(found):
                cells = " | ".join("-" if not each else f"{mean(each):.2f} ({min(each):.2f})" for each in found)
                lines.append(f"| {method}{whose} | {cells} |")
    return "\n".join(lines)


def _times(results: Sequence[Result]) -> dict[tuple[str, str], list[float]]:
    """Seconds of fits by data set and method, added up over costs where these share a fit."""
    times: dict[tuple[str, str], dict[tuple[int, float | None], float]] = {}
    for result in results:
        cell = result.cell
        key = cell.split, None if METHODS[cell.method].shares else cell.cost
        fits = times.setdefault((cell.dataset, cell.method), {})
        fits[key] = fits.get(key, 0.0) + result.seconds
    return {which: list(fits.values()) for which, fits in times.items()}
