"""Learners on Apache Spark: ``pip install eigenhedge[spark]``.

- :func:`fit`, :func:`fold`: one model over a large table.
- :func:`score`, :func:`score_udf`: coordinates, losses and alarms of rows by an existing model.
- :func:`fit_by_key`: one model per key of a table.
- :func:`stream_by_key`, :func:`models`: one model per key of a stream, exact across restarts.
- :func:`learn_stream`, :func:`stream_model`: one model over a stream, one trial per micro-batch.
- :func:`session`: a local Spark session.

The package must be installed on the workers. This module works with Spark Connect, because it does not use ``rdd``.
"""

from ._session import check_pyspark, session

check_pyspark()

from ._by_key import fit_by_key, models, stream_by_key  # noqa: E402
from ._fold import fit, fold, learn_stream, stream_model  # noqa: E402
from ._score import score, score_udf  # noqa: E402

__all__ = [
    "fit",
    "fit_by_key",
    "fold",
    "learn_stream",
    "models",
    "score",
    "score_udf",
    "session",
    "stream_by_key",
    "stream_model",
]
