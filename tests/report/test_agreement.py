"""The page and the library say the same: number by number, sentence by sentence, in a real browser."""

import re
from dataclasses import asdict
from importlib.resources import files

import numpy as np
import pytest

from cases import all_cases
from pages import content_of, embedded_text, example, random_audit
from selfselect.auditing import group_warning
from selfselect.deciding import HardRule, Terms
from selfselect.report.rendering import SCRIPTS

GROUP_NUMBERS = (
    "n selected true_positives base_rate selection_rate precision precision_low precision_high accuracy cost "
    "subsidy_needed utility"
).split()
COUNTS = {"n", "selected", "true_positives"}
#: The page adds up groups in another order than the library.
ROUNDING = 1e-12


def test_the_page_says_what_the_table_of_cases_expects(show):
    cases = all_cases()
    said = show(example()).evaluate(
        "cases => cases.map(([name, given, options]) => selfselect.texts[name](...given, ...options))",
        [[name, arguments, [options] if options else []] for name, arguments, options, _ in cases],
    )
    for (name, arguments, options, text), answer in zip(cases, said, strict=True):
        assert answer == text, (name, arguments, options)
    assert {case[0] for case in cases} == set(show(example()).evaluate("() => Object.keys(selfselect.texts)"))


def assert_same_numbers(opened, found):
    for name, expected in asdict(found.outcome).items():
        assert opened[name] == pytest.approx(expected, rel=0, abs=ROUNDING, nan_ok=True), name
    assert opened["applying_groups"] == found.applying_groups
    frame, shares = found.to_frame(), found.shares.tolist()
    for name in GROUP_NUMBERS:
        shown = [group[name] for group in opened["groups"]]
        if name in COUNTS:
            assert shown == frame[name].tolist(), name
        assert shown == pytest.approx(frame[name].tolist(), rel=0, abs=ROUNDING, nan_ok=True), name
    assert [group["share"] for group in opened["groups"]] == shares
    assert [group["applies"] for group in opened["groups"]] == found.applies.tolist()
    assert [group["name"] for group in opened["groups"]] == found.names


def assert_same_words(opened, found):
    assert opened["verdict"] == found.verdict()
    assert opened["sentences"] == found.sentences()
    assert opened["warnings"] == [
        group_warning(row.selected, row.precision_low, row.precision_high, row.cost)
        for row in found.to_frame().itertuples()
    ]


def test_two_hundred_random_audits_and_their_pages_agree_in_every_number_and_every_word(show):
    audits = [random_audit(seed) for seed in range(200)]
    given = [embedded_text(found.to_html()) for found in audits]
    opened = show(example()).evaluate("all => all.map((text) => selfselect.opened(JSON.parse(text)))", given)
    for seed, (found, page) in enumerate(zip(audits, opened, strict=True)):
        try:
            assert_same_numbers(page, found)
            assert_same_words(page, found)
        except AssertionError as error:
            raise AssertionError(f"audit of seed {seed}: {error}") from error


def test_the_random_audits_are_of_every_kind():
    audits = [random_audit(seed) for seed in range(200)]
    thresholds = [found.threshold for found in audits if found.threshold is not None]
    scores = [(found.curves.threshold.max(), found.threshold) for found in audits if found.curves is not None]
    assert {len(found.names) for found in audits} == set(range(1, 13))
    assert {-np.inf, np.inf} <= set(thresholds)
    assert len(thresholds) < len(audits)
    assert any(np.unique(found.curves.threshold).size > 201 for found in audits if found.curves)
    assert any(largest < threshold < 1 for largest, threshold in scores)
    assert any(len(found.population) < len(found.published) for found in audits)
    assert {found.terms.kind for found in audits} == {"additive", "proportional"}
    assert {found.terms.uniform_cost is None for found in audits} == {True, False}
    assert {found.terms.behaviour for found in audits} == {HardRule(), HardRule("apply")}
    assert any("further subsidy" in " ".join(found.sentences()) for found in audits)
    assert {found.applying_groups == 0 for found in audits} == {True, False}


def test_shares_between_nobody_and_everybody_lead_to_the_librarys_outcome(show):
    class Halves:
        """A quarter of each group, and another quarter where it is worth it: between the hard rule's answers."""

        def shares(self, true_positives, selected, costs):
            return 0.25 + 0.25 * np.asarray(HardRule().shares(true_positives, selected, costs), dtype=float)

    found = example(cost=0.6)
    divided = found.under(Terms(0.6, behaviour=Halves()))
    given = content_of(found)
    page = show(found)
    shown = page.evaluate(
        "([given, shares]) => selfselect.outcome(given.published, given.threshold_position, shares)",
        [given, divided.shares.tolist()],
    )
    assert shown == pytest.approx(asdict(divided.outcome), rel=0, abs=ROUNDING)
    assert 0 < shown["application_rate"] < 1


# ---------------------------------------------------------------- the script in its files


def script(name):
    """Code of one file, without comments and without what it says."""
    text = files("selfselect.report").joinpath(f"scripts/{name}.js").read_text(encoding="utf-8")
    text = re.sub(r"//[^\n]*", "", text)
    text = re.sub(r'"[^"\n]*"', '""', text)
    return re.sub(r"`[^`]*`", lambda quoted: " ".join(re.findall(r"\$\{([^}]*)\}", quoted[0])), text)


def declared(text):
    """Names that a file adds to the scope that all files share."""
    names = re.findall(r"^(?:const|let|function|class) (\w+)", text, re.M)
    for several in re.findall(r"^const \{([^}]*)\} =", text, re.M):
        names += [part.split(":")[-1].strip() for part in several.split(",") if part.strip()]
    return names


def test_every_file_of_the_script_is_joined_and_has_one_small_job():
    stored = {path.name for path in files("selfselect.report").joinpath("scripts").iterdir()}
    assert stored == {f"{name}.js" for name in SCRIPTS}
    for name in SCRIPTS:
        assert len(script(name).splitlines()) <= 250, name


def test_each_file_of_the_script_uses_only_names_of_those_before_it():
    names = {name: declared(script(name)) for name in SCRIPTS}
    everything = [name for several in names.values() for name in several]
    assert len(everything) == len(set(everything)) > 100
    for position, name in enumerate(SCRIPTS):
        later = {word for other in SCRIPTS[position + 1 :] for word in names[other]}
        used = set(re.findall(r"(?<![\w.])\w+(?![\w:])", script(name)))
        assert not used & later, name
