"""The protocol: what follows it, what does not, and that its description alone is enough to write a driver."""

from __future__ import annotations

import json
import re
import shutil
import sys
import warnings
from pathlib import Path

import jsonschema
import pytest

from damage import EXAMPLES
from golden_cases import golden_cases
from inside import Inside
from places import GUIDES, ROOT
from pqassay.report.run.outcomes import Operation
from pqassay_spec.golden.literals import Column, Float, LongInteger, Rows
from pqassay_spec.pm.value_json import from_json, to_json
from pqassay_suite.cases import manifest
from pqassay_suite.cases.case import golden_folder, select
from pqassay_suite.drivers import driver as driver_module
from pqassay_suite.drivers import protocol
from pqassay_suite.drivers.capabilities import missing_capability
from pqassay_suite.drivers.protocol import ProtocolError, read_answer, read_hello
from pqassay_suite.running.runner import Settings, run

pytestmark = pytest.mark.slow

PROTOCOL = (ROOT / "conformance" / "PROTOCOL.md").read_text()
HELLO = b'{"answer": "accept", "name": "n", "version": "1", "language": "C", "capabilities": ["idx1"]}'


@pytest.fixture(scope="module")
def manifests() -> jsonschema.Draft202012Validator:
    """The schema of manifests, made once: that takes far longer than to look at one."""
    return jsonschema.Draft202012Validator(manifest.json_schema())


def test_every_manifest_follows_its_schema(manifests: jsonschema.Draft202012Validator) -> None:
    for path in sorted(golden_folder().rglob("case.json"))[::EXAMPLES]:
        manifests.validate(json.loads(path.read_text()))


def test_a_manifest_without_a_title_does_not_follow_the_schema(
    manifests: jsonschema.Draft202012Validator,
) -> None:
    record = json.loads((golden_folder() / "idx1" / "companion" / "case.json").read_text())
    del record["title"]

    with pytest.raises(jsonschema.ValidationError, match="'title' is a required property"):
        manifests.validate(record)


REQUESTS = [
    protocol.HelloRequest(2, "hello"),
    protocol.ReadRequest(2, "read", "/f", ["n", "m"]),
    protocol.DecodeRequest(2, "decode", "IDX1", "/f", "nation"),
    protocol.DecodeRequest(2, "decode", "BLM", "/f", "n", ["a", {"bytes": "00"}]),
    protocol.LintRequest(2, "lint", "PQF", "/f"),
    protocol.EncodeRequest(
        2,
        "encode",
        "IDX1",
        "/o",
        "n",
        Rows(
            [Column("n", "string", True), Column("f", "double", False)],
            [["a", Float("nan")], [None, LongInteger("1")]],
        ),
        wishes=protocol.Wishes(page_rows=10, sorting=[protocol.SortingWish("n")], codec="zstd"),
    ),
    protocol.EncodeRequest(2, "encode", "PM", "/o", value={"columns": []}),
    protocol.ScanRequest(
        2,
        "scan",
        "IDX1",
        "/f",
        [
            protocol.Query(0, ["=", "n", {"bytes": "00"}], ["n"], "on"),
            protocol.Query(1, ["is null", "n"], [], "off"),
        ],
        "n",
    ),
    protocol.SnapshotRequest(2, "snapshot", "PM", "/f", LongInteger("9007199254740993")),
    protocol.PruneRequest(2, "prune", "PM", "/f", ["=", "n", {"bytes": "00"}], 100),
    protocol.PlanRequest(2, "plan", "PM", "/f", ["n"], [0]),
]


@pytest.mark.parametrize("request_", REQUESTS, ids=lambda request: request.op)
def test_requests_follow_their_schema(request_: protocol.Request) -> None:
    text = protocol.to_json(request_)
    protocol.check_request(text)
    jsonschema.validate(json.loads(text), protocol.request_schema())

    assert None not in json.loads(text).values()


def test_a_request_of_ours_that_does_not_follow_the_schema_is_noticed() -> None:
    with pytest.raises(ProtocolError, match="family"):
        protocol.check_request('{"protocol": 2, "op": "lint", "file": "/f"}')


ANSWERS: list[tuple[Operation, str]] = [
    ("decode", '{"answer": "accept", "value": {"values": ["a"]}}'),
    ("decode", '{"answer": "reject", "message": "no"}'),
    ("lint", '{"answer": "accept", "message": "fine"}'),
    ("encode", '{"answer": "accept"}'),
    (
        "scan",
        '{"answer": "accept", "rows": [["a", 1, null, {"float": "0.1"}, {"int": "5"}, {"bytes": "00"}]]}',
    ),
    ("scan", '{"answer": "ignored-index", "rows": []}'),
    ("scan", '{"answer": "accept", "digest": "00"}'),
    (
        "scan",
        '{"seq": 7, "answer": "accept", "rows": [[{"list": [1, null]}, {"map": [["a", {"date": "0"}]]}]]}',
    ),
    ("scan", '{"seq": 0, "answer": "unsupported", "reason": "codec LZ4"}'),
    ("read", '{"answer": "accept", "rows": [[{"struct": {"x": {"decimal": "1.50"}}}, {"timestamp": "-1"}]]}'),
    ("read", '{"answer": "reject", "message": "no", "raised": "java.lang.ClassCastException"}'),
    ("encode", '{"answer": "unsupported", "reason": "page_rows"}'),
    ("snapshot", '{"answer": "accept", "value": {"columns": []}}'),
    ("prune", '{"answer": "accept", "row_groups": [0, 2]}'),
    ("prune", '{"answer": "ignored-index", "row_groups": [0, 1, 2]}'),
    ("plan", '{"answer": "accept", "ranges": [[4, 10], [{"int": "9007199254740993"}, 1]]}'),
]


