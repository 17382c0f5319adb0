"""The kinds of inputs that are tried."""

from dataclasses import dataclass

from fuzzing.models import try_model
from fuzzing.names import NamesInBrowser
from fuzzing.tables import try_csv, try_parquet
from fuzzing.workbooks import try_xlsx


@dataclass(frozen=True)
class Kind:
    """One kind of inputs.

    ``once`` tries one input, from a generator, in a folder, and counts it in a tally; if ``in_browser``, it is a class
    that takes a browser and makes such a callable. ``quick`` inputs are tried among the tests, and the numbers (or
    names) of at least ``least`` of them must have been compared.
    """

    title: str
    once: object
    quick: int
    least: int
    in_browser: bool = False


KINDS = {
    "csv": Kind("CSV, plain and gzipped", try_csv, 1500, 200),
    "parquet": Kind("Parquet", try_parquet, 600, 100),
    "xlsx": Kind("workbooks (.xlsx)", try_xlsx, 200, 60),
    "model": Kind("model files (skops)", try_model, 500, 20),
    "browser": Kind("names of groups on pages in chromium", NamesInBrowser, 200, 150, in_browser=True),
}
