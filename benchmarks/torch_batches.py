"""Minibatches with and without running sums, and the time that the loss takes. Writes results/torch_batches.md.

A linear score on Adult starts from logistic regression, and Adam takes steps on batches of several sizes. What counts
is the objective on all training people at the end, compared with training on all of them at once.
"""

from __future__ import annotations

from time import perf_counter

from _common import to_markdown, write  # first: it sets the number of threads

# isort: split
import numpy as np
import pandas as pd
import torch
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from torch import nn
from tqdm import tqdm

from selfselect import encode_groups
from selfselect.datasets import fetch_adult
from selfselect.torch import GroupBatchSampler, StrategicLoss

FULL_STEPS, STEPS, FEW_STEPS, RATE, SEEDS = 2000, 10_000, 2000, 0.05, range(3)
COSTS, SIZES = (0.7, 0.75, 0.8), (64, 256, 1024)
SMALLEST = (553, 138, 35)
N_GROUPS = 4


class Adult:
    """Training people of split 0, of whom group "Other" may be made smaller."""

    def __init__(self, smallest=None):
        data = fetch_adult()
        X, _, y, _, z, _ = train_test_split(data.data, data.target, data.group, test_size=0.3, random_state=0)
        keep = np.ones(len(z), dtype=bool)
        if smallest is not None:
            keep[np.flatnonzero(z == "Other")[smallest:]] = False
        self.start = LogisticRegression(C=np.inf, max_iter=1000).fit(X[keep], y[keep])
        self.X = torch.tensor(X[keep].to_numpy(), dtype=torch.float32)
        self.y = torch.tensor(y[keep].to_numpy())
        self.group = torch.tensor(encode_groups(z[keep]).codes)

    def linear(self):
        """The score of logistic regression."""
        module = nn.Linear(self.X.shape[1], 1)
        with torch.no_grad():
            module.weight.copy_(torch.tensor(self.start.coef_))
            module.bias.copy_(torch.tensor(self.start.intercept_))
        return module

    def train(self, loss, batches, steps):
        """Objective on all people after steps on batches, and the groups that apply."""
        module = self.linear()
        optimizer = torch.optim.Adam(module.parameters(), RATE)
        schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
        for _, batch in zip(range(steps), batches, strict=False):
            optimizer.zero_grad()
            loss(module(self.X[batch])[:, 0], self.y[batch], self.group[batch]).backward()
            optimizer.step()
            schedule.step()
        loss.eval()
        with torch.no_grad():
            score = module(self.X)[:, 0]
            shares = loss.objective.hard(score.numpy(), self.y.numpy(), self.group.numpy()).shares
            return float(loss(score, self.y, self.group)), tuple(shares)


def everybody():
    while True:
        yield slice(None)


def epochs(sampler):
    while True:
        yield from map(torch.tensor, sampler)


def excess(people, cost, size, full, running, steps=STEPS):
    """By how many percent the objective ends above that of training on everybody, and whether the same groups apply."""
    percent, same = [], 0
    for seed in SEEDS:
        sampler = GroupBatchSampler(people.group, size, seed=seed)
        decay = 1 - 1 / len(sampler) if running else None  # a memory of one epoch
        value, groups = people.train(StrategicLoss(cost, N_GROUPS, decay=decay), epochs(sampler), steps)
        percent.append(100 * (value / full[0] - 1))
        same += groups == full[1]
    return f"{np.mean(percent):+.1f}% ({min(percent):+.1f} to {max(percent):+.1f}), {same} of {len(SEEDS)}"


def row(names, people, cost, size, full):
    columns = {
        f"running sums, {STEPS:,} steps": (True, STEPS),
        f"running sums, {FEW_STEPS:,} steps": (True, FEW_STEPS),
        f"no running sums, {FEW_STEPS:,} steps": (False, FEW_STEPS),
    }
    return names | {name: excess(people, cost, size, full, *setting) for name, setting in columns.items()}


