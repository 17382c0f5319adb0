"""What the columns of a table could be."""

import numpy as np
import pandas as pd
import pytest

from selfselect.tabular.guessing import guess_roles
from selfselect.tabular.read import open_table

N = 120


def guessed(tmp_path, given=None, **columns):
    path = tmp_path / "people.csv"
    pd.DataFrame(columns).to_csv(path, index=False)
    with open_table(path) as table:
        return guess_roles(table, given or {})


SEX, SCORE, YES_NO = (["f", "m"] * (N // 2), np.arange(N) % 97 / 97, [1, 0, 0] * (N // 3))


@pytest.mark.parametrize(
    ("columns", "roles"),
    [
        ({"gender": SEX, "prob": SCORE, "hired": YES_NO}, {"group": "gender", "score": "prob", "label": "hired"}),
        ({"race": SEX, "approved": YES_NO, "Outcome": YES_NO[::-1]}, {"prediction": "approved", "label": "Outcome"}),
        ({"z": SEX, "predictedScore": SCORE * 40, "id": range(N)}, {"score": "predictedScore", "group": "z"}),
        ({"a": range(N), "b": [f"name {i}" for i in range(N)]}, {}),
    ],
)
def test_columns_are_known_by_name_and_kind(columns, roles, tmp_path):
    found = guessed(tmp_path, **columns).roles
    assert {role: found.get(role) for role in roles} == roles
    assert roles or found == {}


def test_of_a_bad_outcome_no_means_qualified(tmp_path):
    found = guessed(tmp_path, sex=SEX, score=SCORE, two_year_recid=YES_NO)
    assert found.options == ("--positive", "0")
    assert found.remarks[0] == "'0' is taken to mean qualified in column 'two_year_recid'; correct it if it does not."
    words = guessed(tmp_path, sex=SEX, score=SCORE, default=["defaulted", "paid"] * (N // 2))
    assert words.options == ("--positive", "paid")


def test_what_the_user_said_is_kept(tmp_path):
    found = guessed(tmp_path, {"group": "town"}, sex=SEX, town=SEX, score=SCORE)
    assert found.roles == {"group": "town", "score": "score"}
    assert found.command("people.csv") == "selfselect impact people.csv --group town --score score"


def test_numbers_as_groups_are_cut_and_scores_of_another_scale_have_a_threshold(tmp_path):
    found = guessed(tmp_path, age=np.arange(N) % 50 + 18, score=SCORE * 40, hired=YES_NO)
    settings = dict(zip(found.options[::2], found.options[1::2], strict=True))
    assert settings.keys() == {"--bands", "--threshold"}
    assert settings["--bands"].startswith("age=30")
