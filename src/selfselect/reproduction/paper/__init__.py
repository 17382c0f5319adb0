"""What comes out of a sweep, in the layout of the paper: tables, figures, verdicts on its claims, the page."""
