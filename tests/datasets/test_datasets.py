import lzma

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import train_test_split

from selfselect.datasets import (
    BrokenDataFileError,
    fetch_adult,
    fetch_bank,
    make_base_rate_groups,
    make_calibrated_score,
    make_ordering_constraint,
    make_precision_curves,
)
from selfselect.datasets._tables import read_raw


def sizes(bunch):
    return bunch.group.value_counts(sort=False).tolist()


def test_adult_is_the_papers_table():
    adult = fetch_adult()
    assert adult.data.shape == (16045, 37)
    assert adult.group.cat.categories.tolist() == ["Asian-Pac-Islander", "Black", "Other", "White"]
    assert sizes(adult) == [1303, 4228, 788, 9726]
    positives = adult.target.groupby(adult.group, observed=True).sum()
    assert positives.tolist() == [369, 534, 98, 2585]
    assert adult.target.mean() == pytest.approx(0.2235, abs=5e-5)
    numeric = ["age", "final_weight", "education_num", "capitol_gain", "capitol_loss", "hours_per_week"]
    assert adult.data[numeric].sum().tolist() == pytest.approx(
        [4676.452055, 1969.872774, 9657.266667, 171.123201, 297.023646, 6459.663265], abs=1e-6
    )
    assert adult.data.columns[4:10].tolist() == numeric
    one_hot = adult.data.columns[10:]
    counts = {
        name: sum(c.startswith(name) for c in one_hot) for name in ("work_class", "marital", "relationship", "sex")
    }
    assert counts == {"work_class": 7, "marital": 7, "relationship": 6, "sex": 2}
    assert sum(c.startswith("occupation") for c in one_hot) == 5
    y, y_test = train_test_split(adult.target, test_size=0.3, random_state=0)
    assert (len(y), len(y_test), int(y.sum())) == (11231, 4814, 2495)


def test_bank_is_the_papers_table_in_both_variants():
    original = fetch_bank(negatives_removed=0.0)
    assert original.data.shape == (43683, 33)
    assert original.target.mean() == pytest.approx(0.1178, abs=5e-5)
    assert sizes(original) == [5171, 9732, 1487, 9458, 2264, 1579, 4154, 938, 7597, 1303]
    assert original.group.cat.categories[:2].tolist() == ["admin.", "blue-collar"]
    bank = fetch_bank()
    assert bank.data.shape == (32125, 33)
    assert bank.target.mean() == pytest.approx(0.1602, abs=5e-5)
    assert bank.target.sum() == original.target.sum()
    assert [len(part) for part in train_test_split(bank.target, test_size=0.3, random_state=0)] == [22487, 9638]
    assert not set(bank.feature_names) & {"day", "month"}
    assert bank.data.to_numpy().min() == 0
    assert bank.data.to_numpy().max() == 1
    for wrong in (1.0, -0.1, 2):
        with pytest.raises(ValueError, match="negatives_removed"):
            fetch_bank(negatives_removed=wrong)


@pytest.mark.parametrize("fetch", [fetch_adult, fetch_bank])
def test_options_of_loaders(fetch):
    bunch = fetch()
    assert bunch.frame.columns.tolist() == [bunch.group_name, *bunch.feature_names, bunch.target_name]
    assert bunch.data[bunch.group_columns].sum(axis=1).eq(1).all()
    assert "CC BY 4.0" in bunch.DESCR
    assert "UCI Machine Learning Repository" in bunch.DESCR
    assert ("known only afterwards" in bunch.DESCR) == ("duration" in bunch.feature_names)

    X, y, z = fetch(return_X_y_group=True)
    assert X.equals(bunch.data)
    assert y.equals(bunch.target)
    assert z.equals(bunch.group)

    arrays = fetch(as_frame=False)
    assert isinstance(arrays.data, np.ndarray)
    assert arrays.frame is None
    assert arrays.group.tolist() == bunch.group.tolist()
    assert all(isinstance(part, np.ndarray) for part in fetch(return_X_y_group=True, as_frame=False))

    bare = fetch(drop_group=True)
    assert bare.group_columns == []
    assert bare.feature_names == [c for c in bunch.feature_names if c not in bunch.group_columns]
    assert bare.group.equals(bunch.group)

    readable = fetch(encoded=False)
    assert readable.group_columns == [bunch.group_name]
    assert readable.data["age"].between(17, 100).all()
    assert readable.data.shape[1] < bunch.data.shape[1]


