"""The comparison of methods: a sweep over data sets, methods, costs and splits, its results, tables and figures."""

from .engines import DaskCluster, Engine, InProcess, LocalProcesses, choose_engine
from .methods import METHODS
from .sources import BUNDLED, BundledSource, own_table
from .store import Cell, Result, Store, StoreError
from .sweep import COSTS, Plan, estimate, run_sweep

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
