"""Behaviours of a user, with one method each."""

import numpy as np


class AtLeastTen:
    """Yes or no: a group also wants to see ten selected people."""

    def shares(self, published, cost):
        return published.reaches(cost) & (np.asarray(published.counts.selected) >= 10)


class Cautious:
    """Yes or no: a group asks for more where fewer people are selected."""

    def shares(self, published, cost):
        return np.nan_to_num(published.value, nan=-1.0) >= cost + 1 / (5 + np.asarray(published.counts.selected))


class Linear:
    """Shares that rise with what is published, and with how many people that rests on."""

    def shares(self, published, cost):
        known = np.asarray(published.counts.selected) / (5 + np.asarray(published.counts.selected))
        return np.where(published.is_defined, np.clip(0.5 + known * (published.value - cost), 0, 1), 0.0)


class OneThird:
    """A third of every group applies, whatever is published."""

    def shares(self, published, cost):
        return np.full(np.shape(published.counts.selected), 1 / 3)
