"""Slow, plain, independent answers: one person at a time, fractions instead of floating point."""

from fractions import Fraction


def groups_of(z):
    return sorted(set(z))


def counts(y, yhat, z):
    """{group: (n, positives, selected, true positives)}, by a loop over people."""
    table = {g: [0, 0, 0, 0] for g in groups_of(z)}
    for label, decision, group in zip(y, yhat, z, strict=True):
        row = table[group]
        row[0] += 1
        row[1] += label == 1
        row[2] += decision == 1
        row[3] += label == 1 and decision == 1
    return {g: tuple(row) for g, row in table.items()}


def applies(y, yhat, z, cost):
    """{group: applies}, exactly: cost as a fraction of hundredths."""
    exact = Fraction(round(cost * 1000), 1000)
    return {
        g: selected > 0 and Fraction(hits, selected) >= exact
        for g, (_, _, selected, hits) in counts(y, yhat, z).items()
    }


def induced_accuracy(y, yhat, z, decided):
    """Share of right decisions among people whose group applies, None if there are none."""
    judged = [label == decision for label, decision, g in zip(y, yhat, z, strict=True) if decided[g]]
    return sum(judged) / len(judged) if judged else None


def social_cost(y, z, decided):
    qualified = [g for label, g in zip(y, z, strict=True) if label == 1]
    return sum(not decided[g] for g in qualified) / len(qualified) if qualified else None


def all_tables(total):
    """Every (TP, FP, FN, TN) that adds up to a total."""
    for tp in range(total + 1):
        for fp in range(total + 1 - tp):
            for fn in range(total + 1 - tp - fp):
                yield tp, fp, fn, total - tp - fp - fn
