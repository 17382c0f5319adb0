"""The report in a real browser."""

from dataclasses import replace

import numpy as np
import pytest

from drawn import table_of
from pages import elsewhere, example, people, settle
from selfselect import audit
from selfselect._formats import amount, amount_up, count, percent
from selfselect.auditing import Audit, ScreeningResult
from selfselect.behaviour import LogitResponse
from selfselect.costs import Terms
from selfselect.planning import plan_for
from selfselect.report.sentences.audits import behaviour_text, group_statuses, group_warnings
from selfselect.report.sentences.words import range_text
from selfselect.report.tables import effect_rows, payment_rows, status_text
from selfselect.statistics import LowerBound, Precision


def cells(page):
    """The table of groups as text: {name: {column: text}}."""
    return page.evaluate(
        """() => {
          const heads = [...document.querySelectorAll('#groups thead th')]
            .map(th => th.textContent.replace(/ [▾▴]$/, ''));
          return Object.fromEntries([...document.querySelectorAll('#groups tbody tr')].map(tr => [
            tr.querySelector('bdi').textContent,
            Object.fromEntries([...tr.cells].map((td, i) => [heads[i],
              td.querySelector('.below') ? [...td.childNodes].map(part => part.textContent).join(' ').trim()
                : td.textContent]))]));
        }"""
    )


def assert_page_equals(page, audited):
    """Everything shown agrees with the library; numbers that are not rounded: test_agreement.py."""
    text = lambda name: page.text_content(f"#{name}")  # noqa: E731
    result, frame = audited.outcome, audited.to_frame()
    assert text("verdict") == audited.verdict()
    is_open = audited.undecided is not None and audited.undecided.any()
    ranges = {} if not is_open else audited.either_way()
    for name in ("assumed_accuracy", "induced_accuracy", "social_cost", "application_rate"):
        value = getattr(result, name)
        assert text(name) == range_text(*ranges.get(name, (value, value))), name
    rejected = audited.qualified_rejected
    assert text("qualified_rejected") == range_text(*ranges.get("qualified_rejected", (rejected, rejected)))
    if not is_open:
        assert text("applying_groups") == f"{result.applying_groups} of {len(frame)} groups"
    shown = cells(page)
    wide = audited.of_new_people or audited.terms.confidence is not None or behaviour_text(audited.terms) is not None
    told = page.locator("#sentences li").all_text_contents()
    rows = zip(audited.names, frame.itertuples(), audited.sentences(), group_warnings(audited), strict=True)
    for name, row, sentence, warning in rows:
        assert shown[name]["Status"] == status_text(row._asdict())
        assert shown[name]["People"] == count(row.n)
        assert shown[name]["Pass"] == count(row.selected)
        assert shown[name]["Qualified"] == percent(row.base_rate)
        interval = f"{percent(row.precision_low)} to {percent(row.precision_high)}" if row.selected else ""
        assert shown[name]["Precision"] == f"{percent(row.precision)} {interval if wide else ''}".strip()
        assert shown[name]["Accuracy"] == percent(row.accuracy)
        assert shown[name]["Qualified who pass"] == percent(row.true_positive_rate)
        assert shown[name]["Others who pass"] == percent(row.false_positive_rate)
        if row.selected and not wide:
            assert shown[name]["95% interval"] == interval
        if audited.of_new_people:
            interval = f" {percent(row.delivered_low)} to {percent(row.delivered_high)}"
            told_so = percent(row.delivered) + ("" if np.isnan(row.delivered) else interval)
            assert shown[name]["New precision"] == told_so
            assert shown[name]["As published"] == (row.promise_kept or "\N{EN DASH}")
        if warning or status_text(row._asdict()) != "applies":
            assert " ".join([sentence, *([f"{warning[0].upper()}{warning[1:]}."] if warning else [])]) in told
        needed = "none helps" if np.isnan(row.subsidy_needed) else amount_up(row.subsidy_needed)
        needed = "\N{EN DASH}" if row.applies else needed
        assert shown[name]["Still needed"] == (needed.ljust(len("0.000"), "0") if needed[0] == "0" else needed)
    if audited.terms.confidence is not None or behaviour_text(audited.terms) is not None:
        limits = audited.terms.max_accepted_cost(audited.published.groups, audited.published.counts)
        heading = "Accepts up to"
        if audited.terms.confidence is not None:
            heading = "Lower bound"
        assert [shown[name][heading] for name in audited.names] == [percent(limit) for limit in limits]


