"""The comparison of methods: a sweep over data sets, methods, costs and splits, its results, tables and figures."""

from .methods import METHODS
from .people import BUNDLED, BundledSource, own_table
from .sweep.engines import DaskCluster, Engine, InProcess, LocalProcesses, choose_engine
from .sweep.running import COSTS, Plan, estimate, run_sweep
from .sweep.store import Cell, Result, Store, StoreError

__all__ = [
    "BUNDLED",
    "COSTS",
    "METHODS",
    "BundledSource",
    "Cell",
    "DaskCluster",
    "Engine",
    "InProcess",
    "LocalProcesses",
    "Plan",
    "Result",
    "Store",
    "StoreError",
    "choose_engine",
    "estimate",
    "own_table",
    "run_sweep",
]
