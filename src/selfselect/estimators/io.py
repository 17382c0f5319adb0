"""Model files: a fitted classifier, or a pipeline around it, in one skops file.

skops builds only types that it trusts (estimators of scikit-learn, arrays, plain Python) and those in :data:`TRUSTED`.
A file with any other type is refused by name before anything is built, and nothing in a file is ever executed.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextvars import ContextVar
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED

from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from .._errors import InputError
from .._files import write_atomically
from ..publishing.privacy import check_min_cell


def _in_module(module: str, names: str) -> set[str]:
    return {f"{module}.{name}" for name in names.split()}


#: Types that are read besides those of skops: this package's, and parts of scikit-learn's that hold only numbers.
TRUSTED: frozenset[str] = frozenset(
    {
        "numpy.dtype",
        "selfselect.counting.counts.GroupCounts",
        "selfselect.estimators.logistic.GradientDescentLogisticRegression",
        "selfselect.estimators.naive.NaiveClassifier",
        "selfselect.estimators.paper.PaperClassifier",
        "selfselect.estimators.semi.SemiStrategicClassifier",
        "selfselect.estimators.strategic.StrategicClassifier",
        "selfselect.estimators.thresholds.GroupThresholdClassifier",
        "selfselect.publishing.published.PublishedStatistics",
        "selfselect.tabular.train.TableModel",
        "selfselect.torch.classifier.TorchStrategicClassifier",
        "selfselect.torch.network.Network",
        "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor",
        "sklearn.metrics._scorer._PassthroughScorer",
        "sklearn.multiclass._ConstantPredictor",
        "sklearn.tree._tree.Tree",
        "sklearn.utils._bunch.Bunch",
    }
    | _in_module("selfselect.behaviour", "BestResponse BetaBeliefs LogitResponse PrivateCosts SigmoidResponse")
    | _in_module(
        "selfselect.constraints",
        "BaseRateOrder DemographicParity FalsePositiveRateParity MaxSocialCost MinSelectionRate RequiredGroups "
        "TruePositiveRateParity",
    )
    | _in_module("selfselect.publishing.pooling", "BetaPrior FittedLowerBound PooledLowerBound")
    | _in_module("selfselect.publishing.splits", "CrossFit Holdout TrainingSet")
    | _in_module("selfselect.statistics", "LowerBound Precision")
    | _in_module("sklearn.calibration", "_CalibratedClassifier _SigmoidCalibration _TemperatureScaling")
    | _in_module("sklearn.compose._column_transformer", "make_column_selector _RemainderColsList")
    | _in_module("sklearn.metrics._dist_metrics", "EuclideanDistance64 ManhattanDistance64 MinkowskiDistance64")
    | _in_module(
        "sklearn.model_selection._split",
        "GroupKFold KFold PredefinedSplit ShuffleSplit StratifiedGroupKFold StratifiedKFold StratifiedShuffleSplit",
    )
    | _in_module("sklearn.neighbors", "_ball_tree.BallTree _kd_tree.KDTree")
    | _in_module("sklearn.neural_network._stochastic_optimizers", "AdamOptimizer SGDOptimizer")
    | _in_module("sklearn.utils._metadata_requests", "MetadataRequest MethodMetadataRequest")
)

#: Where scipy's distributions are, which :class:`~selfselect.behaviour.PrivateCosts` holds: they hold only numbers.
DISTRIBUTIONS = ("scipy.stats._continuous_distns.", "scipy.stats._distn_infrastructure.rv_continuous_frozen")

#: While a model file is written, rather than a pickle or a copy: the fewest people in a cell of its published counts.
SAVING: ContextVar[int | None] = ContextVar("saving", default=None)


def save_model(model: Any, path: str | Path, min_cell: int = 0) -> None:
    """Save a fitted classifier, or a pipeline around it, as a skops file.

    Parameters
    ----------
    model : estimator
        A fitted classifier, or a :class:`sklearn.pipeline.Pipeline` or search that holds one.
    path : str or Path
        Name of the file, which ends in ``.skops``. The file is written whole; an existing one is replaced.
    min_cell : int, default=0
        For a file that is passed on, as the command writes it with 10: fewest people of a group that pass or not, and
        are qualified or not, in the published counts of the file. Smaller counts are raised to it, so that published
        numbers of small groups change; each group applies or stays away as before. 0 writes exact counts.

    Raises
    ------
    TypeError
        If skops cannot write something inside, or could not read it back.

    Notes
    -----
    Everything that predicts, all parameters and the published statistics are saved. Scores of training rows
    (``unseen_scores_``, ``curve_``, ``allocation_``) are not: a file may be passed on. What an estimator of
    scikit-learn keeps of its training rows is saved: nearest neighbours keep all. Own types may be saved; to load them,
    name them in ``load_model(path, trusted=[...])``.

    Examples
    --------
    >>> import tempfile
    >>> from selfselect import NaiveClassifier, load_model
    >>> from selfselect.datasets import make_base_rate_groups
    >>> X, y, z = make_base_rate_groups((0.5, 0.15), random_state=0, return_X_y_group=True)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_model(NaiveClassifier(cost=0.8).fit(X, y, sensitive_features=z), f"{folder}/naive.skops")
    ...     load_model(f"{folder}/naive.skops").applies().to_dict()
    {'z0': True, 'z1': False}
    """
    check_is_fitted(model)
    if Path(path).suffix != ".skops":
        raise ValueError(f"{path}: a model is saved as a skops file; its name must end in .skops.")
    write_atomically(path, model_bytes(model, min_cell))


def load_model(path: str | Path, *, trusted: Iterable[str] = ()) -> Any:
    """Load a model that :func:`save_model` or the command ``selfselect train`` wrote.

    Parameters
    ----------
    path : str or Path
        Name of the file.
    trusted : iterable of str, optional
        Full names of further types that the file may hold, as in :func:`skops.io.load`. Name only types that you know:
        building one may run its code.

    Raises
    ------
    ValueError
        If the file is not a model, is damaged, or holds a type that is not trusted. The error names the file and the
        types.

    Warns
    -----
    InconsistentVersionWarning
        If an estimator was fitted with another version of scikit-learn; see
        :class:`sklearn.exceptions.InconsistentVersionWarning`.
    """
    import skops.io

    data, known = Path(path).read_bytes(), TRUSTED | set(trusted)
    try:
        found = set(skops.io.get_untrusted_types(data=data))
        known |= {name for name in found if name.startswith(DISTRIBUTIONS)}
        unknown = sorted(found - known)
        model = None if unknown else skops.io.loads(data, trusted=sorted(known))
    except Warning:  # for users who turn warnings into errors
        raise
    except ImportError as error:
        raise ImportError(f"{path} needs a package or module that is not there. {error}") from error
    except Exception as error:  # a damaged file may raise anything
        raise ValueError(f"{path} is not a skops file, or it is damaged ({type(error).__name__}: {error}).") from error
    if unknown:
        raise ValueError(
            f"{path} holds types that are not trusted: {', '.join(unknown)}. Nothing was loaded. If you know them and "
            f"who made the file, pass load_model(path, trusted={unknown!r})."
        )
    if not isinstance(model, BaseEstimator) and f"{type(model).__module__}.{type(model).__name__}" not in TRUSTED:
        raise ValueError(f"{path} is not a model: it holds a {type(model).__name__}.")
    return model


def model_bytes(model: Any, min_cell: int = 0) -> bytes:
    """Content of a model file; what could not be read back is refused."""
    import skops.io

    token = SAVING.set(check_min_cell(min_cell))
    try:
        data: bytes = skops.io.dumps(model, compression=ZIP_DEFLATED)
        skops.io.loads(data, trusted=skops.io.get_untrusted_types(data=data))
    except InputError:
        raise
    except Exception as error:  # an object of another package may raise anything
        raise TypeError(
            f"This {type(model).__name__} cannot be saved: skops cannot write or read back a part of it "
            f"({type(error).__name__}: {error})."
        ) from error
    finally:
        SAVING.reset(token)
    return data
