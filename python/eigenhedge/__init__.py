"""Online PCA and online kernel PCA with regret guarantees.

Rows arrive one at a time. Before each row, a learner commits to a k-dimensional subspace. The row arrives, its squared
reconstruction error is recorded as the loss, and then the learner updates.

- :func:`run`: one pass over a table, like ``eigenhedge run``. Returns a :class:`RunResult`.
- :class:`Model`: learns row by row. It can be saved and loaded.
- :class:`Fleet`: one model or monitor per key.
- :class:`Moments`: count, mean and scatter matrix of rows, computed in parts.
- :func:`merge`: merges models that were fitted to parts of a table.
- :class:`OnlinePCA`, :class:`OnlineKernelPCA`, :class:`OnlineImputer`, :class:`KernelPCA`,
  :class:`KernelRidge`: estimators for scikit-learn.
- :class:`Monitor`: scores, alarms, incidents, causes and change points for rows of sensor readings.
- :class:`Client`: streams of ``eigenhedge serve``, over HTTP.
- :mod:`eigenhedge.river`: transformer and anomaly detector for River.
- :func:`experts`, :class:`Experts`, :func:`Hedge`, :class:`CappedHedge`, :func:`capping`,
  :func:`corners`: prediction with expert advice.
- :func:`pair`, :class:`Pair`: directions of two streams that correlate with each other.
- :class:`Average`: average of a learner's distributions, as a fixed predictor.
- :mod:`eigenhedge.bounds`: regret bounds as functions.
- :func:`preimage`, :func:`kernel_mean`, :func:`mmd`: pre-images, mean features and a two-sample test.
- :func:`load`, :func:`save`, :func:`export`: model files, and exports for other programs.
- :mod:`eigenhedge.plot`: plots. :mod:`eigenhedge.typing`: types for annotations.

The default learner is ``"auto"``, which follows drift. :class:`OnlinePCA` and :class:`OnlineKernelPCA` use
``"anchored"`` by default. Its components are those of PCA (or kernel PCA) and do not depend on the order of the rows.

Only NumPy is required. scikit-learn, River, pandas and matplotlib are imported on first use.
"""

import sys
from typing import TYPE_CHECKING

from . import bounds, plot
from ._core import (
    Average,
    CappedHedge,
    Experts,
    Model,
    Moments,
    Pair,
    Trial,
    __version__,
    capping,
    corners,
    kernels,
    learners,
    set_threads,
)
from ._fleet import Fleet
from ._optional import later
from ._options import options
from ._preimage import Discrepancy, KernelMean, Preimage, kernel_mean, mmd, preimage
from ._run import RunResult, run
from ._settings import ExpertsResult, Hedge, PairResult, experts, pair
from ._snapshot import export, load, merge, save

if TYPE_CHECKING:
    from ._alarms import Alarms
    from ._imputer import OnlineImputer
    from ._kernel_methods import KernelPCA, KernelRidge
    from ._kernel_pca import OnlineKernelPCA
    from ._monitor import Monitor
    from ._pca import OnlinePCA
    from .client import Client as Client
    from .river import SubspaceAnomaly as SubspaceAnomaly
else:
    #: Module of each public name that is imported on first use.
    _LATER = {
        "Alarms": "_alarms",
        "Client": "client",
        "KernelPCA": "_kernel_methods",
        "KernelRidge": "_kernel_methods",
        "Monitor": "_monitor",
        "OnlineImputer": "_imputer",
        "OnlineKernelPCA": "_kernel_pca",
        "OnlinePCA": "_pca",
        "SubspaceAnomaly": "river",
    }

    def __getattr__(name):
        if name not in _LATER:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        try:
            globals()[name] = found = later(name, _LATER[name])
        except ModuleNotFoundError:
            raise
        except ImportError as error:
            # An import statement must raise an ImportError. hasattr and help expect an AttributeError.
            is_import = sys._getframe(1).f_globals.get("__name__") == "importlib._bootstrap"
            raise (ImportError if is_import else AttributeError)(str(error)) from None
        return found

    def __dir__():
        return sorted({*globals(), *_LATER})


# fmt: off
__all__ = [
    "Alarms", "Average", "CappedHedge", "Client", "Discrepancy", "Experts", "ExpertsResult", "Fleet", "Hedge", "KernelMean",
    "KernelPCA", "KernelRidge", "Model", "Moments", "Monitor", "OnlineImputer", "OnlineKernelPCA", "OnlinePCA", "Pair",
    "PairResult", "Preimage", "RunResult", "Trial", "__version__", "bounds", "capping", "corners", "experts", "export",
    "kernel_mean", "kernels", "learners", "load", "merge", "mmd", "options", "pair", "plot", "preimage", "run", "save",
    "set_threads",
]
# fmt: on
