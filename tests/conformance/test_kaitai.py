"""The definitions of Kaitai Struct read in every golden file what the kit's own trace shows, byte for byte."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped] # pqassay does not depend on its stubs
from typer.testing import CliRunner

from damage import EXAMPLES
from kaitai_reading import Leaves, plain, read, values
from places import GOLDEN_FILES
from pqassay.checks.idx1.blob import EmbeddedIndex
from pqassay.cli.main import app
from pqassay.dump.directory import GRAMMARS
from pqassay.dump.ksy import definitions
from pqassay.under_test.chunks import ColumnChunks
from pqassay.under_test.file import FileUnderTest, NotApplicable, NotChecked, Options
from pqassay.under_test.index_directory import IndexDirectory
from pqassay.values.directory.blob import blob_of
from pqassay_spec.base.errors import FormatError
from pqassay_spec.base.sources import BytesSource
from pqassay_spec.directory.codes import IndexType
from pqassay_spec.directory.entries import trace_directory
from pqassay_spec.grammar.constructs import expressed
from pqassay_spec.grammar.kaitai import expression
from pqassay_spec.grammar.thrift import grammar
from pqassay_spec.grammar.thrift_decoder import decode
from pqassay_spec.grammar.trace import Leaf, trace
from pqassay_spec.idx1.blob import Layout
from pqassay_spec.parquet.bloom import BLOCK_SIZE, WORD_BITS
from pqassay_spec.parquet.thrift import BloomFilterHeader
from pqassay_spec.pm.trace import trace_pm
from processes import run

pytestmark = pytest.mark.slow

TEXTS = {definition.id: definition.text() for definition in definitions()}

UNREADABLE = (FormatError, NotApplicable, NotChecked)

BLOBS: dict[int, str] = {
    IndexType.DISTINCT_SET: "distinct_set",
    IndexType.ZONE_SUMS: "zone_sums",
    IndexType.HLL: "sketches",
    IndexType.KLL: "sketches",
    IndexType.IDX1: "idx1",
}

WORD = WORD_BITS // 8
"""Bytes of a word of a bloom filter."""

Sample = tuple[str, bytes, list[Leaf]]
"""A definition, bytes, and the leaves that the kit traces in them."""


def shown(leaves: list[Leaf], base: int = 0) -> Leaves:
    """The leaves as the interpreter notes them."""
    return {
        (leaf.offset - base, leaf.length, leaf.value.encode() if isinstance(leaf.value, str) else leaf.value)
        for leaf in leaves
        if leaf.length
    }


def golden(*families: str) -> Iterator[tuple[str, FileUnderTest]]:
    for family in families:
        for path in sorted((GOLDEN_FILES / family).glob("**/data.parquet"))[::EXAMPLES]:
            yield (
                str(path.relative_to(GOLDEN_FILES)),
                FileUnderTest(BytesSource(path.read_bytes()), Options("values")),
            )


def samples_of(file: FileUnderTest) -> Iterator[Sample]:
    """The structures of a Parquet file that can be read."""
    with suppress(*UNREADABLE):
        blob = file.part(EmbeddedIndex).blob
        if blob.layout is Layout.PUBLISHED:
            data = file.source.read(blob.start, blob.end - blob.start)
            yield "idx1", data, trace(GRAMMARS[IndexType.IDX1], data)[1]
    with suppress(*UNREADABLE):
        for directory in file.part(IndexDirectory).directories:
            _ = directory.directory
            yield "index_directory", directory.data, trace_directory(directory.data)
    with suppress(*UNREADABLE):
        for entry in file.part(IndexDirectory).entries:
            if name := BLOBS.get(entry.head.type):
                plain = blob_of(entry).plain
                yield name, plain, trace(GRAMMARS[entry.head.type], plain)[1]
    with suppress(*UNREADABLE):
        for chunk in file.part(ColumnChunks).all:
            if start := chunk.facts.bloom_filter_offset:
                yield from bloom(file.source.read(start, min(file.framing.footer_start - start, 1 << 16)))


def bloom(data: bytes) -> Iterator[Sample]:
    """A filter, if it has the length that its header says, of whole blocks."""
    header, taken = decode(BloomFilterHeader, data)
    end = taken + header.numBytes
    if not taken <= end <= len(data) or header.numBytes % BLOCK_SIZE:
        return
    # The kit keeps a field that it does not know as it is: in golden files an empty struct, of which there is the stop byte.
    traced = trace(grammar(BloomFilterHeader), data[:taken])[1]
    leaves = [leaf._replace(value=0) if leaf.value == b"\0" else leaf for leaf in traced]
    places = range(taken, end, WORD)
    leaves += [Leaf("word", at, WORD, int.from_bytes(data[at : at + WORD], "little")) for at in places]
    yield "bloom_filter", data[:end], leaves


def test_what_is_embedded_in_golden_files_is_read_as_the_kit_traces_it() -> None:
    counts = dict.fromkeys(TEXTS, 0)
    wrong: list[str] = []
    for name, file in golden("idx1", "dir", "blm", "interop"):
        for kind, data, leaves in samples_of(file):
            counts[kind] += 1
            if shown(leaves) != read(TEXTS[kind], data):
                wrong.append(f"{name}: {kind}")

    assert [] == wrong
    assert {"questdb_pm"} == {kind for kind, count in counts.items() if count < 6 // EXAMPLES}


def test_golden_pm_files_are_read_as_the_kit_traces_them() -> None:
    equal, wrong = 0, list[str]()
    for path in sorted(GOLDEN_FILES.glob("*/**/_pm"))[::EXAMPLES]:
        problems: list[FormatError] = []
        leaves = [leaf for batch in trace_pm(BytesSource(path.read_bytes()), problems) for leaf in batch]
        if not problems:
            is_equal = shown(leaves) == read(TEXTS["questdb_pm"], path.read_bytes())
            equal += is_equal
            wrong += [] if is_equal else [str(path.relative_to(GOLDEN_FILES))]

    assert [] == wrong
    assert equal > 150 // EXAMPLES


def test_a_definition_differs_from_a_wrong_one() -> None:
    data = bytes.fromhex("4944583103000000000000006f6e65")

    assert {(0, 4, b"IDX1"), (4, 8, 3), (12, 3, b"one")} == read(TEXTS["idx1"], data)
    assert read(TEXTS["idx1"], data) != read(TEXTS["idx1"].replace("u8", "u4"), data)
    with pytest.raises(ValueError, match="b'IDX1' at 0"):
        read(TEXTS["idx1"].replace("[73,", "[74,"), data)


def test_a_function_without_an_expression_is_refused() -> None:
    assert "size * 2" == expression(expressed("size * 2")(lambda context: context.size * 2))
    with pytest.raises(KeyError):
        expression(lambda context: context.size)


def test_the_command_writes_one_file_for_each_definition(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["dump", "--grammar", "ksy", str(tmp_path / "grammar")])

    assert (0, "") == (result.exit_code, result.stderr)
    assert TEXTS == {path.stem: path.read_text("utf-8") for path in (tmp_path / "grammar").iterdir()}
    assert len(TEXTS) == len(result.stdout.splitlines())


@pytest.mark.parametrize("options", [["--json"], ["--hexdump"], ["--field", "idx1"]])
def test_a_grammar_goes_with_no_other_option(options: list[str], tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["dump", "--grammar", "ksy", *options, str(tmp_path)])

    assert 2 == result.exit_code
    assert "--grammar" in result.stderr


# ------------------------------------------------------------------------------------------------ by the compiler itself

KAITAI = os.environ.get("PQASSAY_KAITAI", "")
"""A folder with the compiler: ``npm install --prefix DIR kaitai-struct-compiler kaitai-struct``, ``pip install --target DIR/python kaitaistruct``."""


def every_sample() -> Iterator[tuple[str, bytes]]:
    for _, file in golden("idx1", "dir", "blm"):
        yield from ((kind, data) for kind, data, _ in samples_of(file))
    for path in sorted((GOLDEN_FILES / "pm").glob("**/_pm")):
        problems: list[FormatError] = []
        for _ in trace_pm(BytesSource(path.read_bytes()), problems):
            pass
        if not problems:
            yield "questdb_pm", path.read_bytes()


@pytest.mark.skipif(not KAITAI, reason="PQASSAY_KAITAI names no folder with the compiler of Kaitai Struct")
def test_compiled_definitions_read_the_same_in_two_languages(monkeypatch: pytest.MonkeyPatch) -> None:
    samples = sorted({(kind, data.hex()) for kind, data in every_sample()})
    assert len(samples) > 200
    nodes = {name: yaml.safe_load(text) for name, text in TEXTS.items()}
    expected = [values(TEXTS[kind], bytes.fromhex(data)) for kind, data in samples]
    monkeypatch.setenv("NODE_PATH", f"{KAITAI}/node_modules")
    done = run(
        ["node", Path(__file__).with_name("kaitai_compiled.cjs")],
        input=json.dumps({"definitions": nodes, "samples": samples}),
        capture_output=True,
        text=True,
    )
    assert (0, "") == (done.returncode, done.stderr)
    compiled = json.loads(done.stdout, parse_int=float)

    assert [] == differing(samples, expected, compiled["read"])
    monkeypatch.syspath_prepend(f"{KAITAI}/python")
    readers = {name: python_reader(source, nodes[name]) for name, source in compiled["python"].items()}
    assert [] == differing(samples, expected, [readers[kind](bytes.fromhex(data)) for kind, data in samples])


def differing(samples: list[tuple[str, str]], expected: list[Any], found: list[Any]) -> list[tuple[str, str]]:
    """The samples of which something else was read."""
    together = zip(samples, expected, found, strict=True)
    return [sample for sample, wanted, read_there in together if wanted != read_there]


def python_reader(source: str, node: dict[str, Any]) -> Callable[[bytes], Any]:
    """Reads bytes by a definition that was compiled to Python."""
    names: dict[str, Any] = {}
    exec(source, names)
    nodes = {
        class_name(name): part for name, part in {**node.get("types", {}), node["meta"]["id"]: node}.items()
    }
    root = names[class_name(node["meta"]["id"])]
    return lambda data: plain(root.from_bytes(data), lambda parsed: nodes[type(parsed).__name__])


def class_name(name: str) -> str:
    return "".join(part.capitalize() for part in name.split("_"))
