"""Write the published JSON Schemas, of the judge's classes and of rules files: ``python tools/write_schemas.py``.

A test compares them, so that whoever changes a class runs this.
"""

from __future__ import annotations

import json
from pathlib import Path

from pqassay.difference import model as difference
from pqassay.history import views
from pqassay.judge import baseline
from pqassay.repair import model as repair_model
from pqassay.report import metrics, model
from pqassay.report.run import model as run_model
from pqassay_spec.rules import catalogue
from pqassay_suite.cases import manifest
from pqassay_suite.drivers import protocol

ROOT = Path(__file__).resolve().parent.parent
JUDGE = ROOT / "conformance" / "pqassay" / "schemas"

SCHEMAS = {
    JUDGE / "baseline.schema.json": baseline.json_schema,
    JUDGE / "difference.schema.json": difference.json_schema,
    JUDGE / "repair-plan.schema.json": repair_model.json_schema,
    JUDGE / "history.schema.json": views.json_schema,
    JUDGE / "metrics.schema.json": metrics.json_schema,
    JUDGE / "report.schema.json": model.json_schema,
    JUDGE / "request.schema.json": protocol.request_schema,
    JUDGE / "answer.schema.json": protocol.answer_schema,
    JUDGE / "case.schema.json": manifest.json_schema,
    JUDGE / "results.schema.json": run_model.json_schema,
    ROOT / "spec" / "pqassay_spec" / "rules" / "rules.schema.json": catalogue.json_schema,
}
"""Each file, and what makes its content."""


def main() -> None:
    """Write all of them."""
    for path, make in SCHEMAS.items():
        path.write_text(json.dumps(make(), indent=2) + "\n", encoding="utf-8")
        print(path.relative_to(ROOT))


if __name__ == "__main__":
    main()
