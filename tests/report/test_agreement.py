"""The page and the library say the same: number by number, sentence by sentence, in a real browser."""

import re
from dataclasses import asdict
from importlib.resources import files

import numpy as np
import pytest
from scipy.special import betainc, betaincinv

from cases import all_cases
from pages import content_of, embedded_text, example, random_audit
from selfselect.behaviour import BestResponse, PromisedRule, SureRule, highest_cost
from selfselect.costs import Terms
from selfselect.report.rendering import DOCUMENT_SCRIPTS, SCRIPTS
from selfselect.report.sentences.audits import group_warnings

GROUP_NUMBERS = (
    "n selected true_positives base_rate selection_rate precision precision_low precision_high accuracy cost "
    "subsidy_needed utility"
).split()
BOUNDS = "base_rate_low base_rate_high accuracy_low accuracy_high".split()
PROMISES = "delivered delivered_low delivered_high".split()
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
    bounds = BOUNDS if not found.published.counts.labels_known else []
    for name in GROUP_NUMBERS + bounds + (PROMISES if found.of_new_people else []):
        shown = [group[name] for group in opened["groups"]]
        if name in COUNTS:
            assert shown == frame[name].tolist(), name
        assert shown == pytest.approx(frame[name].tolist(), rel=0, abs=ROUNDING, nan_ok=True), name
    assert [group["share"] for group in opened["groups"]] == shares
    assert [group["applies"] for group in opened["groups"]] == found.applies.tolist()
    max_accepted_cost = [group["max_accepted_cost"] for group in opened["groups"]]
    limits = found.terms.max_accepted_cost(found.published.counts)
    assert max_accepted_cost == pytest.approx(limits.tolist(), rel=0, abs=ROUNDING, nan_ok=True)
    if found.of_new_people:
        assert [group["promise_kept"] for group in opened["groups"]] == frame["promise_kept"].tolist()
        assert opened["promises"] == found.to_dict()["promises"]
    assert (opened["promises"] is None) == (not found.of_new_people)
    assert [group["name"] for group in opened["groups"]] == found.names


def assert_same_words(opened, found):
    assert opened["verdict"] == found.verdict()
    assert opened["sentences"] == found.sentences()
    assert opened["warnings"] == group_warnings(found)


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


def counted(found):
    counts = found.published.counts
    return counts.true_positives, counts.selected, found.terms.effective_cost(found.published.groups)


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
    assert {found.terms.behaviour for found in audits} >= {
        BestResponse(),
        BestResponse("apply"),
        SureRule(0.9),
        SureRule(0.99),
    }
    sure = [found for found in audits if isinstance(found.terms.behaviour, SureRule)]
    assert len(sure) > 80
    assert any(found.terms.behaviour.undefined == "apply" for found in sure)
    assert sum(isinstance(found.terms.behaviour, PromisedRule) for found in sure) > 10
    assert sum(found.curves is not None for found in sure) > 40
    assert sum((found.applies != BestResponse().shares(*counted(found))).any() for found in sure) > 20
    promises = [set(found.promises()["promise_kept"]) for found in audits if found.of_new_people]
    assert set().union(*promises) == {"yes", "no", "undecided", ""}
    assert any("The largest gap is in" in found.verdict() for found in audits)
    assert any((found.published.counts.n % 1).any() for found in audits)
    assert any("further subsidy" in " ".join(found.sentences()) for found in audits)
    assert {found.applying_groups == 0 for found in audits} == {True, False}
    unknown = [found for found in audits if not found.population.counts.labels_known]
    assert sum("Some numbers are ranges" in found.verdict() for found in unknown) > 10
    assert any(found.of_new_people for found in unknown)
    assert any("could go either way" in found.verdict() for found in audits)
    assert any("certain for every group" in found.verdict() for found in audits)
    assert any("count as only" in " ".join(group_warnings(found)) for found in audits)


def test_shares_between_nobody_and_everybody_lead_to_the_librarys_outcome(show):
    class Halves:
        """A quarter of each group, and another quarter where it is worth it: between the hard rule's answers."""

        def shares(self, true_positives, selected, costs):
            return 0.25 + 0.25 * np.asarray(BestResponse().shares(true_positives, selected, costs), dtype=float)

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


