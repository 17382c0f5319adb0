"""Simulations of everything that claims certainty, as a user of the library: ``python -m simulations --help``."""
