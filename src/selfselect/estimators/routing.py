"""Groups for inner estimators that take them, such as those of fairlearn."""

from __future__ import annotations

from inspect import Parameter, signature
from typing import Any

import numpy as np
import pandas as pd
from sklearn import get_config
from sklearn.utils.metadata_routing import get_routing_for_object

from .._frames import to_pandas
from ..counting import GroupCodes, encode_groups

NAME = "sensitive_features"


def groups_for(estimator: Any, method: str, groups: Any) -> dict[str, Any]:
    """Groups as a keyword argument for a method that takes them, otherwise nothing.

    A method takes groups if it has a parameter ``sensitive_features``, if it requests them by scikit-learn's metadata
    routing, or if it is the ``fit`` of one of fairlearn's reductions. If it cannot do without them, None is an error.
    """
    own = signature(getattr(estimator, method)).parameters.get(NAME)
    reduction = any(cls.__module__.startswith("fairlearn.reductions") for cls in type(estimator).__mro__)
    takes = own is not None or (reduction and method == "fit")
    if get_config()["enable_metadata_routing"]:
        routing = get_routing_for_object(estimator)
        requests = getattr(getattr(routing, method, None), "requests", {})  # a router has none of its own
        takes = bool(routing.consumes(method, [NAME])) or (takes and requests.get(NAME) is not False)
    if takes and groups is not None:
        return {NAME: groups}
    if takes and (own is None or own.default is Parameter.empty):
        call = "fit(X, y, sensitive_features=...)" if method == "fit" else f"{method}(X, sensitive_features=...)"
        raise TypeError(f"{type(estimator).__name__} needs the group of each row: pass {call}.")
    return {}


def plain_groups(groups: Any, codes: GroupCodes | None = None) -> Any:
    """Groups as inner estimators get them: pandas and arrays as they are, anything else as a column of labels."""
    groups = to_pandas(groups)
    if groups is None or isinstance(groups, pd.Series | pd.DataFrame | np.ndarray):
        return groups
    codes = encode_groups(groups) if codes is None else codes
    labels = codes.labels.take(codes.codes)
    return labels.to_frame(index=False, allow_duplicates=True) if labels.nlevels > 1 else labels.to_numpy()
