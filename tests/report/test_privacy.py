"""What is passed on names nobody: every count that differences of its numbers can form is of ten people or more."""

import itertools
import json
import re

import numpy as np
import pandas as pd
import pytest

from selfselect import NaiveClassifier, audit, compare, load_model, plan_subsidies, save_model, threshold_frontier
from selfselect._errors import InputError
from selfselect.auditing import PairedCounts
from selfselect.datasets import make_base_rate_groups
from selfselect.publishing import MIN_CELL
from selfselect.report.dicts import impact_to_dict, plain_rows
from selfselect.report.page_data import audit_data
from selfselect.simulation import simulate

LEAST = MIN_CELL


def hr_table(rng, n=1470, rate=0.3):
    """People by sex, age and education, with a label and a score, as in the table of the issue."""
    x = rng.normal(size=n)
    y = rng.random(n) < 1 / (1 + np.exp(-(2 * x + np.log(rate / (1 - rate)))))
    groups = pd.DataFrame(
        {
            "sex": rng.choice(["F", "M"], n),
            "age": rng.choice(["18-25", "26-35", "36-50", "51+"], n, p=[0.1, 0.4, 0.4, 0.1]),
            "education": rng.choice(["college", "school", "other"], n, p=[0.6, 0.35, 0.05]),
        }
    )
    return y, np.round(1 / (1 + np.exp(-x - 0.3 * rng.normal(size=n))), 4), groups


def random_audit(seed):
    """Any audit: scores or decisions, one column or several, weights, people who were not tested, or new people."""
    rng = np.random.default_rng(seed)
    n, size = int(rng.integers(100, 3000)), int(rng.integers(1, 12))
    z = rng.choice(size, n, p=rng.dirichlet(np.ones(size)))
    groups = pd.DataFrame({"a": z % 3, "b": z // 3}) if rng.random() < 0.4 else z
    y = rng.random(n) < rng.random(size)[z]
    score = y * rng.random() + rng.normal(size=n)
    score = np.round(score, int(rng.integers(0, 4)))
    given = {"sensitive_features": groups, "cost": float(np.round(rng.uniform(0.2, 0.9), 2))}
    if rng.random() < 0.2:
        given["sample_weight"] = rng.integers(1, 4, n).astype(float)
    if rng.random() < 0.5:
        return audit(y, score=score, threshold=float(np.quantile(score, rng.random())), **given)
    passed = score > np.median(score)
    if rng.random() < 0.5:
        labels = np.where(passed | (rng.random(n) < 0.5), y.astype(float), np.nan)
        return audit(labels, y_pred=passed, untested=True, **given)
    return audit(y, y_pred=passed, **given)


def page_data(page):
    """The numbers that a page computes from."""
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)[1])


def seen_in_page(data):
    """Of each group, all that the page says of it: (n, positives, untested, selected, true positives) at thresholds."""
    for people in filter(None, (data["published"], data["population"])):
        columns = list(zip(data["names"], itertools.count()))
        for name, z in columns:
            untested = people["untested"][z] if people["untested"] else 0
            yield (
                name,
                [
                    (people["n"][z], people["positives"][z], untested, selected[z], hits[z])
                    for selected, hits in zip(people["selected"], people["true_positives"], strict=True)
                ],
            )


def seen_in_rows(rows):
    """The same from the groups of JSON or of a CSV file, whose positives and true positives follow from rates."""
    for row in rows:
        hits = 0 if not row["selected"] else row["selected"] * row["precision"]
        rate = row.get("base_rate")
        if rate is None or rate != rate:
            rate = row["base_rate_low"]
        yield row["group"], (row["n"], rate * row["n"], row.get("untested") or 0, row["selected"], hits)


def small_cells(seen, least=LEAST):
    """Cells that differences form, of each group, which are of fewer people: by threshold step, decision and label."""
    found = []
    for one, other in itertools.combinations({*seen, None}, 2):
        n, positives, untested, selected, hits = one or other
        if one is None or other is None:  # of one row: who passes, and who does not
            missed = positives - hits
            pairs = [(hits, selected - hits), (missed, n - selected - missed - untested), (untested, untested)]
        else:
            pairs = [(one[4] - other[4], (one[3] - one[4]) - (other[3] - other[4]))]
        for pair in pairs:
            cells = np.abs(np.round(pair, 6))
            if cells.max() > 0 and cells.min() < least:
                found.append((one, other, pair))
    return found


