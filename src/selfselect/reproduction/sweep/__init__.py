"""A sweep over people, methods, costs and splits: what is asked, the work, where it runs, and its results on disk."""
