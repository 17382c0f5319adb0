"""The kinds of inputs that are tried: what each is called, how one is tried, and what is known of earlier runs."""

from dataclasses import dataclass

from fuzzing.models import try_model
from fuzzing.names import NamesInBrowser
from fuzzing.tables import try_csv, try_parquet
from fuzzing.times import try_times
from fuzzing.workbooks import try_xlsx


@dataclass(frozen=True)
class Kind:
    """One kind of inputs.

    Attributes
    ----------
    title : str
        What the page about long runs calls it.
    once : callable
        Tries an input, from a generator, in a folder, and counts it in a tally; or, where it needs a browser, makes of
        one something that does.
    quick : int
        Inputs that are tried among the tests.
    least : int
        Of how many of these at least the numbers (or names) must have been compared.
    in_browser : bool
        Whether it needs a browser.
    """

    title: str
    once: object
    quick: int
    least: int
    in_browser: bool = False


KINDS = {
    "csv": Kind("CSV, plain and gzipped", try_csv, 1500, 100),
    "parquet": Kind("Parquet", try_parquet, 400, 20),
    "times": Kind("Parquet of days, times, spans and decimals", try_times, 400, 100),
    "xlsx": Kind("workbooks (.xlsx)", try_xlsx, 200, 20),
    "model": Kind("model files (skops)", try_model, 500, 20),
    "browser": Kind("names of groups on pages in chromium", NamesInBrowser, 200, 150, in_browser=True),
}

#: Inputs that were findings once: kind, seed, what was wrong.
FOUND = [
    ("parquet", 2010537, "texts given by number, some of them beyond the last text"),
    ("parquet", 1002566, "lengths said of a column that cannot be, which ended the process when they were asked for"),
    ("times", 14, "days beyond the years that Python has, which ended in other words than ours"),
    ("times", 95, "a time zone that is nowhere, which was complained about without the name of the file"),
    ("xlsx", 58, "rows with the number of an earlier one, which were left out in silence"),
    ("xlsx", 1000053, "a refusal over three lines, in words of openpyxl"),
    ("xlsx", 1005213, "a row of a number below 0, which was left out in silence"),
    ("browser", 1000667, "a frontier of so few people that one half of them is nobody"),
    ("browser", 3000014, "comparisons showed characters that are not seen, in names of groups and of what is compared"),
    ("browser", 3000041, "frontiers showed marks that change the direction of text, in titles and lists of groups"),
]
