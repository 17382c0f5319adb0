"""The page and the library say the same: number by number, sentence by sentence, in a real browser."""

from dataclasses import asdict, replace
from importlib.resources import files
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.special import betainc, betaincinv
from scipy.stats import norm

from cases import all_cases
from pages import content_of, embedded_text, example, random_audit
from responses import Hesitant, Shrunk, Wary
from selfselect.behaviour import BestResponse, BetaBeliefs, LogitResponse, PrivateCosts
from selfselect.costs import Terms
from selfselect.report.rendering import DOCUMENT_SCRIPTS, SCRIPTS
from selfselect.report.sentences.audits import group_warnings
from selfselect.statistics import Guaranteed, LowerBound, Precision, Published

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


def assert_same_numbers(opened, audited):
    for name, expected in asdict(audited.outcome).items():
        assert opened[name] == pytest.approx(expected, rel=0, abs=ROUNDING, nan_ok=True), name
    assert opened["applying_groups"] == audited.applying_groups
    frame, shares = audited.to_frame(), audited.shares.tolist()
    bounds = BOUNDS if not audited.published.counts.labels_known else []
    for name in GROUP_NUMBERS + bounds + (PROMISES if audited.of_new_people else []):
        shown = [group[name] for group in opened["groups"]]
        if name in COUNTS:
            assert shown == frame[name].tolist(), name
        assert shown == pytest.approx(frame[name].tolist(), rel=0, abs=ROUNDING, nan_ok=True), name
    assert [group["share"] for group in opened["groups"]] == shares
    assert [group["applies"] for group in opened["groups"]] == audited.applies.tolist()
    max_accepted_cost = [group["max_accepted_cost"] for group in opened["groups"]]
    limits = audited.terms.max_accepted_cost(audited.published.groups, audited.published.counts)
    assert max_accepted_cost == pytest.approx(limits.tolist(), rel=0, abs=ROUNDING, nan_ok=True)
    if audited.of_new_people:
        assert [group["promise_kept"] for group in opened["groups"]] == frame["promise_kept"].tolist()
        assert opened["promises"] == audited.to_dict()["promises"]
    assert (opened["promises"] is None) == (not audited.of_new_people)
    assert [group["name"] for group in opened["groups"]] == audited.names


def assert_same_words(opened, audited):
    assert opened["verdict"] == audited.verdict()
    assert opened["sentences"] == audited.sentences()
    assert opened["warnings"] == group_warnings(audited)


def assert_agreement(show, audits):
    given = [embedded_text(audited.to_html(min_cell=0)) for audited in audits]
    opened = show(example()).evaluate("all => all.map((text) => selfselect.opened(JSON.parse(text)))", given)
    for seed, (audited, page) in enumerate(zip(audits, opened, strict=True)):
        try:
            assert_same_numbers(page, audited)
            assert_same_words(page, audited)
        except AssertionError as error:
            raise AssertionError(f"audit of seed {seed}: {error}") from error


def test_two_hundred_random_audits_and_their_pages_agree_in_every_number_and_every_word(show):
    assert_agreement(show, [random_audit(seed) for seed in range(200)])


def test_the_random_audits_are_of_every_kind():
    audits = [random_audit(seed) for seed in range(200)]
    assert {len(audited.names) for audited in audits} == set(range(1, 13))
    assert {-np.inf, np.inf, None} <= {audited.threshold for audited in audits}
    assert any(np.unique(audited.curves.threshold).size > 201 for audited in audits if audited.curves)
    assert {audited.terms.kind for audited in audits} == {"additive", "proportional"}
    assert {audited.terms.uniform_cost is None for audited in audits} == {True, False}
    kinds = {(type(audited.terms.statistic), audited.terms.behaviour.undefined) for audited in audits}
    assert kinds == {(kind, way) for kind in (Precision, LowerBound, Guaranteed) for way in ("apply", "abstain")}
    by_precision = [audited.under(replace(audited.terms, statistic=Precision())) for audited in audits]
    differs = [not one.applies.equals(other.applies) for one, other in zip(audits, by_precision, strict=True)]
    assert sum(differs) > 20
    promises = [set(audited.promises()["promise_kept"]) for audited in audits if audited.of_new_people]
    assert set().union(*promises) == {"yes", "no", "undecided", ""}
    assert any((audited.published.counts.n % 1).any() for audited in audits)
    assert {audited.applying_groups == 0 for audited in audits} == {True, False}
    said = " ".join(" ".join([audited.verdict(), *audited.sentences(), *group_warnings(audited)]) for audited in audits)
    for text in ("The largest gap is in", "further subsidy", "Some numbers are ranges", "could go either way",
                 "No 95% interval of precision", "count as only"):  # fmt: skip
        assert text in said


RESPONSES = [
    LogitResponse(0.05), BetaBeliefs(0.6, 20), Hesitant(), Wary(), BetaBeliefs(0.6, 20, LogitResponse(0.1)),
    PrivateCosts(norm(0.02, 0.1)),
]  # fmt: skip


def under_other_parts(seed):
    """A random audit under one of the other behaviours, or of a statistic that the page does not know."""
    audited, i = random_audit(seed), seed % (len(RESPONSES) + 1)
    if i == len(RESPONSES):
        return audited.under(replace(audited.terms, statistic=Shrunk()))
    return audited.under(replace(audited.terms, behaviour=RESPONSES[i]))


