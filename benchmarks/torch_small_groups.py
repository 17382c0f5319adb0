"""Minibatches of a group of which a batch has less than one person. Writes results/torch_small_groups.md.

As in torch_batches.py, with and without a minimum of people of each group in a batch.
"""

from __future__ import annotations

from _common import to_markdown, write  # first: it sets the number of threads

# isort: split
import pandas as pd
import torch
from tqdm import tqdm

from torch_batches import FEW_STEPS, Adult, excess

COST, SIZE, LEAST, SMALLEST = 0.8, 256, (0, 2, 8), (35, 12)


def main():
    torch.set_num_threads(1)
    rows = []
    for smallest in tqdm(SMALLEST, disable=None):
        people = Adult(smallest)
        full = people.full(COST)
        row = {"smallest group": f"{smallest} people", "everybody at once": f"0 to +{full[1]:.1f}%"}
        for least in LEAST:
            name = f"`min_per_group={least}`" if least else "no minimum"
            row[name] = excess(people, COST, SIZE, full, running=True, steps=FEW_STEPS, least=least)
        rows.append(row)
    write(
        "torch_small_groups.md",
        "# Minibatches of a very small group\n\n"
        "Made by `make bench BENCHMARKS=torch_small_groups` with the extra `torch`. As in the tables of\n"
        f"`torch_batches.md`: batches of {SIZE} at cost {COST}, running sums, {FEW_STEPS:,} steps. "
        "People of groups that\n"
        "have fewer people in a batch than the minimum are drawn several times in an epoch, and weigh less.\n\n"
        f"{to_markdown(pd.DataFrame(rows))}\n",
    )


if __name__ == "__main__":
    main()