def check_audit(result):
    """The groups of every file of an audit; fails on any small cell."""
    return check_parts(result, page_data(result.to_html()), json.loads(result.to_json()))


def check_parts(result, page, content):
    """The same of what a page computes from, and of JSON: with the table that a CSV file holds."""
    weighted = result.published.counts.squares is not None
    by_group = {}
    for name, rows in seen_in_page(page):
        by_group.setdefault(name, set()).update(rows)
    frame = result.protected().to_frame().reset_index(drop=True)
    frame.insert(0, "group", result.protected().row_names())
    for rows in (content["groups"], frame.to_dict("records")):
        for name, row in seen_in_rows(rows):
            by_group[name].add(tuple(np.round(row, 6)))
    if weighted:  # cells are sums of weights, each of which is of effective people: see tests/publishing
        return len(by_group)
    for name, seen in by_group.items():
        assert not small_cells(seen), name
    # totals less the groups that are shown: nobody is left
    n = sum(row["n"] for row in content["groups"])
    assert content["n"] == n
    for passed, people in re.findall(r"([\d,]+) of ([\d,]+) people", result.protected().verdict()):
        rest = int(people.replace(",", "")) - int(passed.replace(",", ""))
        assert rest == 0 or rest >= 2 * LEAST
    for table in content["impact_ratios"]["tables"]:
        assert sum(row["n"] for row in table["categories"]) == n
        assert sum(row["selected"] for row in table["categories"]) == sum(row["selected"] for row in content["groups"])
    return len(by_group)


def test_no_file_of_200_random_audits_lets_a_small_cell_be_formed():
    shown = refused = 0
    for seed in range(200):
        result = random_audit(seed)
        try:
            protected = result.protected()
            groups, impact = plain_rows(protected.to_frame().assign(group=protected.names)), protected.impact_ratios()
            content = {"groups": groups, "n": sum(row["n"] for row in groups), "impact_ratios": impact_to_dict(impact)}
            shown += check_parts(result, audit_data(protected), content) > 1
        except InputError:  # there are too few people for any file
            refused += 1
    assert shown > 100
    assert refused < 40


def test_exact_pages_of_an_hr_table_single_people_out_and_protected_ones_do_not():
    y, score, groups = hr_table(np.random.default_rng(0))
    result = audit(y, score=score, threshold=0.5, sensitive_features=groups[["sex", "age"]], cost=0.6)
    exact = sum(len(small_cells(set(rows))) for _, rows in seen_in_page(audit_data(result)))
    assert exact > 1000
    assert check_audit(result) >= 4
    intersections = audit(y, score=score, threshold=0.5, sensitive_features=groups, cost=0.6)
    assert check_audit(intersections) >= 2


def test_page_json_and_table_hold_the_same_merged_numbers():
    y, score, groups = hr_table(np.random.default_rng(1))
    result = audit(y, score=score, threshold=0.5, sensitive_features=groups[["sex", "age"]], cost=0.6)
    shown, content = result.protected(), json.loads(result.to_json())
    assert content["groups"] == json.loads(json.dumps(shown.to_dict()["groups"]))
    assert content["min_cell"] == LEAST
    assert set(content["merged"]) <= {row["group"] for row in content["groups"]}
    assert "No number in this file is about fewer than 10 people" in result.to_html()
    assert page_data(result.to_html())["published"]["n"] == [row["n"] for row in content["groups"]]


def test_a_group_that_nobody_passes_is_still_named():
    y, passed = [1, 0] * 100, [1] * 100 + [0] * 100
    shown = audit(y, y_pred=passed, sensitive_features=["A"] * 100 + ["B"] * 100, cost=0.4).protected()
    assert shown.names == ["A", "B"]
    assert shown.to_frame()["selected"].tolist() == [100, 0]


