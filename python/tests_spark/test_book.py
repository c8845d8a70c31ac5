"""The Python blocks of the page about clusters in the book run."""

import pathlib
import re

import pandas as pd
from conftest import keyed

PAGE = pathlib.Path(__file__).parents[2] / "docs" / "src" / "cluster.md"


def test_the_page_of_the_book_runs(spark, rng, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    spark.createDataFrame(keyed(rng, 2, 60)).coalesce(1).write.parquet(str(tmp_path / "sensors"))
    # Spark does not resolve paths relative to the working folder of the test.
    page = re.sub(r'"(sensors|checkpoint|answers|learned)"', rf'"{tmp_path}/\1"', PAGE.read_text())
    names: dict = {}
    blocks = re.findall(r"^```python\n(.*?)^```", page, flags=re.S | re.M)
    assert len(blocks) == 7
    for block in blocks:
        exec(compile(block, "cluster.md", "exec"), names)
    assert names["models"].count() == 2
    assert names["summary"]["rows"] == 120
    answers = pd.read_parquet(tmp_path / "answers")
    assert len(answers) == 120 and not answers["late"].any()
