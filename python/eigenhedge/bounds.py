"""Regret bounds as functions. The Rust module ``eigenhedge::bounds`` states their hypotheses.

``k`` is the number of directions or experts kept, and ``experts`` is the number of experts. ``dimension`` is the dimension
N of the space (``float("inf")`` for infinite dimension). ``best`` is the loss L* of the comparator (its gain for ``pair``).
``scale`` is the largest possible loss of a trial, which is Q² for rows of norm at most Q. A function returns None if its
theorem does not apply, for example unless k < N.

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
