"""PySpark and Java: present, new enough, and a session on this machine."""

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

#: Oldest PySpark with ``applyInArrow`` and ``transformWithStateInPandas``.
OLDEST_PYSPARK = (4, 0)
#: Oldest Java that it runs on.
OLDEST_JAVA = 17
#: The state store that learners of keys need.
PROVIDER = "spark.sql.streaming.stateStore.providerClass"
ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"


def check_pyspark() -> None:
    """Raise an ``ImportError`` that says what to install if PySpark or what it needs is missing or too old."""
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
    """Whether a module can be found. It is not imported: each worker would wait for it."""
    try:
        return importlib.util.find_spec(name) is not None
    except (ImportError, ValueError):
        return False


def java_version() -> int | None:
    """Return the major version of the Java that Spark would start, or None if there is none."""
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
    """Start Spark on this machine, or return the session that is running.

    For notebooks, tests and tables that outgrow memory but not the machine. On a cluster use the session that the cluster
    gives; every function of this module takes its DataFrames.

    Parameters
    ----------
    master : str, default="local[*]"
        ``"local[N]"``: N cores; ``*``: all of them.
    config : mapping, optional
        Settings of Spark by name, in place of those chosen here.

    Returns
    -------
    pyspark.sql.SparkSession

    Raises
    ------
    RuntimeError
        When there is no Java, or one that is too old.
    """
    found = java_version()
    if found is None or found < OLDEST_JAVA:
        got = "none was found in JAVA_HOME or on the path" if found is None else f"Java {found} was found"
        raise RuntimeError(
            f"Spark needs Java {OLDEST_JAVA} or later, and {got}; install one, for example openjdk-17-jre-headless"
        )
    from pyspark.sql import SparkSession

    # Workers run the Python of this process, which has the package.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    chosen = {"spark.ui.enabled": "false", "spark.driver.memory": "1g", "spark.sql.shuffle.partitions": "2", PROVIDER: ROCKSDB}
    builder = SparkSession.builder.master(master).appName("eigenhedge")
    for name, value in {**chosen, **(config or {})}.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()