def test_small_groups_join_others_of_the_same_first_column():
    counts = {("F", "young"): 200, ("F", "old"): 4, ("M", "young"): 200, ("M", "old"): 6, ("M", "oldest"): 100}
    labels = [label for label, n in counts.items() for _ in range(n)]
    y, passed = [1, 0] * (len(labels) // 2), [1, 1, 0, 0] * (len(labels) // 4) + [1, 0][: len(labels) % 4]
    z = pd.DataFrame(labels, columns=["sex", "age"])
    shown = audit(y, y_pred=passed, sensitive_features=z, cost=0.4).protected()
    assert shown.provenance.merged == {
        "F / the rest": ["F / old", "F / young"],
        "M / the rest": ["M / old", "M / oldest"],
    }


def test_the_threshold_in_use_stays_and_its_counts_are_exact():
    y, score, groups = hr_table(np.random.default_rng(2), 5000)
    result = audit(y, score=score, threshold=0.5, sensitive_features=groups["sex"], cost=0.6)
    shown = result.protected()
    pd.testing.assert_frame_equal(result.to_frame(), shown.to_frame())
    assert 10 < len(shown.curves.distinct_thresholds) < len(result.curves.distinct_thresholds) / 3


def test_zero_turns_it_off_and_too_few_people_are_refused():
    result = audit([1, 0] * 5, y_pred=[1, 0] * 5, sensitive_features=list("AB") * 5, cost=0.5)
    assert result.protected(0) is result
    assert "single out people" in result.to_html(min_cell=0)
    with pytest.raises(InputError, match="too few people"):
        result.to_html()


def test_comparisons_of_two_thresholds_show_no_small_step_between_them():
    y, score, groups = hr_table(np.random.default_rng(3))
    z = groups["sex"] + " " + groups["age"]
    audits = [audit(y, score=score, threshold=t, sensitive_features=z, cost=0.6) for t in (0.5, 0.53)]
    pairs = PairedCounts.from_predictions(y, score > 0.5, score > 0.53, sensitive_features=z)
    content = json.loads(compare(*audits, pairs=pairs, n_resamples=20).to_json())
    for row in content["groups"]:
        seen = {
            tuple(
                np.round(
                    (
                        row[f"n_{w}"],
                        row[f"base_rate_{w}"] * row[f"n_{w}"],
                        0,
                        row[f"selected_{w}"],
                        row[f"selected_{w}"] * row[f"precision_{w}"],
                    ),
                    6,
                )
            )
            for w in ("before", "after")
        }
        assert not small_cells(seen)


def test_plans_and_frontiers_are_those_of_the_merged_people():
    y, score, groups = hr_table(np.random.default_rng(4))
    given = {"score": score, "threshold": 0.5, "sensitive_features": groups[["sex", "age"]], "cost": 0.8}
    shown = audit(y, **given).protected()
    plan = plan_subsidies(y, **given).protected()
    assert plan.before.names == shown.names
    assert plan.works
    budgeted = plan_subsidies(y, **given, budget=5).protected()
    assert budgeted.total <= 5
    frontier = threshold_frontier(y, score, threshold=0.5, sensitive_features=groups[["sex", "age"]], cost=0.8)
    assert frontier.protected().names == shown.names
    offered = set(frontier.protected().curves.distinct_thresholds)
    assert offered <= set(shown.curves.distinct_thresholds)


def test_rounds_count_people_in_tens():
    people = make_base_rate_groups((0.5, 0.15), n_per_group=300, random_state=0)
    history = simulate(people, NaiveClassifier(cost=0.6, publish="train"), rounds=3, exploration=0.1)
    for row in json.loads(history.to_json())["rounds"]:
        for group in row["groups"]:
            assert group["pool"] % LEAST == 0
            assert round(group["published"] or 0, 2) == (group["published"] or 0)


def test_a_model_file_holds_no_small_cell_and_decides_the_same(tmp_path):
    rng = np.random.default_rng(0)
    n = 600
    z = rng.choice(list("ABCDEFGH"), n, p=[0.4, 0.3, 0.15, 0.05, 0.04, 0.03, 0.02, 0.01])
    X = rng.normal(size=(n, 2))
    y = rng.random(n) < 1 / (1 + np.exp(-2 * X[:, 0]))
    for cost in (0.5, 0.6, 0.65):
        model = NaiveClassifier(cost=cost).fit(X, y, sensitive_features=z)
        save_model(model, tmp_path / "model.skops", min_cell=10)
        loaded = load_model(tmp_path / "model.skops")
        pd.testing.assert_series_equal(loaded.applies(), model.applies())
        counts = loaded.published_.counts
        rows = zip(*counts.columns, strict=True)
        assert not any(small_cells({(n_z, pos, 0, sel, hits)}) for n_z, pos, sel, hits in rows)
        assert any(small_cells({(a, b, 0, c, d)}) for a, b, c, d in zip(*model.published_.counts.columns, strict=True))
        save_model(model, tmp_path / "model.skops")
        assert load_model(tmp_path / "model.skops").published_ == model.published_
