"""Damaged model files: refused by name, or read as a model that scores everybody of a known group."""

import io
import warnings
import zipfile
from functools import lru_cache

import numpy as np
from sklearn.tree import DecisionTreeClassifier

from applicants import applicants, text_columns
from fuzzing.damage import damaged, tried
from selfselect import GroupThresholdClassifier, NaiveClassifier, SemiStrategicClassifier, StrategicClassifier
from selfselect.counting import encode_groups
from selfselect.estimators.io import model_bytes
from selfselect.tabular.loading import TrainingTable
from selfselect.tabular.train import load_table_model, train_on_table


@lru_cache(maxsize=1)
def model_files():
    """Model files as `train` writes them, of every classifier, and one with a tree inside; and people."""
    people = applicants().head(300)
    cells = {name: column for name, column in text_columns(people).items() if name in ("age", "job", "pay")}
    table = TrainingTable(cells, people["hired"].to_numpy(), encode_groups(people["z"]))
    classifiers = [
        NaiveClassifier(cost=0.6, publish="train"),
        SemiStrategicClassifier(cost=0.6, publish="train"),
        GroupThresholdClassifier(cost=0.6, publish="train"),
        StrategicClassifier(cost=0.6, publish="train", random_state=0),
        SemiStrategicClassifier(DecisionTreeClassifier(max_depth=2), cost=0.6, publish="train"),
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        models = [train_on_table(table, classifier, holdout=0).model for classifier in classifiers]
    return [model_bytes(model) for model in models], cells, people[["z"]]


def damaged_file(data, rng):
    """A model file with damaged bytes, or one whose description is damaged inside a sound archive."""
    if rng.random() < 0.5:
        return damaged(data, rng)
    target = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(target, "w") as new:
        for name in old.namelist():
            content = old.read(name)
            new.writestr(name, damaged(content, rng) if name == "schema.json" else content)
    return target.getvalue()


def try_model(rng, folder, tally):
    """One damaged model file."""
    files, cells, groups = model_files()
    path = folder / "fuzz.skops"
    path.write_bytes(damaged_file(files[int(rng.integers(len(files)))], rng))
    tally.tried += 1
    model, refusal = tried(lambda: load_table_model(path), ValueError)
    if refusal is not None:
        assert "fuzz.skops" in refusal, refusal
        tally.refused += 1
        return
    tally.read += 1
    try:
        frame, known = model.frame(cells), model.applies_to(groups)[1]
    except Exception:  # a name or a label was damaged
        return
    score = model.score(frame, groups)
    assert not np.isnan(score[known]).any()  # infinite where a group is selected as a whole, or not at all
    tally.compared += 1
