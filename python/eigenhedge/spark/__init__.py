"""Learners on Apache Spark: ``pip install eigenhedge[spark]``.

- :func:`fit`, :func:`fold`: one model over a large table.
- :func:`score`, :func:`score_udf`: coordinates, losses and alarms of rows by a model that is there already.
- :func:`fit_by_key`: one learner for each key of a table.
- :func:`stream_by_key`, :func:`models`: one learner for each key of a stream, exact across restarts.
- :func:`learn_stream`, :func:`stream_model`: one learner over a stream, a trial for each micro-batch.
- :func:`session`: Spark on this machine.

The package must be installed where the workers run. Nothing here uses ``rdd``, so that it works over Spark Connect too.
"""

from ._session import check_pyspark, session

check_pyspark()

from ._by_key import fit_by_key  # noqa: E402
from ._fold import fit, fold  # noqa: E402
from ._micro_batches import learn_stream, stream_model  # noqa: E402
from ._score import score, score_udf  # noqa: E402
from ._stream import models, stream_by_key  # noqa: E402

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
