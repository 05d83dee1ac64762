"""Let Spark write the golden cases of its folder again: ``golden_files/interop/spark-<version>``.

    python tools/spark_golden.py [FOLDER]

The rows are literals of `pqassay_spark.produce.writer_matrix`. The files are a snapshot: another run gives the same bytes but for the
order in which the footer lists the encodings of a chunk, which differs from one Java process to the next.
A test compares what Spark writes now with the files, that order aside. Another version of Spark gets another folder: golden
files are kept, not replaced.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from pqassay_reference.rewrite.embed import embed_file
from pqassay_spark.jobs.session import spark_session
from pqassay_spark.produce.writer_matrix import FLAT, MATRIX, WriterCase, write_case
from pqassay_spec.golden.literals import write_value
from pqassay_spec.mutation.mutations import Mutation, mutate

ROOT = Path(__file__).resolve().parent.parent
DATA = "data.parquet"

TYPES = {"STRING": "string", "BIGINT": "int64", "INT": "int32", "DOUBLE": "double", "BINARY": "binary"}
"""Types that the protocol knows, by their names in Spark."""

PLAIN = [case for case in MATRIX if case.schema == FLAT and case.partition_by is None]
"""The cases that become golden: any reader knows their types."""

ORACLES = ("pyarrow", "DuckDB", "Polars", "DataFusion", "fastparquet", "Spark")
NOT_BY_FASTPARQUET = {"codec-lz4", "pages-v2", "pages-v2-delta", "everything"}
"""Cases that it cannot read, and why, are listed in ``tests/golden_files/test_foreign_readers.py``."""

LOST = "A query for the value skips the file: its rows are missing, and nothing says so."


class Embedded(NamedTuple):
    """A golden case with an index: its name, the case it is made from, and its title."""

    name: str
    case: str
    title: str


EMBEDDED = (
    Embedded("index", "defaults", "A file of Spark into which an index was embedded afterwards"),
    Embedded(
        "index-beside-everything", "everything", "An index behind the bloom filters and page indexes of Spark"
    ),
    Embedded("index-of-nulls", "only-nulls", "An index of a column that holds only nulls"),
    Embedded("index-without-rows", "no-rows", "An index of a table without rows"),
)

STALE = Mutation("set", "idx1.payload", to="\nLagos\nMünchen\nŁódź\n東京".encode())
"""The index of an earlier state of the table, before Oslo came into it."""


def value(given: Any) -> Any:
    """A literal of a row as it is in JSON."""
    written = write_value(given)
    return written if written is None or isinstance(written, (int, str)) else vars(written)


def rows_of(case: WriterCase) -> dict[str, Any]:
    """The literal rows as a manifest holds them."""
    declared = [re.fullmatch(r"(\w+) (\w+)( NOT NULL)?", column.strip()) for column in case.schema.split(",")]
    columns = [
        {"name": found[1], "type": TYPES[found[2]], "nullable": found[3] is None}
        for found in declared
        if found
    ]
    return {"columns": columns, "rows": [[value(given) for given in row] for row in case.rows]}


LINTED = (
    "bloom-filter",
    "bounds-cut-short",
    "everything",
    "no-rows",
    "no-statistics",
    "only-nulls",
    "pages-v2-delta",
    "row-groups",
)
"""Cases about which `lint` is asked. If all were, a driver that accepts everything would be right about most of them."""


DEPRECATED = "codec-lz4"
"""A case with a codec that is deprecated, so that a reader may refuse it."""


def reading(name: str) -> dict[str, Any]:
    """What reading all rows of a file must give, and a scan."""
    if name == DEPRECATED:
        return {"read": {"rows": "own", "refusal": "allowed"}, "scan": "refusal-allowed"}
    return {"read": {"rows": "own", "refusal": "never"}, "scan": "same-rows"}


def manifest(home: str, case: WriterCase, version: str, data: bytes) -> dict[str, Any]:
    """The manifest of a file as Spark wrote it."""
    settings = [f"spark.conf.set({key!r}, {text!r})" for key, text in case.settings.items()]
    told = ", ".join(f"{key!r}: {text!r}" for key, text in case.options.items())
    options = f".options(**{{{told}}})" if told else ""
    wanted = case.rows[-1][0] if case.rows and case.rows[-1][0] else "Oslo"
    return {
        "id": f"{home}/{case.name}",
        "family": "PQF",
        "kind": "valid",
        "since": "0.4.0",
        "title": case.title,
        "effect": "none",
        "requires": ["parquet"],
        "rules": [],
        "input": {"file": DATA, "sha256": hashlib.sha256(data).hexdigest()},
        "expect": {
            "check": {"rules": [], "tier": "values"},
            **({"lint": "accept"} if case.name in LINTED else {}),
            **reading(case.name),
            "predicate": ["=", "city", wanted],
            "rows": rows_of(case),
        },
        "provenance": {
            "by": f"Apache Spark {version}",
            "oracles": [
                name for name in ORACLES if name != "fastparquet" or case.name not in NOT_BY_FASTPARQUET
            ],
            "steps": [
                *settings,
                f"spark.createDataFrame(rows, {case.schema!r}).coalesce(1).write{options}.parquet(folder)",
            ],
        },
    }


def with_index(given: dict[str, Any], made: Embedded, case: WriterCase, data: bytes) -> dict[str, Any]:
    """The manifest of the same file with an index of the cities."""
    found: Sequence[str] = sorted({row[0] for row in case.rows if row[0] is not None})
    expect = {
        **given["expect"],
        "decode": "accept",
        "value": {"layout": "published", "values": found},
        "encode": "accept",
    }
    steps = [*given["provenance"]["steps"], "pqassay embed data.parquet --column city"]
    return {
        **given,
        "id": given["id"].replace(case.name, made.name),
        "family": "IDX1",
        "title": made.title,
        "requires": ["idx1"],
        "column": "city",
        "input": {"file": DATA, "sha256": hashlib.sha256(data).hexdigest()},
        "expect": expect,
        "provenance": {
            **given["provenance"],
            "by": f"{given['provenance']['by']}, and pqassay embed",
            "steps": steps,
        },
    }


def stale(parent: dict[str, Any], data: bytes) -> dict[str, Any]:
    """The manifest of the file whose index is that of an earlier state."""
    kept = {key: parent[key] for key in ("family", "since", "requires", "column")}
    lost = parent["id"].replace("index", "index-stale")
    return {
        "id": lost,
        **kept,
        "kind": "invalid",
        "title": "The index was embedded before a value came into the table",
        "effect": LOST,
        "rules": ["IDX1-016"],
        "parent": parent["id"],
        "mutation": STALE.to_json(),
        "input": {"file": DATA, "sha256": hashlib.sha256(data).hexdigest()},
        "expect": {
            "check": {"rules": ["IDX1-016"], "tier": "values"},
            "lint": "reject",
            "decode": "accept",
            "value": {"layout": "published", "values": ["", "Lagos", "München", "Łódź", "東京"]},
            "read": {"rows": "parent", "refusal": "allowed"},
            "scan": "exposure",
            "predicate": ["=", "city", "Oslo"],
            "rows": parent["expect"]["rows"],
        },
        "provenance": parent["provenance"],
    }


def store(folder: Path, case: dict[str, Any], data: bytes) -> None:
    """Write a case."""
    home = folder / case["id"]
    home.mkdir(parents=True, exist_ok=True)
    (home / DATA).write_bytes(data)
    (home / "case.json").write_text(f"{json.dumps(case, indent=2)}\n")
    print(f"{case['id']}: {len(data)} bytes")


def main() -> None:
    """Write the cases."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "golden_files"
    chosen = [*PLAIN, *(case for case in MATRIX if case.name == "only-nulls")]
    with tempfile.TemporaryDirectory() as scratch, spark_session() as spark:
        home, files, manifests = (
            f"interop/spark-{spark.version}",
            dict[str, Path](),
            dict[str, dict[str, Any]](),
        )
        for case in chosen:
            write_case(spark, case, f"file://{scratch}/{case.name}")
            (files[case.name],) = Path(scratch, case.name).glob("*.parquet")
            data = files[case.name].read_bytes()
            manifests[case.name] = manifest(home, case, spark.version, data)
            store(folder, manifests[case.name], data)
        for made in EMBEDDED:
            (case,) = (case for case in chosen if case.name == made.case)
            embed_file(files[made.case], "city")
            data = files[made.case].read_bytes()
            indexed = with_index(manifests[made.case], made, case, data)
            store(folder, indexed, data)
            if made.name == "index":
                changed = mutate(data, STALE)
                store(folder, stale(indexed, changed), changed)


if __name__ == "__main__":
    main()
