"""Damaged model files: refused in our words, or a model that says of everybody what can be said."""

import json
from functools import lru_cache

import numpy as np
from sklearn.tree import DecisionTreeClassifier

from applicants import applicants, text_columns
from fuzzing.damage import damaged, tried
from selfselect import GroupThresholdClassifier, NaiveClassifier, SemiStrategicClassifier, StrategicClassifier
from selfselect.tabular.encoding import TableEncoder
from selfselect.tabular.models import TableModel, load_table_model

#: What stands in a file instead of what belongs there.
VALUES = [
    None, True, False, 0, 1, -1, 2.5, 1e308, -1e308, 1e-320, 10**30, "", "1", "x", "nan", [], [1], {}, {"a": 1},
    {"float": "inf"}, {"float": "nan"}, {"list": [1, 2]}, {"dict": []}, {"tuple": [1]}, "os.system",
]  # fmt: skip


@lru_cache(maxsize=1)
def model_texts():
    """Model files as `train` writes them, of every classifier, and one with an estimator inside; and people."""
    people = applicants().head(300)
    cells = {name: column for name, column in text_columns(people).items() if name in ("age", "job", "pay", "z")}
    encoder = TableEncoder.fit({name: cells[name] for name in ("age", "job", "pay")})
    X, y, z = encoder.transform(cells), people["hired"].to_numpy(), people["z"].to_numpy()
    made = [
        NaiveClassifier(cost=0.6, publish="train"),
        SemiStrategicClassifier(cost=0.6, publish="train"),
        GroupThresholdClassifier(cost=0.6, publish="train"),
        StrategicClassifier(cost=0.6, publish="train", random_state=0),
        SemiStrategicClassifier(DecisionTreeClassifier(max_depth=2), cost=0.6, publish="train"),
    ]
    texts = [TableModel(encoder, model.fit(X, y, sensitive_features=z), ("z",), "error").to_json() for model in made]
    return texts, cells, people[["z"]]


def places(content, path=()):
    """Paths of all values of a JSON file."""
    pairs = content.items() if isinstance(content, dict) else enumerate(content) if isinstance(content, list) else ()
    for key, value in pairs:
        yield (*path, key)
        yield from places(value, (*path, key))


def damaged_text(text, rng):
    """A model file with a wrong value, without a part, with one too many, with a key twice, or damaged bytes."""
    way = int(rng.integers(5))
    if way == 0:
        return damaged(text.encode(), rng)
    content = json.loads(text)
    found = list(places(content))
    *path, key = found[int(rng.integers(len(found)))]
    part = content
    for step in path:
        part = part[step]
    value = VALUES[int(rng.integers(len(VALUES)))]
    if way == 1:
        del part[key]
    elif way == 2 and isinstance(part, dict):
        part["surprise" if rng.random() < 0.5 else str(value)] = value
    elif way == 3 and isinstance(part, dict):
        mark = "\x01doubled\x01"
        part[mark] = value
        return json.dumps(content).replace(json.dumps(mark), json.dumps(str(key))).encode()
    else:
        part[key] = value
    return json.dumps(content).encode()


def try_model(rng, folder, tally):
    """One damaged model file."""
    texts, cells, groups = model_texts()
    path = folder / "fuzz.json"
    text = texts[int(rng.integers(len(texts)))]
    path.write_bytes(damaged_text(text, rng))
    tally.tried += 1
    model, refusal = tried(lambda: load_table_model(path), ValueError)
    if refusal is not None:
        assert "fuzz.json" in refusal, refusal
        tally.refused += 1
        return
    tally.read += 1
    if set(model.groups) != {"z"} or {column.name for column in model.encoder.columns} - set(cells):
        return  # it asks for columns that nobody has
    score = model.score(cells, groups)
    known = model.applies_to(groups)[1]
    assert not np.isnan(score[known]).any()  # infinite where a group is selected as a whole, or not at all
    if json.loads(text)["classifier"]["published"] == json.loads(path.read_bytes())["classifier"]["published"]:
        tally.compared += 1
        assert model.classifier.published_.counts.n.sum() == len(groups)
