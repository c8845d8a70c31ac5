"""Online PCA and online kernel PCA with regret guarantees.

Rows arrive one at a time. Before each row a learner commits to a k-dimensional subspace, is charged for what that subspace
loses of the row, and then learns.

- :func:`run`: one learner over a table, like the command line.
- :class:`Learner`: the bare learner, row by row.
- :class:`Fleet`: a learner for each key.
- :class:`OnlinePCA`, :class:`OnlineKernelPCA`, :class:`KernelPCA`, :class:`KernelRidge`: scikit-learn estimators.
- :mod:`eigenhedge.river`: transformer and anomaly detector for River.
- :class:`Hedge`, :class:`CappedHedge`, :func:`capping`, :func:`corners`: experts.
- :func:`preimage`, :func:`load`, :func:`save`, :func:`export`, :func:`set_threads`, :mod:`eigenhedge.plot`.
"""

from ._core import CappedHedge, Learner, Trial, __version__, capping, corners, kernels, learners, options, set_threads
from ._experts import Hedge
from ._fleet import Fleet
from ._kernel_methods import KernelPCA, KernelRidge, Preimage, preimage
from ._kernel_pca import OnlineKernelPCA
from ._pca import OnlinePCA
from ._run import Run, run
from ._snapshot import export, load, save

__all__ = [
    "CappedHedge",
    "Fleet",
    "Hedge",
    "KernelPCA",
    "KernelRidge",
    "Learner",
    "OnlineKernelPCA",
    "OnlinePCA",
    "Preimage",
    "Run",
    "Trial",
    "__version__",
    "capping",
    "corners",
    "export",
    "kernels",
    "learners",
    "load",
    "options",
    "preimage",
    "run",
    "save",
    "set_threads",
]
