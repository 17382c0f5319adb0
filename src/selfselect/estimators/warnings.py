"""What users are warned of when they fit a classifier."""

from __future__ import annotations

import sys
import warnings

#: scikit-learn's own checks fit thousands of times, and nobody has groups there.
_WITHOUT_GROUPS = "sklearn.utils.estimator_checks"


class ApplicationWarning(UserWarning):
    """Something about who applies that the user should know."""


def warn(message: str, stacklevel: int = 2) -> None:
    """Warn the caller of whoever calls this (or further up, by ``stacklevel``)."""
    warnings.warn(message, ApplicationWarning, stacklevel=stacklevel + 1)


def inside_checks() -> bool:
    """Whether a fit is one of scikit-learn's own checks of estimators."""
    frame = sys._getframe(1)
    while frame is not None:
        if frame.f_globals.get("__name__") == _WITHOUT_GROUPS:
            return True
        frame = frame.f_back  # type: ignore[assignment]
    return False
