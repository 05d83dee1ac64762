"""The releases of Spark that were tried: the guide shows what they answered, and everything that was asked works."""

from __future__ import annotations

import importlib
import json
import sys

import pytest

from places import ROOT


def test_the_guide_has_what_each_release_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [str(ROOT / "tools"), *sys.path])
    matrix = importlib.import_module("matrix_spark")
    known = json.loads(matrix.ANSWERS.read_text())["releases"]

    assert matrix.page() == matrix.PAGE.read_text("utf-8"), "`make matrix-spark` writes the table anew"
    assert {"works", "says that it needs RDDs", "not asked: no server"} >= {
        answer for one in known for place in ("own", "connect") for answer in one[place].values()
    }
    assert {trial.name for trial in matrix.TRIALS} == {name for one in known for name in one["own"]}
