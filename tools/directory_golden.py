"""Write the golden cases of the index directory that foreign software had a hand in.

    python tools/directory_golden.py [FOLDER]

``interop/pyarrow-<version>/index-*``: files that pyarrow wrote anew, with the keys that it found, after they had got indexes: sorted
otherwise, with rows appended, with a column dropped, with row groups removed, and with other rows of the same size.
``interop/datasketches-java-<version>/*``: sketches that Apache DataSketches made in Java, in a file of the generator.

A snapshot: another version of the software gets another folder.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from pqassay_golden.directory.recipes import SINCE, Index, with_indexes
from pqassay_golden.directory.whole import KLL_OF_PRICES, MANY, SALES
from pqassay_golden.recipes import ENGINES
from pqassay_golden.rows import literal_rows
from pqassay_reference.directory.embedding import add_indexes
from pqassay_reference.directory.making.entry import Request
from pqassay_reference.directory.reading.stated_values import index_directory
from pqassay_spec.base.sources import BytesSource
from pqassay_spec.directory.codes import Granularity, IndexType, Placement
from pqassay_spec.directory.sketches import build_sketches
from pqassay_spec.golden.case import to_json
from pqassay_spec.golden.literals import write_value

ROOT = Path(__file__).resolve().parent.parent
DATA = "data.parquet"

ARROW: Any = pq
"""The type stubs of pyarrow know only part of what it takes."""

PYARROW = f"pyarrow {pa.__version__}"
JAVA = "5.0.2"

METALS = ["tin", "lead", "tin", "zinc", None, "tin"]
LOTS = [7, 8, 9, 10, 11, 12]
TABLE = pa.table({"metal": pa.array(METALS), "lot": pa.array(LOTS, pa.int64())})

PLAIN = {"compression": "none", "use_dictionary": False, "row_group_size": 3}


class Rewritten(NamedTuple):
    """A case: its name, its title, what is done to the table, the steps in words of Python, and the rules that are reported."""

    name: str
    title: str
    change: Any
    steps: str
    rules: Sequence[str]
    tier: str = "footer"
    effect: str = "Readers do without the indexes."


def _swapped(table: pa.Table) -> pa.Table:
    """The rows of the first row group in another order, between the same bounds."""
    return table.take([0, 2, 1, 3, 4, 5]).replace_schema_metadata(table.schema.metadata)


REWRITTEN = (
    Rewritten("index-copied", "pyarrow wrote the same rows with the same settings and copied the keys: the entries are good still", lambda table: table, "table", ()),
    Rewritten("index-of-unsorted-rows", "pyarrow sorted the rows otherwise and copied the keys", lambda table: table.sort_by([("lot", "descending")]), "table.sort_by([('lot', 'descending')])", ("DIR-016",)),
    Rewritten("index-of-fewer-rows", "pyarrow appended rows and copied the keys", lambda table: pa.concat_tables([table, table.slice(0, 1)]), "pa.concat_tables([table, table.slice(0, 1)])", ("DIR-016",)),
    Rewritten("index-of-a-dropped-column", "pyarrow dropped a described column and copied the keys", lambda table: table.drop_columns(["metal"]), "table.drop_columns(['metal'])", ("DIR-010",)),
    Rewritten("index-of-a-trimmed-file", "pyarrow left a row group out and copied the keys", lambda table: table.slice(0, 3), "table.slice(0, 3)", ("DIR-016",)),
    Rewritten("index-of-rows-of-the-same-size", "pyarrow wrote the rows in another order, without compression, and copied the keys: sizes and statistics are the same", _swapped, "table.take([0, 2, 1, 3, 4, 5])", ("DIR-017",), "pages", "Whoever uses what the entries say of single pages, or trusts the digest of the content, reads the wrong rows."),
)  # fmt: skip


def rewritten(case: Rewritten, folder: Path) -> bytes:
    """The file of a case: written, indexed, and written anew by pyarrow."""
    path = folder / "work.parquet"
    ARROW.write_table(TABLE, path, **PLAIN)
    columns = (("metal",), ("lot",))
    requests = [
        Request(IndexType.DISTINCT_SET, (column,), Granularity.ROW_GROUP, Placement.INLINE)
        for column in columns
    ]
    add_indexes(path, requests)
    table = pq.read_table(path)
    metadata = {
        name: value
        for name, value in ARROW.read_metadata(path).metadata.items()
        if not name.startswith(b"ARROW")
    }
    changed = case.change(table)
    ARROW.write_table(changed.replace_schema_metadata(metadata), path, **PLAIN)
    return path.read_bytes()


def write_rewritten(golden: Path, scratch: Path) -> None:
    """Write the cases of pyarrow."""
    for case in REWRITTEN:
        data = rewritten(case, scratch)
        table = pq.read_table(pa.BufferReader(data))
        kinds = {"metal": "string", "lot": "int64"}
        rows = {
            "columns": [{"name": name, "type": kinds[name], "nullable": True} for name in table.column_names],
            "rows": [
                [to_json(write_value(row[name])) for name in table.column_names] for row in table.to_pylist()
            ],
        }
        steps = [
            f"pq.write_table(table, path, **{PLAIN!r})",
            "pqassay index add path --type distinct-set --columns metal,lot --placement inline",
            f"pq.write_table({case.steps}.replace_schema_metadata(pq.read_metadata(path).metadata), path, **{PLAIN!r})",
        ]
        _write(
            golden / "interop" / f"pyarrow-{pa.__version__}" / case.name,
            data,
            title=case.title,
            effect=case.effect if case.rules else "none",
            rules=list(case.rules),
            tier=case.tier if case.rules else "values",
            rows=rows,
            predicate=["=", "lot", 9],
            by=f"{PYARROW}, and pqassay index add",
            steps=steps,
        )


HLL_BY_JAVA = (
    bytes.fromhex("0201070c03080208db1b020f9ac2a10f"),
    bytes.fromhex("0201070c0308020832936d05db1b020f"),
)
KLL_BY_JAVA = bytes.fromhex(
    "05010f0008000800640000000000000008000400050000000f000000100000001a000000"
    "0000000000000000" "0000000000c05840"
    "0000000000804f40" "0000000000003a40" "0000000000405640" "0000000000004a40" "0000000000002e40" "0000000000805340"
    "0000000000804440" "0000000000001040" "0000000000c05040" "0000000000003e40" "0000000000001440" "0000000000002a40"
    "0000000000003740" "0000000000004140" "0000000000004540" "0000000000804a40" "0000000000005040" "0000000000005240"
    "0000000000c05440" "0000000000405740" "0000000000805840" "0000000000002c40" "0000000000003c40" "0000000000004840"
    "0000000000405140" "0000000000005640" "0000000000c05840"
)  # fmt: skip
"""What the program of `STEPS` printed; a KLL sketch drops values at random, so that another run gives another one."""

STEPS = [
    'var sketch = new HllSketch(12, TgtHllType.HLL_8); // one for each row group: "tin", "lead", "tin" and "zinc", "tin"',
    "sketch.update(metal); sketch.toCompactByteArray()",
    "var prices = KllDoublesSketch.newHeapInstance(200); // 0.5, -0.0, 2.0, 1e16",
    "var numbers = KllDoublesSketch.newHeapInstance(8); for (int row = 0; row < 100; row++) numbers.update((row * 37) % 100); numbers.toByteArray()",
]


def write_sketches(golden: Path) -> None:
    """Write the cases of DataSketches."""
    sales = with_indexes(
        SALES.build(),
        [
            Index(IndexType.HLL, "metal", blob=build_sketches(HLL_BY_JAVA), value_count=5),
            Index(
                IndexType.KLL, "price", Granularity.FILE, blob=build_sketches([KLL_OF_PRICES]), value_count=4
            ),
        ],
    )
    numbers = with_indexes(
        MANY.build(),
        [
            Index(
                IndexType.KLL, "number", Granularity.FILE, blob=build_sketches([KLL_BY_JAVA]), value_count=100
            )
        ],
    )
    for name, title, data, file, predicate in (
        ("sketches", "HLL sketches of two row groups and a KLL sketch, made by Apache DataSketches in Java", sales, SALES, ["=", "metal", "tin"]),
        ("quantiles-at-random", "A KLL sketch of a hundred numbers of which Apache DataSketches kept 27 in Java", numbers, MANY, ["=", "number", 37]),
    ):  # fmt: skip
        _write(
            golden / "interop" / f"datasketches-java-{JAVA}" / name,
            data,
            title=title,
            effect="none",
            rules=[],
            tier="values",
            rows=to_json(literal_rows(file)),
            predicate=predicate,
            by=f"Apache DataSketches {JAVA} (Java), from Maven Central, in a file of the generator",
            steps=STEPS,
        )


def _write(
    place: Path, data: bytes, *, title: str, effect: str, rules: list[str], tier: str, rows: Any,
    predicate: list[Any], by: str, steps: list[str],
) -> None:  # fmt: skip
    """Write a case."""
    lies = "DIR-017" in rules
    case = {
        "id": place.relative_to(place.parents[2]).as_posix(),
        "family": "DIR",
        "kind": "invalid" if rules else "valid",
        "since": SINCE,
        "title": title,
        "effect": effect,
        "requires": ["dir"],
        "rules": rules,
        "input": {"file": DATA, "sha256": hashlib.sha256(data).hexdigest()},
        "expect": {
            "check": {"rules": rules, "tier": tier},
            **({} if rules and not lies else {"lint": "reject" if lies else "accept"}),
            "decode": "accept",
            "value": index_directory(BytesSource(data)),
            "read": {"rows": "own", "refusal": "allowed" if lies else "never"},
            "scan": "exposure" if lies else "same-rows",
            "predicate": predicate,
            "rows": rows,
        },
        "provenance": {"by": by, "oracles": list(ENGINES), "steps": steps},
    }
    place.mkdir(parents=True, exist_ok=True)
    (place / DATA).write_bytes(data)
    (place / "case.json").write_text(json.dumps(case, indent=2) + "\n")


def main() -> None:
    """Write all of them."""
    import tempfile  # noqa: PLC0415 - for the files on the way

    golden = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "golden_files"
    with tempfile.TemporaryDirectory() as scratch:
        write_rewritten(golden, Path(scratch))
    write_sketches(golden)


if __name__ == "__main__":
    main()