CHARTS = ("who", "curves", "bars", "costs", "scatter")


def in_sight(page, name):
    """A chart, drawn because it can be seen."""
    page.locator(f"#chart-{name}").scroll_into_view_if_needed()
    page.wait_for_selector(f"#chart-{name} svg")
    settle(page)
    return page.locator(f"#chart-{name} svg.plot").first


def go_to(page, cost, rest=""):
    """Set the address to a cost and what else it says."""
    page.evaluate("hash => { location.hash = hash; }", f"c={cost}{rest}")
    page.wait_for_function("cost => document.getElementById('cost-exact').value === String(cost)", arg=cost)
    settle(page)


def words_in(chart):
    return chart.locator("text").all_text_contents()


@pytest.mark.parametrize("kind", ["additive", "proportional"])
@pytest.mark.parametrize("statistic", [Precision(), LowerBound(0.9)])
def test_at_random_settings_from_the_address_the_page_equals_the_library(show, kind, statistic):
    audited = example().under(Terms(0.7, kind=kind, statistic=statistic))
    page = show(audited)
    assert_page_equals(page, audited)
    offered = page.evaluate("() => JSON.parse(document.getElementById('data').textContent).thresholds")
    rng = np.random.default_rng(0)
    changed = 0
    for _ in range(15):
        cost, threshold = round(float(rng.random()), 3), offered[rng.integers(len(offered))]
        paid = {group: round(float(rng.choice([0, rng.random() / 2])), 3) for group in audited.names}
        if kind == "additive":  # more than the cost is refused by the library
            paid = {group: min(amount, cost) for group, amount in paid.items()}
        pairs = ",".join(f"{audited.names.index(group)}:{amount}" for group, amount in paid.items())
        shown = "none" if threshold is None else repr(threshold)
        go_to(page, cost, f"&t={shown}&s={pairs}")
        here = elsewhere(audited, -np.inf if threshold is None else threshold, cost, paid)
        assert_page_equals(page, here)
        changed += not here.applies.equals(here.under(replace(here.terms, statistic=Precision())).applies)
    assert (changed > 0) == isinstance(statistic, LowerBound)  # the bound kept somebody away
    assert ("One-sided Clopper-Pearson" in page.text_content("main")) == isinstance(statistic, LowerBound)
    page.click("#reset")
    page.click("#least")
    settle(page)
    assert page.text_content("#application_rate").endswith("100.0%")  # who is paid just enough could go either way


def test_under_another_behaviour_the_page_says_so_and_draws_everything(show):
    audited = example().under(Terms(0.7, {"B": 0.05}, behaviour=LogitResponse(0.1)))
    page = show(audited)
    assert_page_equals(page, audited)
    assert "People respond by LogitResponse(scale=0.1)." in page.text_content(".explained")
    assert "At least half of the group does, by LogitResponse(scale=0.1)." in page.text_content("#part-about")
    page.click("#least")
    found = page.evaluate("() => selfselect.compute()")
    assert all(group["applies"] for group in found["groups"])
    assert min(group["share"] for group in found["groups"]) == pytest.approx(0.5, abs=1e-3)
    for chart in CHARTS:
        in_sight(page, chart)


