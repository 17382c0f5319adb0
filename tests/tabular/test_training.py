import json
import pickle

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from selfselect.cli import main
from selfselect.metrics import induced_accuracy, social_cost
from selfselect.tabular.encoding import TableEncoder, to_numbers
from selfselect.tabular.training import TableModel, hold_out, load_table_model


def cli(*arguments, stdin=None):
    result = CliRunner().invoke(main, [str(argument) for argument in arguments], input=stdin)
    assert "Traceback" not in result.output
    return result


@pytest.fixture(scope="module")
def people():
    """Numbers, categories, missing values, an identifier and a constant."""
    rng = np.random.default_rng(0)
    n = 900
    z = rng.choice(["A", "B", "C"], n, p=[0.5, 0.3, 0.2])
    age = rng.integers(18, 70, n)
    job = rng.choice(["clerk", "smith", "none of these"], n)
    pay = np.exp(rng.normal(3, 0.5, n)).round(2)
    signal = (age - 40) / 15 + (job == "clerk") + pay / 20 + (z == "A") * 0.8 - 1.5
    y = rng.random(n) < 1 / (1 + np.exp(-2 * signal))
    frame = pd.DataFrame(
        {"id": [f"p{i}" for i in range(n)], "z": z, "age": age, "job": job, "pay": pay, "same": 1, "hired": y}
    )
    frame["pay"] = frame["pay"].where(rng.random(n) > 0.05)
    frame["job"] = frame["job"].where(rng.random(n) > 0.03)
    frame.loc[:3, "job"] = "astronaut"
    return frame


@pytest.fixture
def table(people, tmp_path):
    path = tmp_path / "people.csv"
    people.to_csv(path, index=False)
    return path


def trained(table, tmp_path, *options, name="model.json"):
    model = tmp_path / name
    result = cli("train", table, "--label", "hired", "--group", "z", "--cost", "0.7", "--model", model, *options)
    assert result.exit_code == 0, result.output
    return model, result.output


def text_columns(frame):
    return {name: frame[name].astype(object).where(frame[name].notna(), "").map(str).to_numpy(object) for name in frame}


def test_features_are_those_of_scikit_learns_own_pipeline(people):
    used = people[["age", "pay", "job", "z"]]
    encoder = TableEncoder.fit(text_columns(used))
    numbers = make_pipeline(SimpleImputer(strategy="median"), StandardScaler())
    categories = make_pipeline(
        SimpleImputer(strategy="constant", fill_value="(missing)"),
        OneHotEncoder(min_frequency=10, handle_unknown="infrequent_if_exist", sparse_output=False),
    )
    reference = ColumnTransformer(
        [("age", numbers, ["age"]), ("pay", numbers, ["pay"]), ("c", categories, ["job", "z"])]
    )
    found = pd.DataFrame(encoder.transform(text_columns(used)), columns=encoder.names)
    flags = found.pop("pay is missing")
    assert flags.sum() == people["pay"].isna().sum()
    assert np.allclose(found, reference.fit_transform(used), atol=1e-12)
    assert "job = other" in encoder.names
    assert "job = (missing)" in encoder.names


def test_columns_that_say_nothing_are_left_out_and_named(people):
    encoder = TableEncoder.fit(text_columns(people.drop(columns="hired").assign(row=np.arange(len(people)))))
    assert set(encoder.left_out) == {"id", "same", "row"}


def test_values_never_seen_in_training_are_no_error_but_text_among_numbers_is():
    encoder = TableEncoder.fit({"c": np.array(["a", "b"] * 20, object), "x": np.array(["1", "2"] * 20, object)})
    strange = encoder.transform({"c": np.array(["z"], object), "x": np.array([""], object)})
    assert strange[0].tolist() == [0, 0, 0]
    with pytest.raises(ValueError, match="'text' is not a finite number"):
        to_numbers(np.array(["1", "text"], object))


def test_one_word_among_numbers_makes_a_column_of_categories_wherever_it_stands():
    cells = np.array(["1", "2", "3"] * 20 + ["many"], object)
    rows = np.arange(61) < 60
    encoder = TableEncoder.fit({"x": cells}, rows)
    assert encoder.names == ["x = 1", "x = 2", "x = 3"]
    assert encoder.transform({"x": cells})[-1].tolist() == [0, 0, 0]


def test_numbers_too_large_to_square_are_refused_with_the_column():
    with pytest.raises(ValueError, match="'x' holds numbers too large"):
        TableEncoder.fit({"x": np.array(["1e308", "1", "2"], object)})


def test_the_same_share_of_every_stratum_is_held_out_and_none_is_emptied():
    strata = np.repeat([0, 1, 2], [1, 10, 100])
    test = hold_out(strata, 0.3, seed=1)
    assert np.bincount(strata[test], minlength=3).tolist() == [0, 3, 30]
    assert (hold_out(strata, 0.3, seed=1) == test).all()
    assert (hold_out(strata, 0.3, seed=2) != test).any()
    assert not hold_out(strata, 0.0, seed=1).any()


