"""Behaviours and a statistic of users' own."""

import numpy as np


class Hesitant:
    """Shares rise with what is published beyond the cost; half of a group wants a tenth more than the cost."""

    def shares(self, published, cost):
        return np.clip(np.nan_to_num(published.value - cost - 0.1, nan=-1) * 3 + 0.5, 0, 1)


class Wary:
    """Yes or no: people want more than the cost, and more if few are selected."""

    def shares(self, published, cost):
        return np.nan_to_num(published.value - 0.3 / np.maximum(published.counts.selected, 1)) > cost


class Shrunk:
    """A statistic: precision of the selected people and ten more, half of them qualified."""

    def value(self, counts):
        return np.where(counts.selected > 0, (counts.true_positives + 5) / (counts.selected + 10), np.nan)
