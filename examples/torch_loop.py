"""The strategic loss in a plain PyTorch loop: a small network on Adult, in batches of 256."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from selfselect import PublishedStatistics, encode_groups
from selfselect.datasets import fetch_adult
from selfselect.torch import GroupBatchSampler, StrategicLoss

COST = 0.75
adult = fetch_adult()
groups = encode_groups(adult.group)
X = torch.tensor(adult.data.to_numpy(), dtype=torch.float32)
y, group = torch.tensor(adult.target.to_numpy()), torch.tensor(groups.codes)
train, test = torch.randperm(len(y), generator=torch.Generator().manual_seed(0)).tensor_split([len(y) * 7 // 10])

sampler = GroupBatchSampler(group[train], batch_size=256)
loader = DataLoader(TensorDataset(X[train], y[train], group[train]), batch_sampler=sampler)
strategic = StrategicLoss(COST, groups.n_groups, decay=1 - 1 / len(loader))
ordinary = nn.BCEWithLogitsLoss()

torch.manual_seed(0)
module = nn.Sequential(nn.Linear(X.shape[1], 64), nn.ReLU(), nn.Linear(64, 1), nn.Flatten(0))
optimizer = torch.optim.Adam(module.parameters(), lr=0.003)
for epoch in range(8):
    for features, label, code in loader:
        score = module(features)
        # three ordinary epochs come first: a group that is far from applying has almost no strategic gradient
        value = ordinary(score, label.float()) if epoch < 3 else strategic(score, label, code)
        optimizer.zero_grad()
        value.backward()
        optimizer.step()

with torch.no_grad():
    selected = (module(X[test]) > 0).numpy()
statistics = PublishedStatistics.from_predictions(y[test], selected, sensitive_features=adult.group.iloc[test])
table = statistics.to_frame().assign(applies=statistics.applies(COST))
print(table[["n", "base_rate", "precision", "accuracy", "applies"]].round(3))
