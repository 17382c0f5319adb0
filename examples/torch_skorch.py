"""The strategic loss inside plain skorch: groups travel with the features, in a dict."""

import numpy as np
import torch
from skorch import NeuralNet
from torch import nn

from selfselect import PublishedStatistics, encode_groups
from selfselect.datasets import make_base_rate_groups
from selfselect.torch import StrategicLoss

COST = 0.7
X, y, z = make_base_rate_groups((0.5, 0.3, 0.15), n_per_group=800, random_state=0, return_X_y_group=True)
groups = encode_groups(z)


class Score(nn.Module):
    """One score per person; the group is not used, but skorch passes all of the dict to forward."""

    def __init__(self, n_features: int) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(n_features, 16), nn.ReLU(), nn.Linear(16, 1), nn.Flatten(0))

    def forward(self, features: torch.Tensor, group: torch.Tensor) -> torch.Tensor:  # noqa: D102
        return self.layers(features)


class StrategicNet(NeuralNet):
    """A net whose loss gets the groups."""

    def get_loss(self, y_pred, y_true, X, training=False):  # noqa: D102
        return self.criterion_(y_pred, y_true, X["group"])


torch.manual_seed(0)
loss = StrategicLoss(COST, groups.n_groups, decay=0.9)
net = StrategicNet(Score, loss, module__n_features=X.shape[1], optimizer=torch.optim.Adam, lr=0.01, batch_size=256)
data = {"features": X.to_numpy(np.float32), "group": groups.codes}
net.set_params(train_split=None, max_epochs=15, verbose=0, iterator_train__shuffle=True).fit(data, np.asarray(y))
print(PublishedStatistics.from_predictions(y, net.predict(data) > 0, sensitive_features=z).to_frame().round(3))
