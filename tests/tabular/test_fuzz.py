"""Thousands of damaged tables: each is either understood or refused with a message, never a crash."""

import numpy as np
import pytest

from selfselect.cli import BadInput
from selfselect.cli._inputs import load_audit

SEEDS = [
    b"label,group,score\n1,A,0.9\n0,A,0.2\n1,B,0.8\n0,B,0.7\n1,B,0.4\n",
    b'label,group,score\r\n"1","A, the first","0.9"\r\n"0","B ""quoted""","0.1"\r\n',
    b"\xef\xbb\xbflabel,group,score\ntrue,\xc3\xa4,1e308\nfalse,\xe5\xb1\xb1,-1e308\n",
    b"label,group,score\n\n1,=cmd,0.5\n\n0,<script>,0.25\n",
]
PIECES = [
    b"\x00", b'"', b'""', b",", b"\n", b"\r", b"\r\n", b"\xff", b"\xc3", b"\xef\xbb\xbf", b"1e309", b"nan", b"-inf",
    b"1_0", b"\xe2\x80\xae", b"=1+1", b"</script>", b"{{7*7}}", b"A" * 300, b";", b"\t", b"label", b"score",
    b" ", b"'", b"\\", b"9" * 400,
]  # fmt: skip


def mutated(rng):
    """One of the seeds, damaged a few times."""
    data = SEEDS[rng.integers(len(SEEDS))]
    for _ in range(rng.integers(1, 5)):
        at = int(rng.integers(len(data) + 1))
        until = min(len(data), at + int(rng.integers(0, 6)))
        kind = rng.integers(5)
        piece = PIECES[rng.integers(len(PIECES))]
        if kind == 0:
            data = data[:at] + piece + data[at:]
        elif kind == 1:
            data = data[:at] + data[until:]
        elif kind == 2:
            data = data[:at] + piece + data[until:]
        elif kind == 3:
            data = data[:at] + bytes([rng.integers(256)]) + data[at + 1 :]
        else:
            data = data[:at] if rng.integers(4) == 0 else data[:at] + data[at // 2 : until] + data[at:]
    return data


@pytest.mark.parametrize("column", [{"score": "score", "prediction": None}, {"score": None, "prediction": "label"}])
def test_no_mutated_table_crashes_the_reader(tmp_path, column):
    rng = np.random.default_rng(0 if column["score"] else 1)
    path = tmp_path / "fuzz.csv"
    understood, complaints = 0, []
    for i in range(2500):
        data = mutated(rng)
        path.write_bytes(data)
        try:
            found = load_audit(
                str(path),
                encoding="utf-8",
                delimiter=",",
                label="label",
                positive=None,
                groups=["group"],
                threshold=0.5 if column["score"] else None,
                missing="own-group" if i % 2 else "error",
                costs=[(0.7,)],
                **column,
            )
        except BadInput as error:
            complaints.append((error.format_message(), data))
            continue
        understood += 1
        assert found.published.counts.n.sum() >= 1
        found.to_json().encode()
        assert found.verdict()
    assert understood > 100
    assert len(complaints) > 500
    for said, data in complaints:
        assert "fuzz.csv" in said, (said, data)
        assert said.isprintable(), (said, data)
