"""The objective of training as the paper writes it (or its released code), in numpy that autograd differentiates."""

import autograd.numpy as anp
import numpy as np

from selfselect.learning import DescentSettings


def sigma(x):
    return 1 / (1 + anp.exp(-x))


def sigmoid(q, n, c, t=5.0):
    """Smooth best response to a precision of n selected people."""
    q = anp.clip(q, 1e-6, 1 - 1e-6)
    return 1 / (1 + ((q / (1 - q)) / (c / (1 - c))) ** -t)


class Definition:
    """The objective of one score; ``of_group`` has a row per group."""

    def __init__(
        self, y, codes, weight, cost, settings=None, shares=None, *, corrected=True, loss="log", parity=0.0, tpr=0.0
    ):
        self.y, self.weight, self.cost, self.corrected, self.loss = y, weight, cost, corrected, loss
        self.settings, self.parity, self.tpr = DescentSettings() if settings is None else settings, parity, tpr
        self.shares = shares or (lambda q, n, c: sigmoid(q, n, c, self.settings.application_temperature))
        self.member = np.arange(codes.max() + 1)[:, None] == codes
        self.of_group = self.member * weight

    def smooth(self, score):
        """Sharp and soft predictions."""
        return sigma(self.settings.precision_temperature * score), sigma(self.settings.temperature * score)

    def held(self, score, hard=None):
        """What is constant in the gradient: corrections by hard predictions, the overall rate, who is on top."""
        p, soft = self.smooth(score)
        hard = score > 0 if hard is None else hard
        correction = (
            self.of_group @ ((self.y - self.cost[self.member.argmax(axis=0)]) * (hard - p)) / (self.of_group @ p)
        )
        top = np.where(self.member, score, -np.inf).argmax(axis=1)
        correction = np.where(self.corrected & (soft[top] > self.settings.corrected_above), correction, 0.0)
        return correction, self.weight @ soft / self.weight.sum(), top

    def value(self, score, held):
        (correction, overall, top), y, settings = held, self.y, self.settings
        p, soft = self.smooth(score)
        selected = self.of_group @ p
        applies = self.shares((self.of_group @ (y * p)) / selected + correction, selected, self.cost)
        losses = -(y * anp.log(soft) + (1 - y) * anp.log(1 - soft)) if self.loss == "log" else y + soft - 2 * y * soft
        loss = anp.sum(applies * (self.of_group @ losses)) / anp.sum(applies * self.of_group.sum(axis=1))
        over = anp.mean if settings.application_over == "mean" else anp.sum
        penalty = over(-anp.log(soft[top] + 0.001)) - anp.log(anp.max(applies) + 0.001)
        rate = (self.of_group @ soft) / self.of_group.sum(axis=1)
        if settings.parity_over == "mean":
            spread = anp.mean((rate - anp.sum(self.weight * soft) / self.weight.sum()) ** 2)
        else:
            spread = anp.sum((10 * (rate - overall)) ** 2)
        true_positive_rate = (self.of_group @ (y * soft)) / (self.of_group @ y)
        tpr_spread = anp.mean((true_positive_rate - anp.sum(self.weight * y * soft) / anp.sum(self.weight * y)) ** 2)
        return loss + settings.application_weight * penalty + self.parity * spread + self.tpr * tpr_spread
