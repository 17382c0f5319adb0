"""What users are warned of when they fit a classifier."""

from __future__ import annotations

import sys
import warnings

#: scikit-learn's own checks fit thousands of times, and nobody has groups there.
_WITHOUT_GROUPS = "sklearn.utils.estimator_checks"


class ApplicationWarning(UserWarning):
    """Something about who applies that the user should know."""


class ShutOutWarning(ApplicationWarning):
    """The classifier selects nobody, or hardly anybody, of some people."""


class PromiseWarning(ApplicationWarning):
    """What is published may not be what new people get."""


def warn(message: str, category: type[UserWarning] = ApplicationWarning) -> None:
    """Warn whoever called into this package."""
    level, frame = 2, sys._getframe(1)
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "selfselect":
        frame = frame.f_back  # type: ignore[assignment]
        level += 1
    warnings.warn(message, category, stacklevel=level)


def inside_checks() -> bool:
    """Whether a fit is one of scikit-learn's own checks of estimators."""
    frame = sys._getframe(1)
    while frame is not None:
        if frame.f_globals.get("__name__") == _WITHOUT_GROUPS:
            return True
        frame = frame.f_back  # type: ignore[assignment]
    return False