@pytest.mark.parametrize(("operation", "text"), ANSWERS)
def test_good_answers_are_read_and_follow_their_schema(operation: Operation, text: str) -> None:
    jsonschema.validate(json.loads(text), protocol.answer_schema())

    assert json.loads(text)["answer"] == read_answer(text.encode(), operation, strict=True).answer


@pytest.mark.parametrize(
    ("operation", "text", "message"),
    [
        ("decode", b"", "Invalid JSON"),
        ("decode", b'{"answer": "accept", "value": \xff', "Invalid JSON"),
        ("decode", b"[" * 100_000, "Invalid JSON"),
        ("decode", b"[]", "object"),
        ("decode", b'{"answer": "yes"}', "'yes'"),
        ("decode", b'{"value": {}}', "discriminator"),
        ("decode", b'{"answer": "accept"}', "carries value"),
        ("decode", b'{"answer": "accept", "value": ["a"]}', "value: "),
        ("decode", b'{"answer": "reject"}', "message: Field required"),
        ("decode", b'{"answer": "ignored-index", "rows": []}', "does not answer decode"),
        ("read", b'{"answer": "ignored-index", "rows": []}', "does not answer read"),
        ("read", b'{"answer": "accept"}', "the answer to read carries rows or digest"),
        ("read", b'{"answer": "accept", "rows": [[{"int": "undefined"}]]}', "rows.0.0: "),
        ("read", b'{"answer": "accept", "rows": [[{"decimal": "1,5"}]]}', "rows.0.0: "),
        ("read", b'{"answer": "accept", "rows": [[{"bytes": "0"}]]}', "rows.0.0: "),
        ("read", b'{"answer": "accept", "rows": [[{"list": [{"date": "x"}]}]]}', "rows.0.0: "),
        ("read", b'{"answer": "unsupported"}', "reason: Field required"),
        ("scan", b'{"seq": "0", "answer": "accept", "rows": []}', "seq: "),
        ("scan", b'{"answer": "accept", "rows": [], "digest": "0"}', "rows or digest"),
        ("prune", b'{"answer": "accept", "row_groups": ["0"]}', "row_groups"),
        ("prune", b'{"answer": "ignored-index", "rows": []}', "carries row_groups"),
        ("plan", b'{"answer": "accept", "row_groups": [0]}', "carries ranges"),
        ("plan", b'{"answer": "ignored-index", "row_groups": [0]}', "does not answer plan"),
        ("scan", b'{"answer": "accept", "rows": [[1.5]]}', "rows.0.0: "),
        ("scan", b'{"answer": "accept", "rows": [["a"], [2.5]]}', "rows.1.0: "),
        ("scan", b'{"answer": "accept", "rows": [{"n": 1}]}', "rows.0"),
        ("scan", b'{"answer": "accept", "rows": [["\\ud800"]]}', "Invalid JSON"),
    ],
)
def test_a_malformed_answer_names_what_is_wrong(operation: Operation, text: bytes, message: str) -> None:
    for strict in (False, True):
        with pytest.raises(ProtocolError, match=re.escape(message)):
            read_answer(text, operation, strict=strict)


def test_unknown_members_are_ignored_unless_the_protocol_is_validated() -> None:
    text = b'{"answer": "reject", "message": "no", "code": 7}'

    assert protocol.Reject("reject", "no") == read_answer(text, "decode", strict=False)
    with pytest.raises(ProtocolError, match="code"):
        read_answer(text, "decode", strict=True)


def test_hello_names_the_driver() -> None:
    assert "n" == read_hello(HELLO, strict=True).name
    with pytest.raises(ProtocolError, match="capabilities"):
        read_hello(HELLO.replace(b'["idx1"]', b'"idx1"'), strict=True)


@pytest.mark.parametrize(
    ("operation", "requires", "needs", "capabilities", "missing"),
    [
        ("scan", ["idx1"], [], ["idx1.scan"], ""),
        ("scan", ["idx1"], [], ["idx1"], "idx1.scan"),
        ("scan", ["idx1"], [], ["idx1.scans"], "idx1.scan"),
        ("scan", ["idx1"], [], [], "idx1"),
        ("decode", ["idx1", "idx1.companion"], [], ["idx1.decode"], "idx1.companion"),
        # A scan may leave the index aside, and so its further key.
        ("scan", ["idx1", "idx1.companion"], [], ["idx1.scan"], ""),
        ("read", ["idx1"], [], ["read"], ""),
        ("read", ["idx1"], ["codec.lz4", "type.date"], ["read", "type.date"], "codec.lz4"),
        ("read", [], ["nested"], ["read", "nested.map"], ""),
        ("scan", [], ["order.ieee754"], ["idx1.scan"], ""),
        ("decode", [], ["order.ieee754"], ["idx1.decode"], "order.ieee754"),
    ],
)
def test_a_capability_implies_what_its_name_begins_with(
    operation: Operation, requires: list[str], needs: list[str], capabilities: list[str], missing: str
) -> None:
    assert missing == missing_capability(operation, "IDX1", requires, needs, capabilities)


