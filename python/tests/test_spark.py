"""Without PySpark, the import error of ``eigenhedge.spark`` names the package to install."""

import importlib.util

import pytest


@pytest.mark.skipif(importlib.util.find_spec("pyspark") is not None, reason="PySpark is installed")
def test_a_missing_pyspark_is_named():
    with pytest.raises(ImportError, match=r"needs PySpark, which is not installed; .* pip install 'eigenhedge\[spark\]'"):
        import eigenhedge.spark  # noqa: F401
