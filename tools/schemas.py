"""The published JSON Schemas of the judge's classes and of rules files."""

from __future__ import annotations

import json

from pqassay.difference import model as difference
from pqassay.judge import baseline
from pqassay.report import model
from pqassay.report.run import model as run_model
from pqassay_lake import metrics
from pqassay_lake.history import views
from pqassay_lake.repair import model as repair_model
from pqassay_spec.rules import catalogue
from pqassay_suite.cases import manifest
from pqassay_suite.drivers import protocol

JUDGE = "conformance/pqassay/schemas"

SCHEMAS = {
    f"{JUDGE}/baseline.schema.json": baseline.json_schema,
    f"{JUDGE}/difference.schema.json": difference.json_schema,
    f"{JUDGE}/repair-plan.schema.json": repair_model.json_schema,
    f"{JUDGE}/history.schema.json": views.json_schema,
    f"{JUDGE}/metrics.schema.json": metrics.json_schema,
    f"{JUDGE}/report.schema.json": model.json_schema,
    f"{JUDGE}/request.schema.json": protocol.request_schema,
    f"{JUDGE}/answer.schema.json": protocol.answer_schema,
    f"{JUDGE}/case.schema.json": manifest.json_schema,
    f"{JUDGE}/results.schema.json": run_model.json_schema,
    "spec/pqassay_spec/rules/rules.schema.json": catalogue.json_schema,
}
"""Each file, with the function that makes its content."""


def contents() -> dict[str, str]:
    """The text of each file."""
    return {path: json.dumps(make(), indent=2) + "\n" for path, make in SCHEMAS.items()}