def example(language: str) -> str:
    """The example in this language in the protocol's description."""
    (text,) = re.findall(rf"```{re.escape(language)}\n(.*?)```", PROTOCOL, re.DOTALL)
    return str(text)


def test_the_guide_shows_the_driver_of_the_protocol() -> None:
    """What the guide prints of its run, `tests/docs/test_guides.py` compares."""
    driver = example('python title="driver.py"')

    assert f'title="driver.py"\n{driver}```' in (GUIDES / "run.md").read_text()


def scored(command: list[str], *cases: str) -> tuple[dict[str, str], int]:
    """What a driver makes of cases of IDX1, by id, and how many of them it passes."""
    chosen = select(golden_cases(), [*cases, "interop/datafusion-55.2/*"])
    report = run(chosen, Settings(command, only=["decode"], strict=True))

    assert [] == [result for result in report.results if result.outcome in ("crashed", "protocol error")]
    return {result.case: result.outcome for result in report.results}, report.scores[0].passed


HONEST = [
    "idx1/plain",
    "idx1/hand-typed",
    "idx1/unicode",
    "idx1/other-line-ends",
    "interop/datafusion-55.2/two-values",
]
DAMAGED = ["idx1/magic", "idx1/length-1-tib", "idx1/stale-into-data", "idx1/offset-word"]


def test_the_driver_in_python_in_the_protocol_runs_and_scores(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    driver = tmp_path / "driver.py"
    driver.write_text(example("python"))
    monkeypatch.setattr(driver_module, "Launcher", Inside)
    outcomes, passed = scored([sys.executable, str(driver)], "idx1/*")

    assert ["passed"] * 9 == [outcomes[name] for name in HONEST + DAMAGED]
    assert ["failed"] * 2 == [outcomes[name] for name in ("idx1/offset-underscore", "idx1/length-one-more")]
    assert passed > 0.8 * len(outcomes)


def test_the_first_driver_in_the_protocol_reads_most_of_what_it_is_asked(tmp_path: Path) -> None:
    driver = tmp_path / "driver.py"
    driver.write_text(example('python title="driver.py"'))
    chosen = select(golden_cases(), ["idx1/p*", "pqf/pa*", "pqf/pl*", "pix/p*"])
    report = run(chosen, Settings([sys.executable, str(driver)], jobs=1, strict=True))
    asked, passed = (sum(getattr(score, name) for score in report.scores) for name in ("asked", "passed"))

    assert {"read"} == {score.operation for score in report.scores if score.outcomes}
    assert True is report.driver.serve
    assert [] == [result for result in report.results if result.outcome in ("crashed", "protocol error")]
    assert passed > 0.8 * asked > 20


def test_the_driver_for_snapshots_in_the_protocol_runs_and_scores(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    driver = tmp_path / "driver.py"
    driver.write_text(example('python title="snapshot.py"'))
    chosen = select(golden_cases(), ["pm/*", "interop/questdb-*/*"])
    monkeypatch.setattr(driver_module, "Launcher", Inside)
    report = run(chosen, Settings([sys.executable, str(driver)], only=["snapshot"], strict=True))
    (score,) = report.scores
    real = {result.outcome for result in report.results if result.case.startswith("interop")}

    assert {"passed"} == real
    assert score.passed > 0.8 * score.asked


def test_the_value_in_the_protocol_is_one_that_can_be_written() -> None:
    (shown,) = re.findall(r"```json\n(.\"designated.*?)```", PROTOCOL, re.DOTALL)
    value = from_json(json.loads(shown))

    assert json.loads(shown) == to_json(value)
    assert (43, 39) == (value.parquet_footer_offset, value.row_groups[0].chunks[0].length)


def test_the_driver_for_node_in_the_protocol_runs_and_scores(tmp_path: Path) -> None:
    node = shutil.which("node")
    if node is None:
        reason = "NOT TESTED: the driver for Node.js in PROTOCOL.md; there is no node on this machine"
        warnings.warn(reason, stacklevel=1)
        pytest.skip(reason)
    driver = tmp_path / "driver.js"
    driver.write_text(example("javascript"))
    # It is started for each request: of the cases, those of a few kinds. The one in Python is asked about all.
    outcomes, passed = scored([node, str(driver)], *HONEST, *DAMAGED, "idx1/offset-*")

    assert ["passed"] * 9 == [outcomes[name] for name in HONEST + DAMAGED]
    assert ["failed"] * 2 == [outcomes[name] for name in ("idx1/offset-hexadecimal", "idx1/offset-fraction")]
    assert passed > 0.8 * len(outcomes)