# ---------------------------------------------------------------- chances and bounds

PASSED = [1, 2, 3, 7, 15, 16, 29, 100, 1234, 1_000_000, 0.25, 1.75, 33.3, 1000.125]
SHARES = [0, 1e-6, 0.01, 0.2, 0.5, 0.77, 0.99, 1]
LEVELS = [0.3, 0.5, 0.9, 0.975, 0.99, 0.9999]


def grid():
    """Hits and people who pass: nobody and everybody, few and many, whole and not."""
    whole = {(round(n * share), n) for n in PASSED for share in SHARES if n % 1 == 0}
    parts = {(n * share, n) for n in PASSED for share in SHARES if n % 1 or n < 100}
    return sorted(whole | parts)


def test_the_pages_bounds_are_those_of_scipy(show):
    given = [(hits, passed, 1 - level) for hits, passed in grid() for level in LEVELS]
    found = show(example()).evaluate("all => all.map((given) => selfselect.chances.lower_bound(...given))", given)
    hits, passed, tail = np.array(given).T
    some = hits > 0
    expected = np.zeros(len(hits))
    expected[some] = betaincinv(hits[some], (passed - hits + 1)[some], tail[some])
    assert found == pytest.approx(expected.tolist(), rel=0, abs=ROUNDING)


def test_the_pages_chances_are_those_of_scipy(show):
    costs = [0, 1e-9, 0.05, 0.3, 0.5, 0.7, 0.95, 1]
    given = [(hits, passed, cost) for hits, passed in grid() for cost in costs]
    found = show(example()).evaluate(
        "all => all.map((given) => [selfselect.chances.at_least(...given), selfselect.chances.at_most(...given)])",
        given,
    )
    hits, passed, cost = np.array(given).T
    at_least, at_most = np.ones(len(hits)), np.ones(len(hits))
    some, fewer = hits > 0, hits < passed
    at_least[some] = betainc(hits[some], (passed - hits + 1)[some], cost[some])
    at_most[fewer] = betainc((passed - hits)[fewer], hits[fewer] + 1, 1 - cost[fewer])
    assert np.array(found) == pytest.approx(np.column_stack([at_least, at_most]), rel=0, abs=5e-13)


@pytest.mark.parametrize("level", LEVELS)
def test_at_the_bound_itself_the_page_decides_as_the_library_does(show, level):
    rule = SureRule(level)
    counts = np.array([(hits, passed) for hits, passed in grid() if hits > 0])
    limits = highest_cost(rule, *counts.T)
    near = [-1e-6, -1e-10, -1e-12, 0, 5e-13, 2.5e-12, 1e-10, 1e-6]
    hits, passed, bound = (np.repeat(values, len(near)) for values in (*counts.T, limits))
    costs = np.clip(bound + np.tile(near, len(counts)), 0, 1)
    expected = rule.shares(hits, passed, costs)
    shown = show(example()).evaluate(
        "([level, all]) => all.map((given) => selfselect.share({ rule: 'sure', confidence: level }, ...given))",
        [level, np.column_stack([hits, passed, costs]).tolist()],
    )
    assert shown == expected.astype(int).tolist()
    assert set(shown) == {0, 1}


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
    assert stored == {f"{name}.js" for name in [*SCRIPTS, *DOCUMENT_SCRIPTS]}
    for name in [*SCRIPTS, *DOCUMENT_SCRIPTS]:
        assert len(script(name).splitlines()) <= 250, name


@pytest.mark.parametrize(("scripts", "fewest"), [(SCRIPTS, 100), (DOCUMENT_SCRIPTS, 40)])
def test_each_file_of_the_script_uses_only_names_of_those_before_it(scripts, fewest):
    names = {name: declared(script(name)) for name in scripts}
    everything = [name for several in names.values() for name in several]
    assert len(everything) == len(set(everything)) > fewest
    for position, name in enumerate(scripts):
        later = {word for other in scripts[position + 1 :] for word in names[other]}
        used = set(re.findall(r"(?<![\w.])\w+(?![\w:])", script(name)))
        assert not used & later, name
