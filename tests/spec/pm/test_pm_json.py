from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from each import each
from places import INTEROP
from pqassay_spec.base.errors import Malformed
from pqassay_spec.base.sources import FileSource
from pqassay_spec.parquet.file import read_footer, read_framing
from pqassay_spec.pm.from_parquet import questdb_key
from pqassay_spec.pm.from_parquet.fields import fields_of
from pqassay_spec.pm.from_parquet.questdb_key import (
    COLUMN_FIELDS,
    QUESTDB_FIELDS,
    QuestDBColumn,
    QuestDBMetadata,
)

QUESTDB_FILES = sorted(INTEROP.glob("questdb-*/*/data.parquet"))

COLUMN = {"column_type": 5, "column_top": 0}


def text(**members: Any) -> str:
    return json.dumps({"version": 1, "schema": [COLUMN]} | members)


def test_the_key_of_the_document_is_read() -> None:
    found = questdb_key.parse(
        """{
        "version": 1,
        "schema": [
          {"column_type": 12, "column_top": 0, "format": 1},
          {"column_type": 5, "column_top": 256},
          {"column_type": 26, "column_top": 0, "ascii": true}
        ],
        "unused_bytes": 4096
        }"""
    )

    assert (
        QuestDBMetadata(
            (QuestDBColumn(12, 0, format=1), QuestDBColumn(5, 256), QuestDBColumn(26, 0, ascii=True)), 4096
        )
        == found
    )


@each("path", QUESTDB_FILES)
def test_the_keys_of_real_files_are_read_and_built_alike(path: Path) -> None:
    with FileSource(path) as source:
        metadata, _ = read_footer(source, read_framing(source))

    found = questdb_key.read(metadata, len(fields_of(metadata)))
    assert found is not None
    assert questdb_key.text_in(metadata) == questdb_key.build(found)


def test_there_are_real_files() -> None:
    assert 18 == len(QUESTDB_FILES)


@each(
    ("broken", "field", "words"),
    [
        ("", "key questdb", "no JSON"),
        ("[]", "key questdb", "no JSON object"),
        (text(version=2), "key questdb.version", "version 2 is unknown"),
        (text(version=True), "key questdb.version", "not a whole number"),
        ('{"version": 1}', "key questdb.schema", "missing"),
        (text(schema={}), "key questdb.schema", "not a list"),
        (text(schema=[COLUMN, 7]), "key questdb.schema[1]", "no JSON object"),
        (text(schema=[{"column_top": 0}]), "key questdb.schema[0].column_type", "missing"),
        (text(schema=[{"column_type": 5}]), "key questdb.schema[0].column_top", "missing"),
        (text(schema=[COLUMN | {"column_type": 1 << 31}]), "key questdb.schema[0].column_type", "2147483647"),
        (text(schema=[COLUMN | {"column_type": 5.0}]), "key questdb.schema[0].column_type", "whole number"),
        (text(schema=[COLUMN | {"column_top": -1}]), "key questdb.schema[0].column_top", "from 0"),
        (text(schema=[COLUMN | {"ascii": 1}]), "key questdb.schema[0].ascii", "true or false"),
        (text(schema=[COLUMN | {"format": "1"}]), "key questdb.schema[0].format", "whole number"),
        (text(unused_bytes=-1), "key questdb.unused_bytes", "from 0"),
        (text(unused_bytes=1 << 63), "key questdb.unused_bytes", "9223372036854775807"),
        ('{"version":1,"version":1,"schema":[]}', "key questdb", "occurs twice"),
        ('{"version":1,"schema":' + "[" * 100_000, "key questdb", "nested too deeply"),
    ],
)
def test_a_key_that_is_none_names_the_member(broken: str, field: str, words: str) -> None:
    with pytest.raises(Malformed, match=words) as caught:
        questdb_key.parse(broken)

    assert ("PM-121", field) == (caught.value.rule, caught.value.field)


def test_a_key_for_another_number_of_columns_is_malformed() -> None:
    with pytest.raises(Malformed, match="1 columns are described, the Parquet file has 2") as caught:
        questdb_key.of_columns(questdb_key.parse(text()), 2)

    assert ("PM-121", "key questdb.schema") == (caught.value.rule, caught.value.field)


def test_null_is_like_no_member() -> None:
    found = questdb_key.parse(text(schema=[COLUMN | {"ascii": None, "format": None}], unused_bytes=None))

    assert QuestDBMetadata((QuestDBColumn(5),)) == found


def test_unknown_members_are_kept() -> None:
    written = '{"version":1,"schema":[{"column_type":5,"column_top":0,"new":[1]}],"newer":{"a":"é"}}'
    found = questdb_key.parse(written)

    assert ({"newer": {"a": "é"}}, {"new": [1]}) == (found.others, found.schema[0].others)
    assert written == questdb_key.build(found)


def test_the_tables_of_fields_are_the_attributes() -> None:
    assert [field.name for field in COLUMN_FIELDS] == list(QuestDBColumn.__annotations__)[:-1]
    assert {field.name for field in QUESTDB_FIELDS} == set(list(QuestDBMetadata.__annotations__)[:-1])
    assert all(field.doc.endswith(".") for field in (*COLUMN_FIELDS, *QUESTDB_FIELDS))


COLUMNS = st.builds(
    QuestDBColumn,
    st.integers(-(1 << 31), (1 << 31) - 1),
    st.integers(0, (1 << 63) - 1),
    st.none() | st.integers(-(1 << 31), (1 << 31) - 1),
    st.none() | st.booleans(),
    st.none() | st.integers(-(1 << 31), (1 << 31) - 1),
    st.dictionaries(st.sampled_from(["x", "é"]), st.integers() | st.text()),
)


@given(st.builds(QuestDBMetadata, st.lists(COLUMNS, max_size=4).map(tuple), st.integers(0, (1 << 63) - 1)))
def test_what_is_built_is_parsed(metadata: QuestDBMetadata) -> None:
    assert metadata == questdb_key.parse(questdb_key.build(metadata))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from([field.name for field in (*COLUMN_FIELDS, *QUESTDB_FIELDS)]), inner, max_size=4
        )
    ),
)


@given(JSON)
def test_any_json_is_read_or_malformed(value: Any) -> None:
    members = value if isinstance(value, dict) else {"schema": value}
    for written in (json.dumps(value), json.dumps({"version": 1, "schema": [COLUMN]} | members)):
        assert rule_of(written) in (None, "PM-121")


def rule_of(written: str) -> str | None:
    """The rule that a text breaks; ``None`` if it is read."""
    try:
        questdb_key.parse(written)
    except Malformed as error:
        return error.rule
    return None