def test_audits_under_other_behaviours_and_their_pages_agree_in_every_number_and_every_word(show):
    audits = [under_other_parts(seed) for seed in range(70)]
    assert_agreement(show, audits)
    shares = np.concatenate([audited.shares for audited in audits])
    assert ((shares > 0.05) & (shares < 0.95)).sum() > 50


@pytest.mark.parametrize("response", [*RESPONSES, None], ids=lambda response: type(response).__name__)
def test_at_every_cost_the_table_of_shares_gives_those_of_the_library_and_the_same_decisions(show, response):
    terms = Terms(0.7, statistic=Shrunk()) if response is None else Terms(0.7, behaviour=response)
    audited = example().under(terms)
    data, table = content_of(audited), audited.published
    behaviour, counts, groups = data["terms"]["behaviour"], data["published"], table.groups
    rng = np.random.default_rng(0)
    chosen = [data["threshold_position"], *rng.integers(len(data["thresholds"]), size=20).tolist()]
    asked, expected = [], []
    for t in chosen:
        here = replace(table.counts, **{name: np.array(counts[name][t]) for name in ("selected", "true_positives")})
        limits = terms.max_accepted_cost(groups, here)
        for cost in [0, 0.305, 0.7, 1, *rng.random(4), *np.clip(limits[~np.isnan(limits)] + 1e-9, 0, 1), *limits]:
            if not np.isnan(cost):
                pairs = zip(here.true_positives.tolist(), here.selected.tolist(), range(len(groups)), strict=True)
                asked += [(hits, passed, float(cost), z) for hits, passed, z in pairs]
                expected += terms.at_cost(float(cost)).shares(groups, here).astype(float).tolist()
    shown = show(audited).evaluate(
        "([behaviour, all]) => all.map((given) => selfselect.share(behaviour, ...given))", [behaviour, asked]
    )
    kinked = isinstance(response, Hesitant)
    assert shown == pytest.approx(expected, rel=0, abs=8e-3 if kinked else 1e-3)  # a line between hundredths
    assert [share >= 0.5 for share in shown] == [share >= 0.5 for share in expected]


# ---------------------------------------------------------------- chances and bounds

PASSED = [1, 2, 3, 7, 15, 16, 29, 100, 1234, 1_000_000, 0.25, 1.75, 33.3, 1000.125]
SHARES = [0, 1e-6, 0.01, 0.2, 0.5, 0.77, 0.99, 1]
LEVELS = [0.3, 0.5, 0.9, 0.975, 0.99, 0.9999]


def grid():
    """Hits and people who pass: nobody and everybody, few and many, whole and not."""
    whole = {(round(n * share), n) for n in PASSED for share in SHARES if n % 1 == 0}
    parts = {(n * share, n) for n in PASSED for share in SHARES if n % 1 or n < 100}
    return sorted(whole | parts)


def test_the_pages_bounds_and_chances_are_those_of_scipy(show):
    page = show(example())

    def on_page(name, numbers):
        given = [(*counts, number) for counts in grid() for number in numbers]
        return given, page.evaluate(f"all => all.map((given) => selfselect.chances.{name}(...given))", given)

    given, bounds = on_page("lower_bound", [1 - level for level in LEVELS])
    hits, passed, tail = np.array(given).T
    expected = np.where(hits > 0, betaincinv(np.maximum(hits, 1e-9), passed - hits + 1, tail), 0)
    assert bounds == pytest.approx(expected.tolist(), rel=0, abs=ROUNDING)
    costs = [0, 1e-9, 0.05, 0.3, 0.5, 0.7, 0.95, 1]
    given, at_least = on_page("at_least", costs)
    hits, passed, cost = np.array(given).T
    expected = np.where(hits > 0, betainc(np.maximum(hits, 1e-9), passed - hits + 1, cost), 1)
    assert at_least == pytest.approx(expected.tolist(), rel=0, abs=5e-13)
    missed = passed - hits
    expected = np.where(missed > 0, betainc(np.maximum(missed, 1e-9), hits + 1, 1 - cost), 1)
    assert on_page("at_most", costs)[1] == pytest.approx(expected.tolist(), rel=0, abs=5e-13)


@pytest.mark.parametrize("level", LEVELS)
def test_at_the_bound_itself_the_page_decides_as_the_library_does(show, level):
    counts = np.array([(hits, passed) for hits, passed in grid() if hits > 0])

    def published(hits, passed):
        return Published(SimpleNamespace(true_positives=hits, selected=passed), LowerBound(level))

    limits = published(*counts.T).value
    near = [-1e-6, -1e-10, -1e-12, 0, 5e-13, 2.5e-12, 1e-10, 1e-6]
    hits, passed, bound = (np.repeat(values, len(near)) for values in (*counts.T, limits))
    costs = np.clip(bound + np.tile(near, len(counts)), 0, 1)
    expected = BestResponse().shares(published(hits, passed), costs)
    shown = show(example()).evaluate(
        "([level, all]) => all.map((given) => selfselect.share({ rule: 'sure', confidence: level }, ...given))",
        [level, np.column_stack([hits, passed, costs]).tolist()],
    )
    assert shown == expected.astype(int).tolist()
    assert set(shown) == {0, 1}


# ---------------------------------------------------------------- the script in its files


def test_every_file_of_the_script_is_in_a_page():
    stored = {path.name for path in files("selfselect.report").joinpath("scripts").iterdir()}
    assert stored == {f"{name}.js" for name in [*SCRIPTS, *DOCUMENT_SCRIPTS]}
