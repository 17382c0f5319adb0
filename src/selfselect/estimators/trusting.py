"""What of scikit-learn's is read from a model file besides its estimators, and checks of what compiled code believes.

skops builds only what it trusts: estimators and losses of scikit-learn, arrays, plain Python. :data:`TRUSTED` adds
parts of fitted estimators that hold numbers and settings, and functions that only compute. None of them can be made to
run something else, whatever they are called with.

A type says nothing about the numbers in it, though. Trees are walked by compiled code that follows the indices it
finds, wherever they lead (which is why skops does not trust them); so they are checked here, as are support vectors and
sparse matrices. Trees of nearest neighbours are not read at all: they are left out of a file and grown again.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    IsolationForest,
    RandomForestClassifier,
    RandomForestRegressor,
    RandomTreesEmbedding,
)
from sklearn.neighbors import BallTree, KDTree
from sklearn.svm import SVC, SVR, NuSVC, NuSVR, OneClassSVM
from sklearn.tree import BaseDecisionTree
from sklearn.tree._tree import Tree

from .._validation import BoolArray


def _within(module: str, names: str) -> set[str]:
    return {f"{module}.{name}" for name in names.split()}


#: Names of types and functions that are trusted besides those that skops trusts, with the reason.
TRUSTED: frozenset[str] = frozenset(
    # types of numbers, and matrices whose indices are checked below
    {"numpy.dtype"}
    | _within("scipy.sparse._csr", "csr_matrix csr_array")
    | _within("scipy.sparse._csc", "csc_matrix csc_array")
    # trees: their indices are checked below
    | {"sklearn.tree._tree.Tree", "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor"}
    # containers of fitted parts, in plain Python
    | {"sklearn.utils._bunch.Bunch", "sklearn.multiclass._ConstantPredictor"}
    | _within("sklearn.calibration", "_CalibratedClassifier _SigmoidCalibration _TemperatureScaling")
    | _within("sklearn.gaussian_process._gpc", "_BinaryGaussianProcessClassifierLaplace")
    | _within("sklearn.neural_network._stochastic_optimizers", "AdamOptimizer SGDOptimizer")
    | _within("sklearn.compose._column_transformer", "make_column_selector _RemainderColsList")
    # kernels are numbers and arithmetic
    | _within(
        "sklearn.gaussian_process.kernels",
        "CompoundKernel ConstantKernel DotProduct ExpSineSquared Exponentiation Hyperparameter Matern PairwiseKernel "
        "Product RBF RationalQuadratic Sum WhiteKernel",
    )
    # folds are numbers of folds and seeds
    | _within(
        "sklearn.model_selection._split",
        "GroupKFold GroupShuffleSplit KFold LeaveOneGroupOut LeaveOneOut PredefinedSplit RepeatedKFold "
        "RepeatedStratifiedKFold ShuffleSplit StratifiedGroupKFold StratifiedKFold StratifiedShuffleSplit "
        "TimeSeriesSplit",
    )
    # scorers call one of the metrics that follow; these compute a number from arrays
    | _within("sklearn.metrics._scorer", "_CurveScorer _PassthroughScorer _Scorer")
    | _within("sklearn.utils._metadata_requests", "MetadataRequest MethodMetadataRequest")
    | _within(
        "sklearn.metrics._classification",
        "accuracy_score balanced_accuracy_score brier_score_loss cohen_kappa_score f1_score fbeta_score jaccard_score "
        "log_loss matthews_corrcoef precision_score recall_score",
    )
    | _within("sklearn.metrics._ranking", "average_precision_score roc_auc_score")
    | _within("sklearn.feature_selection._univariate_selection", "chi2 f_classif")
    | _within("sklearn.feature_selection._mutual_info", "mutual_info_classif")
    # gradient boosting over histograms checks its categories by a function with settings
    | {"functools.partial", "sklearn.utils.validation.check_array"}
)

_TREES_AT_ONCE = (  # these hand rows to the trees of others without a look at them
    RandomForestClassifier,
    RandomForestRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomTreesEmbedding,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
)
_HISTOGRAMS = (HistGradientBoostingClassifier, HistGradientBoostingRegressor)
_NEIGHBOUR_TREES = {"kd_tree": KDTree, "ball_tree": BallTree}


def parts_of(root: Any) -> Iterator[Any]:
    """Everything that some objects of scikit-learn are made of, once each."""
    seen, waiting = set(), [root]
    while waiting:
        part = waiting.pop()
        if part is None or isinstance(part, str | bytes | int | float) or id(part) in seen:
            continue
        seen.add(id(part))
        yield part
        if isinstance(part, dict):
            waiting.extend(part.values())
        elif isinstance(part, list | tuple | set | frozenset):
            waiting.extend(part)
        elif isinstance(part, np.ndarray):
            waiting.extend(part.ravel().tolist() if part.dtype == object else ())
        if type(part).__module__.startswith("sklearn."):
            waiting.extend(getattr(part, "__dict__", {}).values())


# ---------------------------------------------------------------------- what is left out, and comes back


def without_leftovers(root: Any) -> Any:
    """The same objects, without what can be made again or is of no use after fitting; a copy if there is any such."""
    dropped: dict[int, Any] = {}
    for part in parts_of(root):
        if _has_neighbour_tree(part):
            dropped[id(part._tree)] = None
        if isinstance(part, _HISTOGRAMS) and part.__dict__.get("_scorer") is not None:
            dropped[id(part._scorer)] = None  # of early stopping; it leads back to the estimator in a circle
    if not dropped:
        return root
    lean = copy.deepcopy(root, dropped)
    for part in parts_of(lean):
        if isinstance(part, _HISTOGRAMS):
            part.__dict__.pop("_raw_predict", None)  # its own method, which early stopping leaves behind
    return lean


def _has_neighbour_tree(part: Any) -> bool:
    state = getattr(part, "__dict__", {})
    return state.get("_fit_method") in _NEIGHBOUR_TREES and "_fit_X" in state and state.get("_tree") is not None


def grow_again(root: Any) -> None:
    """Trees of nearest neighbours, from the rows that they were grown from."""
    for part in list(parts_of(root)):
        state = getattr(part, "__dict__", {})
        if "_fit_X" in state and state.get("_fit_method") in _NEIGHBOUR_TREES:
            grow = _NEIGHBOUR_TREES[state["_fit_method"]]
            params = part.effective_metric_params_
            part._tree = grow(part._fit_X, part.leaf_size, metric=part.effective_metric_, **params)


# ---------------------------------------------------------------------- what compiled code believes


def check_parts(root: Any) -> None:
    """Refuse objects whose numbers would lead compiled code astray, or that would read pickles.

    Raises
    ------
    ValueError
        Saying what does not fit.
    """
    for part in parts_of(root):
        if isinstance(part, Tree):
            _check_tree(part)
        elif isinstance(part, BaseDecisionTree):
            _check_decision_tree(part)
        elif isinstance(part, _TREES_AT_ONCE):
            _check_ensemble(part)
        elif isinstance(part, _HISTOGRAMS):
            _check_histograms(part)
        elif isinstance(part, SVC | NuSVC | SVR | NuSVR | OneClassSVM):
            _check_support(part)
        elif isinstance(part, IsolationForest):
            raise ValueError("an IsolationForest is no classifier, and is not read.")
        elif sparse.issparse(part):
            part.check_format(full_check=True)
        if getattr(part, "__dict__", {}).get("memory") is not None:
            raise ValueError(f"a {type(part).__name__} with memory= keeps pickles on disk; set it to None.")


def _demand(truth: Any, otherwise: str) -> None:
    if not truth:
        raise ValueError(f"{otherwise}.")


def _check_decision_tree(part: Any) -> None:
    if "tree_" in part.__dict__:  # else it is not fitted
        _demand(isinstance(part.tree_, Tree), "a tree holds something else")
        _demand(part.tree_.n_features == part.n_features_in_, "a tree is for other features than it says")


def _check_tree(tree: Any) -> None:
    _demand(1 <= tree.node_count <= tree.capacity, "a tree has other nodes than it says")
    _demand(tree.n_outputs >= 1 and tree.max_n_classes >= 1, "a tree has no values")
    left, right = tree.children_left, tree.children_right
    leaf = left == -1
    _check_nodes(left, right, leaf)
    _demand((right[leaf] == -1).all(), "a leaf of a tree has a child")
    _check_features(tree.feature[~leaf], tree.n_features)


def _check_nodes(left: NDArray[Any], right: NDArray[Any], leaf: BoolArray) -> None:
    """Whoever goes from node to child must come to a leaf, within the tree."""
    inner = np.flatnonzero(~leaf)
    children = np.concatenate([left[inner], right[inner]]).astype(np.int64)
    _demand((children > np.tile(inner, 2)).all() and (children < len(leaf)).all(), "a tree leads out of itself")
    _demand(len(np.unique(children)) == len(children), "branches of a tree grow together")


def _check_features(used: NDArray[Any], n_features: int) -> None:
    _demand(((used >= 0) & (used < n_features)).all(), "a tree asks for features that are not there")


def _check_ensemble(ensemble: Any) -> None:
    if "estimators_" not in ensemble.__dict__:
        return  # not fitted
    for tree in np.ravel(np.asarray(ensemble.estimators_, dtype=object)):
        _demand(isinstance(tree, BaseDecisionTree), "an ensemble of trees holds something else")
        _demand(isinstance(tree.tree_, Tree), "a tree holds something else")
        _demand(tree.tree_.n_features == ensemble.n_features_in_, "trees of an ensemble are for other features")


def _check_histograms(boosting: Any) -> None:
    if "_predictors" not in boosting.__dict__:
        return  # not fitted
    categorical = np.asarray(boosting._bin_mapper.is_categorical_, dtype=bool)
    _demand(categorical.shape == (boosting._n_features,), "boosted trees are for other features than they say")
    preprocessor = boosting.__dict__.get("_preprocessor")
    if preprocessor is None:
        _demand(boosting._n_features == boosting.n_features_in_, "boosted trees are for other features")
    for tree in (tree for several in boosting._predictors for tree in several):
        nodes = tree.nodes
        leaf = nodes["is_leaf"].astype(bool)
        _demand(nodes.ndim == 1 and len(nodes) > 0, "a boosted tree has no nodes")
        _check_nodes(nodes["left"], nodes["right"], leaf)
        used = nodes["feature_idx"][~leaf]
        _check_features(used, len(categorical))
        by_category = nodes["is_categorical"][~leaf].astype(bool)
        _demand(categorical[used[by_category]].all(), "a boosted tree has categories of a feature without any")
        for bits in (tree.raw_left_cat_bitsets, tree.binned_left_cat_bitsets):
            _demand(bits.ndim == 2 and bits.shape[1] == 8, "categories of a boosted tree have no room")
            asked = nodes["bitset_idx"][~leaf][by_category]
            _demand((asked < len(bits)).all(), "a boosted tree asks for categories that are not there")


def _check_support(machine: Any) -> None:
    if "support_" not in machine.__dict__:
        return  # not fitted
    each, n = np.asarray(machine._n_support), len(machine.support_)
    if not isinstance(machine, SVC | NuSVC):
        each = np.append(each[:1], 0)  # there are no classes, and all vectors are counted twice
    classes = len(each)
    pairs = classes * (classes - 1) // 2
    weights = machine._dual_coef_.data if sparse.issparse(machine._dual_coef_) else machine._dual_coef_
    fits = (
        classes >= 2
        and (each >= 0).all()
        and each.sum() == n
        and np.size(weights) == (classes - 1) * n
        and np.size(machine._intercept_) == pairs
        and {np.size(machine._probA), np.size(machine._probB)} <= {0, pairs}
    )
    if machine.kernel == "precomputed":
        fits = fits and ((machine.support_ >= 0) & (machine.support_ < machine.shape_fit_[0])).all()
        fits = fits and machine.shape_fit_[0] == machine.n_features_in_
    else:
        fits = fits and machine.support_vectors_.shape == (n, machine.n_features_in_)
    _demand(fits, "support vectors do not fit each other")