def test_sliders_and_subsidies_move_with_keyboard_and_typing(show):
    audited = example()
    page = show(audited)
    page.focus("#cost")
    for _ in range(4):
        page.keyboard.press("ArrowRight")
    assert page.input_value("#cost-exact") == "0.72"
    assert_page_equals(page, elsewhere(audited, cost=0.72))
    page.focus("#threshold")
    page.keyboard.press("ArrowLeft")
    there = float(page.input_value("#threshold-exact"))
    assert there < 0.5
    assert_page_equals(page, elsewhere(audited, there, 0.72))
    page.fill("#cost-exact", "0.815")
    page.fill("input[aria-label='Subsidy for A']", "0.25")
    settle(page)
    assert_page_equals(page, elsewhere(audited, there, 0.815, {"A": 0.25}))
    page.focus("input[aria-label='Slider of the subsidy for C']")
    page.keyboard.press("PageUp")
    page.keyboard.press("ArrowRight")
    paid = float(page.input_value("input[aria-label='Subsidy for C']"))
    assert paid > 0.005
    assert_page_equals(page, elsewhere(audited, there, 0.815, {"A": 0.25, "C": paid}))
    page.click("#reset")
    settle(page)
    assert_page_equals(page, audited)


def test_a_setting_is_in_the_address_and_going_back_brings_back_the_last_one(show):
    audited = example()
    page = show(audited)
    go_to(page, 0.6)
    page.go_back()
    page.wait_for_function("() => document.getElementById('cost-exact').value === '0.7'")
    settle(page)
    assert_page_equals(page, audited)
    page.fill("#cost-exact", "0.65")
    page.fill("input[aria-label='Subsidy for B']", "0.1")
    settle(page)
    other = show(audited, page.evaluate("() => location.hash"))
    assert_page_equals(other, elsewhere(audited, cost=0.65, subsidies={"B": 0.1}))
    nonsense = show(audited, "#c=7&t=elephant&s=99:1,x:2,1:-3&d=1000,<script>&zzz")
    assert_page_equals(nonsense, audited)


def test_least_subsidies_are_those_of_a_plan_and_each_group_is_drawn_against_its_own_cost(show):
    audited, plan = example(), plan_for(example())
    page = show(audited)
    page.click("#least")
    settle(page)
    assert page.text_content("#recipients").startswith(f"to {count(plan.recipients)} people")
    assert page.text_content("#paid") == amount(plan.total)  # what the plan pays, and not what it shows rounded up
    costs = {g["name"]: g["cost"] for g in page.evaluate("() => selfselect.compute().groups")}
    assert len(set(costs.values())) > 1
    who, curves = words_in(in_sight(page, "who")), words_in(in_sight(page, "curves"))
    assert not any(text.startswith("better off from") for text in who)
    for cost in costs.values():
        assert any(text.endswith(f"needs {percent(cost)}") for text in who)
        assert any(text.startswith(f"cost {amount(cost)} of ") for text in curves)
    # the dot of a group that applies is never left of its own line
    for row in page.evaluate("() => selfselect.csv('who')").splitlines()[1:]:
        group, status, _, precision, _, _, cost = row.split(",")
        assert status != "applies" or float(precision) >= float(cost) - 1e-9, group
    page.click("#no-subsidies")
    settle(page)
    assert_page_equals(page, audited)


