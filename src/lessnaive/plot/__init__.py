"""Displays: what was learned, to look at; they need matplotlib."""

from lessnaive.plot.binning import BinningDisplay
from lessnaive.plot.calibration import CalibrationDisplay
from lessnaive.plot.coefficients import CoefficientsDisplay
from lessnaive.plot.comparison import ComparisonDisplay
from lessnaive.plot.convergence import ConvergenceDisplay
from lessnaive.plot.critical_difference import CriticalDifferenceDisplay
from lessnaive.plot.explanation import ExplanationDisplay
from lessnaive.plot.group_path import GroupPathDisplay
from lessnaive.plot.importance import ImportanceDisplay
from lessnaive.plot.logistic_path import LogisticPathDisplay
from lessnaive.plot.nomogram import NomogramDisplay, NomogramScale
from lessnaive.plot.prequential import PrequentialDisplay
from lessnaive.plot.search import SearchDisplay
from lessnaive.plot.sparsity import SparsityDisplay
from lessnaive.plot.stagewise import StagewisePathDisplay
from lessnaive.plot.surface import CVSurfaceDisplay
from lessnaive.plot.term import TermDisplay
from lessnaive.plot.weight_path import PathDisplay
from lessnaive.plot.weights import WeightsDisplay

__all__ = [
    "BinningDisplay",
    "CVSurfaceDisplay",
    "CalibrationDisplay",
    "CoefficientsDisplay",
    "ComparisonDisplay",
    "ConvergenceDisplay",
    "CriticalDifferenceDisplay",
    "ExplanationDisplay",
    "GroupPathDisplay",
    "ImportanceDisplay",
    "LogisticPathDisplay",
    "NomogramDisplay",
    "NomogramScale",
    "PathDisplay",
    "PrequentialDisplay",
    "SearchDisplay",
    "SparsityDisplay",
    "StagewisePathDisplay",
    "TermDisplay",
    "WeightsDisplay",
]
