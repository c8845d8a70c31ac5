"""Checks of PySpark and Java, and a local session."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: Oldest version of PySpark with ``applyInArrow`` and ``transformWithStateInPandas``.
OLDEST_PYSPARK = (4, 0)
#: Oldest version of Java that PySpark 4.0 supports.
OLDEST_JAVA = 17
#: Setting and value for the state store that :func:`stream_by_key` requires.
PROVIDER = "spark.sql.streaming.stateStore.providerClass"
ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"


def check_pyspark() -> None:
    wanted = "install it with: pip install 'eigenhedge[spark]'"
    try:
        import pyspark
    except ImportError:
        raise ImportError(f"eigenhedge.spark needs PySpark, which is not installed; {wanted}") from None
    found = tuple(int(part) for part in re.findall(r"\d+", pyspark.__version__)[:2])
    if found < OLDEST_PYSPARK:
        oldest = ".".join(map(str, OLDEST_PYSPARK))
        raise ImportError(f"eigenhedge.spark needs PySpark {oldest} or later, got {pyspark.__version__}; {wanted}")
    for name in ("pandas", "pyarrow", "sklearn", "google.protobuf"):
        if not _is_installed(name):
            raise ImportError(f"eigenhedge.spark needs {name}, which is not installed; {wanted}")


def _is_installed(name: str) -> bool:
    """Return True if a module can be found. It is not imported, because that would delay each worker."""
    try:
        return importlib.util.find_spec(name) is not None
    except (ImportError, ValueError):
        return False


def java_version() -> int | None:
    home = os.environ.get("JAVA_HOME")
    program = os.path.join(home, "bin", "java") if home else shutil.which("java")
    if program is None:
        return None
    try:
        told = subprocess.run([program, "-version"], capture_output=True, text=True, timeout=60, check=False)
    except OSError:
        return None
    version = re.search(r'version "(?:1\.)?(\d+)', told.stderr + told.stdout)
    return int(version[1]) if version else None


def session(master: str = "local[*]", config: Mapping[str, str] | None = None) -> SparkSession:
    """Start a local Spark session, or return the running session. On a cluster, use the session of the cluster.

    ``master`` is ``"local[N]"`` for N cores, or ``"local[*]"`` for all cores. ``config`` contains Spark
    settings by name, which override the defaults of this function.
    """
    found = java_version()
    if found is None or found < OLDEST_JAVA:
        got = "none was found in JAVA_HOME or on the path" if found is None else f"Java {found} was found"
        raise RuntimeError(
            f"Spark needs Java {OLDEST_JAVA} or later, and {got}; install one, for example openjdk-17-jre-headless"
        )
    from pyspark.sql import SparkSession

    # Workers run the Python of this process, because the package is installed for it.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    chosen = {"spark.ui.enabled": "false", "spark.driver.memory": "1g", "spark.sql.shuffle.partitions": "2", PROVIDER: ROCKSDB}
    builder = SparkSession.builder.master(master).appName("eigenhedge")
    for name, value in {**chosen, **(config or {})}.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()
