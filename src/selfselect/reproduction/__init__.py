"""The comparison of methods: a sweep over data sets, methods, costs and splits, its results, tables and figures."""

from .methods import ALL_METHODS, HONEST_METHODS, METHODS, PROMISING
from .people import BUNDLED, BundledDataset, own_dataset
from .sweep.clusters import DaskCluster
from .sweep.database import StoreError
from .sweep.engines import Engine, InProcess, LocalProcesses, choose_engine
from .sweep.plan import COSTS, PROMISE_SPLITS, SPLITS, Plan
from .sweep.progress import Estimate, Progress, estimate, progress
from .sweep.repairing import Repair, repair
from .sweep.results import Cell, Result
from .sweep.running import run_sweep
from .sweep.store import Store

__all__ = [
    "ALL_METHODS",
    "BUNDLED",
    "COSTS",
    "HONEST_METHODS",
    "METHODS",
    "PROMISE_SPLITS",
    "PROMISING",
    "SPLITS",
    "BundledDataset",
    "Cell",
    "DaskCluster",
    "Engine",
    "Estimate",
    "InProcess",
    "LocalProcesses",
    "Plan",
    "Progress",
    "Repair",
    "Result",
    "Store",
    "StoreError",
    "choose_engine",
    "estimate",
    "own_dataset",
    "progress",
    "repair",
    "run_sweep",
]
