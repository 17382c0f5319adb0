"""Write the tables in ``files/``: one population in every format, delimiter, encoding and spelling that people send."""

from __future__ import annotations

import gzip
import sys
from pathlib import Path

import numpy as np
import pandas as pd

FILES = Path(__file__).with_name("files")


def population(n: int = 400, seed: int = 3) -> pd.DataFrame:
    """Invented applicants of five regions, with a score, a decision, a weight, and awkward cells."""
    rng = np.random.default_rng(seed)
    regions = np.array(["Nord", "Süd", "Ost, außen", "West", "Inseln"])
    region = rng.choice(regions, n, p=[0.35, 0.25, 0.2, 0.15, 0.05])
    signal = rng.normal(0.3 * (region == "Nord") - 0.5 * (region == "West"), 1)
    hired = rng.random(n) < 1 / (1 + np.exp(-2 * signal))
    score = 1 / (1 + np.exp(-(signal + rng.normal(0, 0.4, n))))
    return pd.DataFrame(
        {
            "id": np.arange(1, n + 1),
            "region": region,
            "sex": rng.choice(["f", "m"], n),
            "years": rng.integers(0, 30, n),
            "income": (np.exp(rng.normal(7.5 + 0.3 * signal, 0.4))).round(2),
            "score": score.round(4),
            "passed": np.where(score > 0.55, "yes", "no"),
            "weight": rng.integers(1, 4, n),
            "hired": hired.astype(int),
            "hired_words": np.where(hired, "yes", "no"),
            "month": rng.integers(1, 13, n),
        }
    )


def write_csv(name: str, frame: pd.DataFrame, encoding: str = "utf-8", **options) -> None:
    text = frame.to_csv(index=False, lineterminator=options.pop("lineterminator", "\n"), **options)
    data = text.encode(encoding)
    (FILES / name).write_bytes(gzip.compress(data, mtime=0) if name.endswith(".gz") else data)


def main() -> None:
    FILES.mkdir(exist_ok=True)
    people = population()
    write_csv("01_plain.csv", people)
    write_csv("02_semicolon_comma.csv", people, sep=";", decimal=",")
    write_csv("03_tab_latin1.csv", people, sep="\t", encoding="latin-1")
    write_csv("04_utf16.csv", people, encoding="utf-16")
    write_csv("05_bom_crlf.csv", people, encoding="utf-8-sig", lineterminator="\r\n")
    write_csv("06_compressed.csv.gz", people)
    write_csv("07_pipe_quoted.csv", people, sep="|", quoting=1)
    spaced = people.astype(str).map(lambda cell: f" {cell} ")
    write_csv("08_spaces.csv", spaced)
    missing = people.copy()
    missing["region"] = missing["region"].mask(missing["id"] % 17 == 0, None)
    write_csv("09_missing_group.csv", missing)
    untested = people.copy()
    untested["hired"] = untested["hired"].astype(object).where(untested["passed"] == "yes", "")
    write_csv("10_untested.csv", untested)
    exponent = people.assign(score=[f"{value:.3e}" for value in people["score"]], hired=people["hired"] == 1)
    write_csv("11_exponents_truths.csv", exponent)
    multiline = people.assign(region=people["region"].str.replace("Nord", 'No"rd\nsea'))
    write_csv("12_multiline.csv", multiline)
    percent = people.assign(score=(people["score"] * 100).round(2))
    write_csv("13_points.csv", percent)
    people.to_parquet(FILES / "14_plain.parquet", index=False)
    typed = people.assign(
        region=people["region"].astype("category"),
        hired=people["hired"] == 1,
        score=people["score"].astype("float32"),
        day=pd.Timestamp("2024-01-01") + pd.to_timedelta(people["id"], unit="D"),
    )
    typed.to_parquet(FILES / "15_typed.parquet", index=False, compression="gzip")
    nullable = missing.convert_dtypes()
    nullable["score"] = nullable["score"].astype("Float64")
    nullable.to_parquet(FILES / "16_nullable.parquet", index=False, compression="zstd")
    people.to_excel(FILES / "17_plain.xlsx", index=False)
    with pd.ExcelWriter(FILES / "18_sheets.xlsx") as book:
        pd.DataFrame({"note": ["not this one"]}).to_excel(book, sheet_name="read me", index=False)
        typed.drop(columns="day").to_excel(book, sheet_name="people", index=False)
    missing.to_excel(FILES / "19_missing.xlsx", index=False)
    group_by_month = people.assign(month=people["month"].astype(float))
    write_csv("20_number_groups.csv", group_by_month)
    population(300, seed=4).to_csv(FILES / "next_year.csv", index=False)


if __name__ == "__main__":
    sys.exit(main())