def test_charts_and_files_of_those_who_go_by_the_bound_have_it(show):
    audited = example().under(Terms(0.7, statistic=LowerBound(0.9)))
    page = show(audited)
    lines = page.evaluate("() => selfselect.csv('curves')").splitlines()
    columns = lines[0].split(",")
    row = dict(zip(columns, lines[len(lines) // 2].split(","), strict=True))
    there = elsewhere(audited, float(row["threshold"]))
    limits = there.terms.max_accepted_cost(there.published.groups, there.published.counts)
    for name, precision, limit in zip(audited.names, there.published.precision, limits, strict=True):
        assert float(row[name]) == precision
        assert float(row[f"{name} (lower bound)"]) == pytest.approx(limit, abs=1e-12)
    bars = [line.split(",") for line in page.evaluate("() => selfselect.csv('bars')").splitlines()[1:]]
    for name, start, _ in bars:
        if start not in ("never", "none"):
            assert elsewhere(audited, float(start)).applies[name]
    groups = page.evaluate("() => selfselect.csv('groups')").splitlines()
    assert groups[0].endswith("utility,max_accepted_cost")


def test_a_broken_promise_is_in_the_headline_and_beside_its_group(show):
    published = table_of(**dict.fromkeys("ABC", (400, 200, 100, 90)), D=(400, 100, 100, 40))
    new = table_of(A=(200, 100, 40, 38), B=(200, 100, 40, 20), C=(200, 100, 40, 29), D=(200, 100, 40, 1))
    audited = Audit(ScreeningResult(published), ScreeningResult(new), Terms(0.7, statistic=LowerBound(0.9)))
    page = show(audited)
    assert_page_equals(page, audited)
    kept = {name: row["As published"] for name, row in cells(page).items()}
    assert kept == {"A": "yes", "B": "no", "C": "undecided", "D": "\N{EN DASH}"}
    assert page.text_content("h1 .broken").startswith("New applicants from B did worse than published.")
    assert page.text_content("#broken") == "1 of 3"
    assert page.text_content("#kept") == "1 as published, 1 undecided"
    page.fill("#cost-exact", "0.45")
    settle(page)
    assert_page_equals(page, audited.at(0.45))
    assert page.locator("h1 .broken").count() == 0
    assert page.locator("h1 .promised").count() == 1
    groups = page.evaluate("() => selfselect.csv('groups')").splitlines()
    assert groups[0].endswith("max_accepted_cost,delivered,delivered_low,delivered_high,promise_kept")


def test_with_predictions_there_is_no_threshold_but_everything_else(show):
    y, score, z = people(["A", "B"])
    audited = audit(y, y_pred=score > 0.5, sensitive_features=z, cost=[0.7, 0.8])
    page = show(audited)
    assert page.locator("#threshold").count() == 0
    assert page.locator(".picture").count() == 3
    page.fill("#cost-exact", "0.6")
    assert_page_equals(page, audited.at(0.6))


def test_the_policy_of_the_page_forbids_everything_external(browser, tmp_path):
    path = tmp_path / "p.html"
    path.write_text(example().to_html(min_cell=0), encoding="utf-8")
    page = browser.new_page()
    page.goto(path.as_uri())
    refused = page.evaluate(
        """async () => {
          const blocked = [];
          addEventListener('securitypolicyviolation', (event) => blocked.push(event.effectiveDirective));
          const image = new Image(); image.src = 'https://example.org/x.png';
          const script = document.createElement('script'); script.textContent = 'window.pwned = 1';
          document.body.append(script);
          document.body.insertAdjacentHTML('beforeend', '<p style="color:red">x</p><a onclick="1">y</a>');
          const answer = await fetch('https://example.org').catch(() => 'refused');
          await new Promise((done) => setTimeout(done, 100));
          return { blocked, answer, pwned: window.pwned === undefined };
        }"""
    )
    page.close()
    assert refused["answer"] == "refused"
    assert refused["pwned"]
    assert {"img-src", "connect-src"} <= set(refused["blocked"])
    assert any(name.startswith("script-src") for name in refused["blocked"])


def test_charts_say_what_the_library_says_move_nothing_below_them_and_can_be_saved(show):
    audited = example()
    page = show(audited, height=500)
    height = "() => document.documentElement.scrollHeight"
    before = page.evaluate(height)
    for name in CHARTS:
        chart = in_sight(page, name)
        assert chart.get_attribute("aria-label").endswith("The numbers are in the table below.")
        assert chart.locator("path, circle, rect, line").count() > 3, name
        assert page.evaluate(height) == before
    in_sight(page, "curves").hover(position={"x": 250, "y": 120})
    page.wait_for_function("() => document.getElementById('told-curves').textContent.startsWith('At a threshold of')")
    drawn = words_in(in_sight(page, "who"))
    for name, row, status in zip(audited.names, audited.to_frame().itertuples(), group_statuses(audited), strict=True):
        needs = f"{percent(row.precision)}, needs {percent(row.cost)}"
        assert {name, status, f"{count(row.n)} people", needs} <= set(drawn)
    in_sight(page, "who").hover(position={"x": 400, "y": 60})
    page.wait_for_function("() => document.getElementById('told-who').classList.contains('says')")
    assert any(page.text_content("#told-who").startswith(sentence) for sentence in audited.sentences())
    page.locator("section.first details summary").click()
    with page.expect_download() as download:
        page.click("button[data-picture='who']")
    picture = download.value.path().read_bytes()
    assert download.value.suggested_filename == "selfselect-who.png"
    assert picture[:8] == b"\x89PNG\r\n\x1a\n"
    assert len(picture) > 10_000


def test_the_last_step_of_a_curve_is_drawn_up_to_the_largest_score(show):
    y, score, z = [1, 0, 1, 1, 1, 0], [0.1, 0.2, 0.5, 0.6, 0.9, 0.4], list("AABBAA")
    page = show(audit(y, score=score, threshold=0.3, sensitive_features=z, cost=0.5))
    chart = in_sight(page, "curves")
    ends = chart.evaluate(
        """svg => [...svg.querySelectorAll('g[data-mark=line] path')].map((path) =>
             svg.scale('x').invert(path.getPointAtLength(path.getTotalLength()).x))"""
    )
    # A has a person at 0.9, so that the last step of its line ends there; that of B at 0.6
    assert sorted(ends) == pytest.approx([0.6, 0.9], abs=1e-3)


def test_controls_have_names_groups_keep_their_colours_and_paper_is_light(show):
    page = show(example(), scheme="dark")
    nameless = page.evaluate(
        """() => [...document.querySelectorAll('input, button, [role=region], [role=img]')].filter(e =>
          !(e.getAttribute('aria-label') || (e.labels && e.labels.length) || e.textContent.trim()))
          .map(e => e.outerHTML)"""
    )
    assert nameless == []
    levels = page.evaluate("() => [...document.querySelectorAll('h1,h2,h3')].map(h => +h.tagName[1])")
    assert levels[0] == 1
    assert set(levels[1:]) == {2}
    assert page.locator("#verdict").get_attribute("aria-live") == "polite"
    colour = """name => getComputedStyle(
      document.querySelector(`input[aria-label='Draw ${name} in the charts']`)).accentColor"""
    before = page.evaluate(colour, "C")
    page.click("#theme")
    assert page.evaluate(colour, "C") == before
    page.uncheck("input[aria-label='Draw A in the charts']")
    assert page.evaluate(colour, "C") == before
    page.check("input[aria-label='Draw A in the charts']")
    assert page.evaluate(colour, "A") != before
    page.click("#theme")
    theme = "() => document.documentElement.dataset.theme"
    assert page.evaluate(theme) == "dark"
    page.evaluate("() => dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    assert page.evaluate(theme) == "light"
    assert page.locator("#groups th button:has-text('Precision')").is_visible()
    assert not page.locator("#reset").is_visible()
    assert len(page.pdf(format="A4")) > 10_000
    page.evaluate("() => dispatchEvent(new Event('afterprint'))")
    assert page.evaluate(theme) == "dark"


def test_two_hundred_groups_can_be_printed_searched_sorted_and_drawn(show):
    names = [f"group {i:03d}" for i in range(200)]
    y, score, z = people(names, n=20_000)
    page = show(audit(y, score=score, sensitive_features=z, cost=0.7))
    rows, checked = page.locator("#groups tbody tr"), page.locator("#groups tbody input:checked")
    for event, shown in (("afterprint", 20), ("beforeprint", 200), ("afterprint", 20)):
        page.evaluate(f"() => dispatchEvent(new Event('{event}'))")
        assert rows.count() == shown
    dots = in_sight(page, "who").locator("g[data-mark=dot] > *").count()
    told = [int(text.split("(")[1].rstrip(")")) for text in page.locator("#key .key-item").all_text_contents()]
    assert dots == sum(told) == 200
    page.click("#more")
    assert (rows.count(), checked.count()) == (200, 8)
    named = page.locator("#groups tbody input[type=checkbox]:not(:checked)").first.get_attribute("aria-label")
    other = page.locator(f"input[aria-label='{named}']")
    other.click()
    assert checked.count() == 8
    assert page.text_content("#groups-told").startswith("At most 8 groups can be drawn in colour.")
    checked.first.uncheck()
    other.click()
    assert other.is_checked()
    assert page.text_content("#groups-told") == ""
    assert named.removeprefix("Draw ").removesuffix(" in the charts") in words_in(in_sight(page, "curves"))
    page.fill("#search", "group 19")
    assert rows.count() == 10
    assert page.text_content("#matches") == "10 of 200 groups"
    for first in ("group 190", "group 199"):
        page.click("#groups th button:has-text('Group')")
        assert page.locator("#groups tbody bdi").first.text_content() == first


def test_groups_that_have_an_order_keep_it(show):
    names = ["(22, 25]", "(25, 28]", "(100, 120]", "<22", "unknown"]
    page = show(example(names))
    assert list(cells(page)) == ["<22", "(22, 25]", "(25, 28]", "(100, 120]", "unknown"]


def test_an_impossible_cost_is_refused_with_words(show):
    audited = example()
    page = show(audited)
    for typed in ("-1", "2"):
        page.fill("#cost-exact", typed)
        assert page.text_content("#cost-wrong") == "A cost must be between 0 and 1. The page still shows 0.70."
        assert page.get_attribute("#cost-exact", "aria-invalid") == "true"
    assert_page_equals(page, audited)
    page.keyboard.press("Tab")  # what was wrong is still said when the number is gone
    assert page.text_content("#cost-wrong").startswith("A cost must be")
    assert page.input_value("#cost-exact") == "0.7"
    page.fill("#cost-exact", "0.6")
    assert page.text_content("#cost-wrong") == ""
    settle(page)
    assert_page_equals(page, audited.at(0.6))


def test_a_threshold_can_be_typed_and_beyond_the_largest_score_nobody_passes(show):
    y, score, z = people(["A", "B"])
    for scores, typed, near in ((np.round(score, 1), "0.43", 0.4), (score, "0.4321987", 0.432)):
        audited = audit(y, score=scores, sensitive_features=z, cost=0.7)
        page = show(audited)
        page.fill("#threshold-exact", typed)
        settle(page)
        told = page.text_content("#threshold-wrong")
        used = float(told.split()[-1].rstrip("."))
        assert used == pytest.approx(near, abs=0.02)
        assert_page_equals(page, elsewhere(audited, used))
        assert typed != "0.43" or told == "The same people pass as at 0.4."
    page.fill("#threshold-exact", "5")
    settle(page)
    assert {row["Pass"] for row in cells(page).values()} == {"0"}
    assert_page_equals(page, elsewhere(audited, score.max()))


def test_headline_key_and_summary_count_the_same_groups(show):
    audited = example(["A", "B", "C", "D", "E", "F"], n=600)
    page = show(audited)
    told = {
        text.split(" (")[0].strip(" \u25cf\u25c6\u25c7\u25cb\u00d7"): int(text.split("(")[1].rstrip(")"))
        for text in page.locator("#key .key-item").all_text_contents()
    }
    certain, either = told.get("applies", 0), told["could go either way"]
    assert page.text_content("#summary-who") == f"{certain} to {certain + either} of 6 groups apply"
    for name, status in zip(audited.names, group_statuses(audited), strict=True):
        if status == "could go either way":
            assert name in audited.verdict().split(". ")[0]


def test_what_a_plan_is_about_opens_its_page(show):
    plan = plan_for(example())
    page = show(plan)
    assert page.text_content("#opening") in plan.verdict()
    text = page.text_content("body")
    for row in payment_rows(plan):
        assert row["group"] in text
        assert row["in all"] in text
    for row in effect_rows(plan):
        assert row["with"] in text


def test_each_chart_has_its_table_and_a_file_without_formulas(show):
    y, score, z = people(["=1+1", "B"])
    audited = audit(y, score=np.round(score, 1), sensitive_features=z, cost=0.7)
    page = show(audited)
    for name in CHARTS:
        page.locator(f"#table-{name}").locator("xpath=ancestor::details[1]").locator("summary").click()
        page.wait_for_selector(f"#table-{name} tbody tr", state="attached")
    with page.expect_download() as download:
        page.click("button[data-csv='groups']")
    text = download.value.path().read_text()
    assert text.splitlines()[0].startswith("group,n,base_rate")
    assert "'=1+1," in text
    assert "\n=1+1" not in text
    costs = page.evaluate("() => selfselect.csv('costs')").splitlines()
    assert len(costs) == 102
    for line in (costs[51], costs[71], costs[91]):
        cost, induced, assumed, social, rate, groups = line.split(",")
        expected = audited.at(float(cost)).outcome
        assert float(assumed) == expected.assumed_accuracy
        assert float(social) == expected.social_cost
        assert int(groups) == expected.applying_groups
        assert float(rate) == expected.application_rate
        assert induced == "" or float(induced) == expected.induced_accuracy


@pytest.mark.parametrize(("width", "scheme"), [(360, "dark"), (760, "light"), (1280, "dark")])
def test_the_page_fits_its_screen_in_both_colours(show, width, scheme):
    names = ["A", "B", "a name of quite some length that has to wrap somewhere"]
    page = show(example(names), width=width, height=844, scheme=scheme)
    assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")
    if width == 360:  # cards with titles, controls for fingers, the graphic on the first screen
        style = "pseudo => getComputedStyle(document.querySelector('#groups tbody td'), pseudo)"
        assert page.evaluate(f"({style})(null).display") == "flex"
        assert page.evaluate(f"({style})('::before').content") != "none"
        assert all(page.locator(name).bounding_box()["height"] >= 44 for name in ("#cost", "#cost-exact", "#least"))
        assert page.locator("#chart-who").bounding_box()["y"] < 844
    if width == 760:  # the names of groups stay in sight while the table is scrolled
        box = page.locator(".scroll:has(#groups)")
        box.evaluate("box => { box.scrollLeft = 300; }")
        assert box.evaluate("box => box.scrollLeft") > 0
        left = box.bounding_box()["x"]
        assert page.locator("#groups tbody th").first.bounding_box()["x"] == pytest.approx(left, abs=2)
    background = page.evaluate("() => getComputedStyle(document.body).backgroundColor")
    assert (background == "rgb(255, 255, 255)") == (scheme == "light")
    page.click("#theme")
    assert page.evaluate("() => getComputedStyle(document.body).backgroundColor") != background


def test_huge_scores_do_not_break_the_charts(show):
    audited = audit(
        [0, 1, 0, 1], score=[-1e308, 1e308, 1.0, 2.0], threshold=0, sensitive_features=list("AABB"), cost=0.5
    )
    assert_page_equals(show(audited), audited)


def test_what_is_known_within_bounds_is_never_shown_as_a_number(show):
    rng = np.random.default_rng(0)
    score, z = rng.random(600), rng.choice(["A", "B"], 600)
    y = np.where(score > 0.5, rng.random(600) < score * np.where(z == "A", 1, 0.8), np.nan)
    audited = audit(y, score=score, sensitive_features=z, cost=0.7, untested=True)
    page, result = show(audited), audited.outcome
    assert page.text_content("#verdict") == audited.verdict()
    for name in ("assumed_accuracy", "induced_accuracy", "social_cost"):
        low, high = (getattr(result, f"{name}_{end}") for end in ("low", "high"))
        assert low < high
        assert page.text_content(f"#{name}") == f"{percent(low)} to {percent(high)}"
    shown, frame = cells(page), audited.to_frame()
    for name, row in frame.iterrows():
        assert shown[name]["Qualified"] == f"{percent(row['base_rate_low'])} to {percent(row['base_rate_high'])}"
        assert shown[name]["Accuracy"] == f"{percent(row['accuracy_low'])} to {percent(row['accuracy_high'])}"
        assert shown[name]["Precision"] == percent(row["precision"])
    assert page.locator("#threshold, #chart-curves, #chart-scatter").count() == 0
    header = page.evaluate("() => selfselect.csv('costs')").splitlines()[0]
    assert "induced accuracy low,induced accuracy high" in header
    assert "base_rate_low" in page.evaluate("() => selfselect.csv('groups')")
    assert "people were not tested" in page.text_content("main")
