"""Sentences that people read, in reports and on the terminal. Words are chosen here and nowhere else."""
