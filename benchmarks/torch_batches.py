"""Minibatches with and without running sums, and the time that the loss takes. Writes results/torch_batches.md.

A linear score on Adult starts from logistic regression, and Adam takes steps on batches of several sizes. What counts
is the objective on all training people at the end, compared with the best of several trainings on all of them at once.
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
from selfselect.torch.network import MLP

STEPS, FEW_STEPS, FULL_STEPS, RATE, SEEDS = 10_000, 2000, 2000, 0.05, range(3)
COSTS, SIZES = (0.65, 0.7, 0.75, 0.8), (64, 256, 1024)
STARTS, NOISE = 5, 0.1
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

    def linear(self, noise, seed):
        """The score of logistic regression, with noise."""
        random = torch.Generator().manual_seed(seed)
        module = nn.Linear(self.X.shape[1], 1)
        with torch.no_grad():
            module.weight.copy_(torch.tensor(self.start.coef_))
            module.bias.copy_(torch.tensor(self.start.intercept_))
            for part in module.parameters():
                part.add_(noise * torch.randn(part.shape, generator=random))
        return module

    def full(self, cost):
        """Lowest objective of training on everybody from several starts, how far others are above, who applies."""
        found = sorted(
            self.train(StrategicLoss(cost, N_GROUPS), everybody(), FULL_STEPS, noise=NOISE * (seed > 0), seed=seed)
            for seed in range(STARTS)
        )
        return found[0][0], 100 * (found[-1][0] / found[0][0] - 1), found[0][1]

    def train(self, loss, batches, steps, noise=0.0, seed=0, weight=None):
        """Objective on all people after steps on batches, and the groups that apply."""
        module = self.linear(noise, seed)
        optimizer = torch.optim.Adam(module.parameters(), RATE)
        schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
        for _, batch in zip(range(steps), batches, strict=False):
            optimizer.zero_grad()
            weights = None if weight is None else weight[batch]
            loss(module(self.X[batch])[:, 0], self.y[batch], self.group[batch], weights).backward()
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


def excess(people, cost, size, full, running, steps=STEPS, least=0):
    """By how many percent the objective ends above that of everybody at once, and whether the same groups apply."""
    percent, same = [], 0
    for seed in SEEDS:
        sampler = GroupBatchSampler(people.group, size, min_per_group=least, seed=seed)
        loss = StrategicLoss(cost, N_GROUPS, decay=1 - 1 / len(sampler) if running else None)  # a memory of one epoch
        value, groups = people.train(loss, epochs(sampler), steps, weight=sampler.weight if least else None)
        percent.append(100 * (value / full[0] - 1))
        same += groups == full[2]
    return f"{np.mean(percent):+.1f}% ({min(percent):+.1f} to {max(percent):+.1f}), {same} of {len(SEEDS)}"


def row(names, people, cost, size, full):
    columns = {
        f"running sums, {STEPS:,} steps": (True, STEPS),
        f"running sums, {FEW_STEPS:,} steps": (True, FEW_STEPS),
        f"no running sums, {STEPS:,} steps": (False, STEPS),
    }
    names |= {"everybody at once": f"0 to +{full[1]:.1f}%"}
    return names | {name: excess(people, cost, size, full, *setting) for name, setting in columns.items()}


def interleaved(*calls, repeats):
    """Least time of each call; they take turns, so that other work disturbs all of them alike."""
    times = np.empty((repeats, len(calls)))
    for i in range(repeats):
        for j, call in enumerate(calls):
            start = perf_counter()
            call()
            times[i, j] = perf_counter() - start
    return times.min(axis=0)


def step_of_module(people, criterion, **params):
    """A step of the default module on 1,024 people."""
    X, y, group = people.X[:1024].double(), people.y[:1024], people.group[:1024]
    module = MLP(X.shape[1], **params)
    optimizer = torch.optim.Adam(module.parameters())

    def step():
        optimizer.zero_grad()
        criterion(module(X), y, group).backward()
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
    for hidden in ((64, 64), (128, 128)):
        steps = (step_of_module(people, criterion, hidden=hidden) for criterion in criteria)
        base, *ours = interleaved(*steps, repeats=1000)
        what = f"step of the default module, hidden {hidden}, batch 1,024, to that with BCEWithLogitsLoss"
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
        full = people.full(cost)
        sizes += [row({"cost": cost, "batch": size}, people, cost, size, full) for size in tqdm(SIZES, disable=None)]
    small = []
    for smallest in tqdm(SMALLEST, disable=None):
        fewer = Adult(smallest)
        small.append(row({"smallest group": f"{smallest} people"}, fewer, 0.8, 256, fewer.full(0.8)))
    write(
        "torch_batches.md",
        "# Minibatches of the strategic loss\n\n"
        "Made by `make bench BENCHMARKS=torch_batches` with the extra `torch`. By how much the objective on all\n"
        "training people (Adult, split 0) ends above the lowest that training on everybody at once reached: mean of\n"
        f"three seeds, and range; then the number of seeds after which the same groups apply. Linear score from\n"
        f"logistic regression, Adam at {RATE}, falling to 0. Everybody at once: {FULL_STEPS:,} steps from each of\n"
        f"{STARTS} starts, of which all but one have noise of {NOISE}, and how far above the lowest they end. With\n"
        f"batches of 256, {STEPS:,} steps are 227 epochs, and {FEW_STEPS:,} steps 45. Running sums remember one epoch\n"
        "(`decay=1 - 1 / len(loader)`).\n\n"
        f"{to_markdown(pd.DataFrame(sizes))}\n\n"
        "Batches of 256 at cost 0.8, with fewer people in the smallest group:\n\n"
        f"{to_markdown(pd.DataFrame(small))}\n\n"
        "Times, as ratios within this run (least of several hundred steps):\n\n"
        f"{to_markdown(overhead)}\n",
    )


if __name__ == "__main__":
    main()