def test_changing_a_loaded_table_does_not_change_the_next_one():
    first = fetch_adult()
    first.data.iloc[:, :] = -1
    first.target[:] = 0
    assert fetch_adult().data.to_numpy().min() == 0
    assert fetch_adult().target.sum() == 3586


@pytest.mark.parametrize(
    "content", [b"not xz", lzma.compress(b"another table"), lzma.compress(b"x" * 100)[:40], b"", None]
)
def test_a_broken_data_file_is_refused_by_name(tmp_path, content):
    if content is not None:
        (tmp_path / "adult.data.xz").write_bytes(content)
    with pytest.raises(BrokenDataFileError, match=r"adult\.data\.xz.*Reinstall selfselect"):
        read_raw("adult.data", tmp_path)


@pytest.mark.parametrize(
    ("make", "size", "shape"),
    [
        (make_base_rate_groups, {"n_per_group": 50}, (100, 3)),
        (make_ordering_constraint, {"n_samples": (10, 20)}, (30, 4)),
        (make_precision_curves, {"n_groups": 4, "n_per_group": 25}, (100, 5)),
        (make_calibrated_score, {"n_samples": 70}, (70, 2)),
    ],
)
def test_synthetic_populations_have_the_given_size_and_repeat_with_the_seed(make, size, shape):
    one, again, other = (make(**size, random_state=seed) for seed in (3, 3, 4))
    assert one.data.shape == shape
    assert one.data.equals(again.data)
    assert one.target.equals(again.target)
    assert not one.data.equals(other.data)
    X, y, z = make(**size, random_state=3, return_X_y_group=True, drop_group=True)
    assert list(X.columns) == [c for c in one.data.columns if c not in one.group_columns]
    assert y.equals(one.target)
    assert isinstance(z.dtype, pd.CategoricalDtype)


def test_synthetic_populations_have_the_stated_distributions():
    groups = make_base_rate_groups((0.5, 0.15, 0.85), n_per_group=100_000, random_state=0)
    assert groups.target.groupby(groups.group, observed=True).mean().tolist() == pytest.approx(
        [0.5, 0.15, 0.85], abs=0.01
    )
    by_label = groups.frame.groupby("qualified")["x"].agg(["mean", "std"])
    assert by_label.to_numpy().tolist() == [pytest.approx([-0.5, 0.5], abs=0.01), pytest.approx([0.5, 0.5], abs=0.01)]

    ordering = make_ordering_constraint((100_000, 100_000), random_state=0).frame
    table = ordering.groupby(["group", "qualified"], observed=True)[["x1", "x2"]].agg(["mean", "std"]).to_numpy()
    expected = [[-0.3, 0.1, -0.35, 0.3], [0.2, 0.1, 0.25, 0.3], [0, 0.2, -0.35, 0.3], [0, 0.2, 0.25, 0.3]]
    assert np.abs(table - expected).max() < 0.01


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: make_base_rate_groups((0.5, 1.5)), "base_rates must lie"),
        (lambda: make_base_rate_groups(()), "base_rates is empty"),
        (lambda: make_base_rate_groups(n_per_group=0), "n_per_group must be a whole number"),
        (lambda: make_ordering_constraint((10,)), "rows of both groups"),
        (lambda: make_calibrated_score(2.5), "n_samples must be a whole number"),
        (lambda: make_precision_curves(n_per_goup=10), "n_per_goup"),
    ],
)
def test_wrong_arguments_are_refused_by_name(call, message):
    with pytest.raises((ValueError, TypeError), match=message):
        call()
