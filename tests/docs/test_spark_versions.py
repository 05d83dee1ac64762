"""The releases of Spark that were tried: everything that was asked works."""

from __future__ import annotations

import json

import matrix_spark


def test_every_release_was_asked_everything_and_everything_works() -> None:
    known = json.loads(matrix_spark.ANSWERS.read_text())["releases"]

    assert {"works", matrix_spark.NO_SERVER, matrix_spark.NOT_ASKED} >= {
        answer for one in known for place in ("own", "connect") for answer in one[place].values()
    }
    assert {trial.name for trial in matrix_spark.TRIALS} == {name for one in known for name in one["own"]}