@pytest.mark.parametrize("method", ["naive", "semi", "strategic"])
def test_train_then_predict_adds_score_prediction_and_applies(table, tmp_path, people, method):
    model, said = trained(table, tmp_path, "--method", method, "--holdout", "0")
    out = tmp_path / "scored.csv"
    result = cli("predict", model, table, "--output", out)
    assert result.exit_code == 0, result.output
    scored = pd.read_csv(out)
    assert list(scored.columns) == [*people.columns, "score", "prediction", "applies"]
    assert ((scored["score"] > 0) == scored["prediction"]).all()
    loaded = load_table_model(model)
    published = loaded.classifier.published_
    counted = scored.groupby("z")["prediction"].sum()
    assert counted.to_dict() == dict(zip(published.groups, published.counts.selected, strict=True))
    decided = loaded.classifier.applies()
    assert (scored["applies"] == scored["z"].map(decided)).all()
    shown = induced_accuracy(scored["hired"], scored["prediction"], applies=scored["applies"])
    assert f"{100 * shown:.1f}%"[:3] in said
    assert "nobody was held out" in said


def test_the_evaluation_is_on_people_the_model_has_not_seen(table, tmp_path, people):
    _, said = trained(table, tmp_path, "--method", "naive")
    z, y = people["z"], people["hired"]
    test = hold_out(pd.factorize(z, sort=True)[0] * 2 + y.to_numpy(), 0.3, 0)
    assert f"evaluated on {test.sum()} people it has not seen" in said
    model = load_table_model(tmp_path / "model.json")
    score = model.score(text_columns(people))
    applies = model.classifier.applies_to(z[test])
    expected = social_cost(y[test], applies=applies)
    assert f"{100 * expected:.1f}%" in said
    accuracy = induced_accuracy(y[test], score[test] > 0, applies=applies)
    assert abs(float(said.split("induced accuracy")[1].split("%")[0]) - 100 * accuracy) < 0.06


def test_a_model_read_back_predicts_bit_for_bit_the_same(table, tmp_path, people):
    model, _ = trained(table, tmp_path, "--method", "semi")
    loaded = load_table_model(model)
    again = TableModel.from_json(loaded.to_json())
    columns = text_columns(people)
    assert (loaded.score(columns) == again.score(columns)).all()
    assert again.to_json() == loaded.to_json() == model.read_text()


def test_dropping_the_group_hides_its_columns_from_the_model(table, tmp_path):
    seen, _ = trained(table, tmp_path, "--method", "naive")
    hidden, _ = trained(table, tmp_path, "--method", "naive", "--drop-group", name="hidden.json")
    names = lambda path: {column["name"] for column in json.loads(path.read_text())["columns"]}  # noqa: E731
    assert "z" in names(seen)
    assert "z" not in names(hidden)
    ignored, _ = trained(table, tmp_path, "--method", "naive", "--ignore", "pay", name="ignored.json")
    assert "pay" not in names(ignored)


def test_several_group_columns_and_a_subsidy_by_combined_name(table, tmp_path):
    options = ("--group", "job", "--missing", "own-group", "--method", "naive", "--subsidy", "A / clerk=0.6")
    model, said = trained(table, tmp_path, *options)
    assert "A / clerk" in said
    loaded = load_table_model(model)
    assert loaded.groups == ("z", "job")
    assert loaded.classifier.applies()[("A", "clerk")]
    result = cli("predict", model, table)
    assert result.exit_code == 0, result.output


def test_a_report_of_training_decides_by_training_and_counts_the_held_out(table, tmp_path):
    trained(table, tmp_path, "--method", "semi", "--report", tmp_path / "r.html")
    page = (tmp_path / "r.html").read_text()
    assert "held-out people" in page


def test_groups_that_training_never_saw_are_left_open(table, tmp_path):
    model, _ = trained(table, tmp_path, "--method", "naive")
    new = tmp_path / "new.csv"
    new.write_text("id,z,age,job,pay,same\nq,A,30,clerk,20,1\nr,Z,30,clerk,20,1\n")
    result = CliRunner().invoke(main, ["predict", str(model), str(new)])
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert lines[1].split(",")[-1] in "01"
    assert lines[2].split(",")[-1] == ""
    assert "'Z'" in result.stderr


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("z,age,job\nA,30,clerk\n", "no column 'pay'"),
        ("z,age,job,pay\nA,30,clerk,20\nA,old,clerk,20\n", "row 3, column 'age': 'old' is not a finite number"),
        ("z,age,job,pay\n,30,clerk,20\n", "row 2, column 'z'"),
        ("z,age,job,pay\n", "no row"),
        ("z,age,job,pay,score\nA,30,clerk,20,1\n", "--prefix"),
    ],
)
def test_predict_refuses_a_table_that_does_not_fit_and_says_where(table, tmp_path, content, words):
    model, _ = trained(table, tmp_path, "--method", "naive")
    new = tmp_path / "new.csv"
    new.write_text(content)
    result = cli("predict", model, new)
    assert result.exit_code == 2
    assert words in result.output