def interleaved(*calls, repeats=400):
    """Least time of each call; they take turns, so that other work disturbs all of them alike."""
    times = np.empty((repeats, len(calls)))
    for i in range(repeats):
        for j, call in enumerate(calls):
            start = perf_counter()
            call()
            times[i, j] = perf_counter() - start
    return times.min(axis=0)


def step_of_module(people, hidden, criterion):
    """A step of an MLP on 1,024 people."""
    X, y, group = people.X[:1024], people.y[:1024], people.group[:1024]
    module = nn.Sequential(
        nn.Linear(X.shape[1], hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, 1)
    )
    optimizer = torch.optim.Adam(module.parameters())

    def step():
        optimizer.zero_grad()
        criterion(module(X)[:, 0], y, group).backward()
        optimizer.step()

    return step


def times(people):
    bce, labels = nn.BCEWithLogitsLoss(), people.y[:1024].float()
    criteria = (
        lambda score, y, group: bce(score, labels),
        StrategicLoss(0.7, N_GROUPS),
        StrategicLoss(0.7, N_GROUPS, decay=0.99),
    )
    rows = []
    for hidden in (64, 128):
        base, *ours = interleaved(*(step_of_module(people, hidden, criterion) for criterion in criteria))
        what = f"step of an MLP ({hidden}, {hidden}), batch 1,024, to that with BCEWithLogitsLoss"
        rows.append({"ratio": what, "loss": f"{ours[0] / base:.2f}", "with running sums": f"{ours[1] / base:.2f}"})
    X, y, group = people.X.double(), people.y, people.group
    weight = torch.zeros(X.shape[1], dtype=torch.float64, requires_grad=True)
    prepared = criteria[1].objective.on_rows(y.numpy(), encode_groups(group.numpy()))
    features = X.numpy()

    def in_numpy():
        return prepared.value_and_gradient(features @ weight.detach().numpy())[1] @ features

    base, *ours = interleaved(
        in_numpy, *(lambda loss=loss: loss(X @ weight, y, group).backward() for loss in criteria[1:]), repeats=100
    )
    what = "linear score, everybody, to numpy with rows sorted beforehand"
    rows.append({"ratio": what, "loss": f"{ours[0] / base:.2f}", "with running sums": f"{ours[1] / base:.2f}"})
    return pd.DataFrame(rows)


def main():
    torch.set_num_threads(1)
    people = Adult()
    overhead = times(people)
    sizes = []
    for cost in COSTS:
        full = people.train(StrategicLoss(cost, N_GROUPS), everybody(), FULL_STEPS)
        sizes += [row({"cost": cost, "batch": size}, people, cost, size, full) for size in tqdm(SIZES, disable=None)]
    small = []
    for smallest in tqdm(SMALLEST, disable=None):
        fewer = Adult(smallest)
        full = fewer.train(StrategicLoss(0.8, N_GROUPS), everybody(), FULL_STEPS)
        small.append(row({"smallest group": f"{smallest} people"}, fewer, 0.8, 256, full))
    write(
        "torch_batches.md",
        "# Minibatches of the strategic loss\n\n"
        "Made by `make bench BENCHMARKS=torch_batches` with the extra `torch`. By how much the objective on all\n"
        "training people (Adult, split 0) ends above that of training on everybody at once: mean of three seeds, and\n"
        f"range. Linear score from logistic regression, Adam at {RATE}, falling to 0; everybody at once:\n"
        f"{FULL_STEPS:,} steps, which are as many epochs; {STEPS:,} steps of 256 people are 227 epochs. Running sums\n"
        "remember one epoch: `decay=1 - 1 / len(loader)`. Last: the number of seeds after which the same\n"
        "groups apply as after training on everybody.\n\n"
        f"{to_markdown(pd.DataFrame(sizes))}\n\n"
        "Batches of 256 at cost 0.8, with fewer people in the smallest group:\n\n"
        f"{to_markdown(pd.DataFrame(small))}\n\n"
        "Times, as ratios within this run (least of several hundred steps):\n\n"
        f"{to_markdown(overhead)}\n",
    )


if __name__ == "__main__":
    main()
