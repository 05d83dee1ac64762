"""Write the JSON Schemas that the judge publishes, from its classes: ``python tools/write_schemas.py``.

A test compares them, so that whoever changes a class runs this.
"""

from __future__ import annotations

import json
from pathlib import Path

from pqassay.report import model, run_model
from pqassay.suite import manifest, protocol

FOLDER = Path(__file__).resolve().parent.parent / "conformance" / "pqassay" / "schemas"

SCHEMAS = {
    "report": model.json_schema,
    "request": protocol.request_schema,
    "answer": protocol.answer_schema,
    "case": manifest.json_schema,
    "results": run_model.json_schema,
}
"""File name, without its ending, and what makes its content."""


def main() -> None:
    """Write all of them."""
    for name, make in SCHEMAS.items():
        path = FOLDER / f"{name}.schema.json"
        path.write_text(json.dumps(make(), indent=2) + "\n", encoding="utf-8")
        print(path)


if __name__ == "__main__":
    main()
