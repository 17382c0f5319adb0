from selfselect.reproduction import BundledDataset
from selfselect.reproduction.people import split_people


def test_splits_are_those_of_the_paper():
    halves = split_people(BundledDataset("bank_30").load(), 0)
    assert (len(halves.train.y), len(halves.test.y)) == (22_487, 9_638)