def test_predict_writes_no_formulas_but_leaves_numbers_alone(table, tmp_path):
    model, _ = trained(table, tmp_path, "--method", "naive", "--ignore", "same")
    new = tmp_path / "new.csv"
    new.write_text('z,age,job,pay,remark\nA,-30,clerk,+20,"=HYPERLINK(""x"")"\n')
    result = cli("predict", model, new)
    assert result.output.splitlines()[1].startswith("A,-30,clerk,+20,\"'=HYPERLINK")


class Bomb:
    """Would leave a mark if anything ever unpickled it."""

    def __reduce__(self):
        return (open, ("pwned-by-pickle", "w"))


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda text: pickle.dumps(Bomb()), "Pickles are never read"),
        (lambda text: text[: len(text) // 2].encode(), "not JSON"),
        (lambda text: b"", "not JSON"),
        (lambda text: b"[" * 100_000, "not JSON"),
        (lambda text: b"[1, 2]", "no selfselect-table-model"),
        (lambda text: text.replace('"schema": 1', '"schema": 99', 1).encode(), "schema version 99"),
        (lambda text: text.replace('"groups"', '"gruops"', 1).encode(), "unknown parts"),
        (lambda text: text.replace('"class": "NaiveClassifier"', '"class": "os.system"').encode(), "unknown"),
        (lambda text: text.replace('"intercept": ', '"intercept": NaN, "x": ').encode(), "no number"),
        (lambda text: text.replace('"kind": "number"', '"kind": "exec"', 1).encode(), "unknown kind"),
        (lambda text: text.replace('"scale": ', '"scale": -', 1).encode(), "make no sense"),
        (lambda text: text.replace('"name": "age"', '"name": "pay"').encode(), "twice"),
        (lambda text: b'{"format": "selfselect-table-model", "schema": 1, "n": ' + b"9" * 10_000 + b"}", ""),
        (lambda text: b" " * (65 * 2**20), "more than"),
    ],
)  # fmt: skip
def test_a_model_file_that_is_not_one_is_refused_and_nothing_runs(table, tmp_path, monkeypatch, damage, words):
    monkeypatch.chdir(tmp_path)
    model, _ = trained(table, tmp_path, "--method", "naive")
    bad = tmp_path / "bad.json"
    bad.write_bytes(damage(model.read_text()))
    result = cli("predict", bad, table)
    assert result.exit_code == 2, result.output
    assert "bad.json" in result.output
    assert words in result.output
    assert not (tmp_path / "pwned-by-pickle").exists()


def test_thousands_of_damaged_model_files_are_refused_or_read(table, tmp_path):
    model, _ = trained(table, tmp_path, "--method", "semi")
    text, path = model.read_text(), tmp_path / "fuzz.json"
    rng = np.random.default_rng(0)
    pieces = ["null", "-1", "[]", "{}", '"x"', "1e999", "true", ",", "}", "NaN", '"list"', "\x00"]
    refused = []
    for _ in range(2000):
        at = int(rng.integers(len(text)))
        until = at + int(rng.integers(0, 12))
        path.write_text(text[:at] + pieces[rng.integers(len(pieces))] + text[until:])
        try:
            load_table_model(path)
        except ValueError as error:
            refused.append(str(error))
    assert len(refused) > 1000
    assert all("fuzz.json" in said for said in refused)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--label", "hird", "--group", "z"), "Did you mean 'hired'"),
        (("--label", "hired", "--group", "hired"), "same column"),
        (("--label", "hired", "--group", "z", "--ignore", "pya"), "Did you mean 'pay'"),
        (("--label", "same", "--group", "z"), "all rows have the same value"),
        (("--label", "hired", "--group", "z", "--method", "naive", "--parity", "1"), "strategic"),
        (("--label", "hired", "--group", "z", "--subsidy", "Q=0.1"), "'Q'"),
    ],
)
def test_train_refuses_what_it_cannot_use(table, tmp_path, options, words):
    result = cli("train", table, *options, "--cost", "0.7", "--model", tmp_path / "m.json")
    assert result.exit_code == 2
    assert words in result.output
    assert not (tmp_path / "m.json").exists()


def test_a_plan_under_retraining_shows_its_path_and_what_it_found_holds(table, tmp_path, people):
    scored = people.assign(p=(people["age"] > 40).astype(int))
    path = tmp_path / "scored.csv"
    scored.to_csv(path, index=False)
    command = ("plan", path, "--label", "hired", "--group", "z", "--prediction", "p", "--cost", "0.8", "--target", "B")
    result = cli(*command, "--retrain", "--drop-group", "--json", tmp_path / "plan.json")
    made = json.loads((tmp_path / "plan.json").read_text())
    assert result.exit_code == (0 if made["works"] else 1)
    assert "one re-trained model per line" in result.output
    assert made["path"]
    works = [step for step in made["path"] if step["works"]]
    if made["works"]:
        paid = {row["group"]: row["subsidy"] for row in made["groups"]}
        assert paid["B"] == min(step["subsidy of B"] for step in works)
        assert {row["group"]: row["applies_after"] for row in made["groups"]}["B"]
    assert cli(*command, "--drop-group").exit_code == 2
    assert cli("plan", "-", *command[2:], "--retrain", stdin="").exit_code == 2
