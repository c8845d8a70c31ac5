"""Run a query with one model per key, until a test kills this process. Argument: FOLDER."""

import sys

from streams import answers_of, start

import eigenhedge.spark as es

spark = es.session("local[2]", {"spark.sql.session.timeZone": "UTC"})
spark.sparkContext.setLogLevel("OFF")
start(answers_of(spark, sys.argv[1]), sys.argv[1]).awaitTermination()
