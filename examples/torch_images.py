"""Images: a small convolutional network on scikit-learn's digits; people who write thick or thin are two groups."""

import numpy as np
import torch
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import nn

from selfselect.torch import TorchStrategicClassifier


class ConvNet(nn.Module):
    """Two convolutions and one score per image."""

    def __init__(self, channels: int = 8) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(1, channels, 3), nn.ReLU(), nn.Conv2d(channels, channels, 3), nn.ReLU(), nn.Flatten()
        )
        self.score = nn.Linear(16 * channels, 1)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        """Score of each image of 8 x 8 pixels."""
        return self.score(self.layers(images[:, None]))


digits = load_digits()
images, y = digits.images / 16, digits.target >= 5
ink = images.mean(axis=(1, 2))
group = np.where(ink > np.median(ink), "thick", "thin")
# a tenth of the labels of thick digits are wrong, so that precision differs between the groups
y = y ^ ((group == "thick") & (np.random.default_rng(0).uniform(size=len(y)) < 0.1))
X, X_new, y, y_new, z, z_new = train_test_split(images, y, group, random_state=0)

model = TorchStrategicClassifier(ConvNet, cost=0.8, max_epochs=16, batch_size=64, random_state=0)
model.fit(X, y, sensitive_features=z)
result = model.audit(X_new, y_new, z_new)
print(model.explain())
print(f"accuracy among applicants: {result.induced_accuracy:.1%}")
