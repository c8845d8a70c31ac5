"""Regret bounds as functions of numbers. The Rust module ``eigenhedge::bounds`` states their hypotheses.

``k`` is the number of directions kept, ``experts`` the number of experts, and ``dimension`` the dimension of the space
(``float("inf")`` for infinite dimension). ``best`` is the loss of the comparator, and ``scale`` is Q². A function
returns None if its theorem does not apply.

Examples
--------
>>> from eigenhedge import bounds
>>> round(bounds.hedge(eta=1.0, best=10.0, experts=4), 3)
18.013
>>> setting = bounds.Setting(eta=1.0, k=2, dimension=20)
>>> round(bounds.uncentered(setting, best=10.0), 2)
18.82
>>> round(bounds.tuned_rate(bounds.divergence(2, 20), ceiling=500.0, scale=1.0), 4)
0.0835
"""

from ._core import Setting, _bounds

globals().update(_bounds())

__all__ = ["Setting", *_bounds()]
