"""A finding says that it is by the pinned text, where a newer one permits what it reports."""

from __future__ import annotations

import io

import pytest

import pqassay
from places import GOLDEN_FILES
from pqassay.report.renderers import markdown, text
from pqassay.report.rules import newer, obligation
from pqassay_spec.rules.catalogue import rules
from pqassay_spec.rules.documents import document

MISFIT = GOLDEN_FILES / "pqf" / "uuid-on-a-number" / "data.parquet"


def rendered(name: str) -> str:
    stream = io.StringIO()
    report = pqassay.check(MISFIT)
    if name == "text":
        text.render(report, stream, verbose=True)
    else:
        markdown.render(report, stream)
    return " ".join(stream.getvalue().split())


@pytest.mark.parametrize("name", ["text", "markdown"])
def test_a_finding_names_the_pinned_revision_and_the_newer_text(name: str) -> None:
    pinned = document("LogicalTypes")

    assert pinned is not None
    assert f"by the pinned text, {pinned.revision}. The next version lets TIMESTAMP annotate" in rendered(
        name
    )


def test_a_rule_that_no_newer_text_contradicts_says_nothing() -> None:
    assert {"DLT-054", "PQF-155"} == {rule.id for rule in rules().values() if newer(rule)}
    assert "newer" not in dict(obligation(rules()["PQF-001"]))
