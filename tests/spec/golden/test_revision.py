"""Revisions of the golden cases: what is listed stays as it is, and what comes later is told apart from what was changed."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest

import revisions
from each import each
from places import GOLDEN_FILES, ROOT
from pqassay_spec.golden import revision
from pqassay_spec.golden.revision import ASKED, Revision, RevisionError, case_digest, current, written

WHAT_TO_DO = (
    "a case that is in a revision stays as it is: give what is new an id of its own, and leave the old one. While the "
    "revision is a draft, `make generate` takes the change into its list, and the changelog says so"
)

MANIFEST = json.loads((GOLDEN_FILES / "pix" / "no-pages" / "case.json").read_bytes())


def test_no_case_of_the_current_revision_has_changed_or_gone() -> None:
    assert [] == current().differences(revisions.digests()), WHAT_TO_DO


def test_every_revision_can_be_read_and_is_written_as_it_is() -> None:
    folder = ROOT / revisions.REVISIONS

    assert revision.CURRENT in revision.numbers()
    for number in revision.numbers():
        assert (folder / f"{number}.toml").read_text("utf-8") == written(revision.revision(number))


def test_what_was_added_is_told_apart_from_what_changed_and_what_has_gone() -> None:
    listed = Revision("1.0", "frozen", {"pix/a": "1" * 64, "pix/b": "2" * 64, "pix/c": "3" * 64})

    assert ["counted", "changed", "added"] == [
        listed.standing("pix/a", "1" * 64),
        listed.standing("pix/b", "1" * 64),
        listed.standing("pix/d", "1" * 64),
    ]
    assert [
        "pix/b is not what it was in revision 1.0: its bytes or answers differ",
        "pix/c is in revision 1.0, and there is no such case any more",
    ] == listed.differences({"pix/a": "1" * 64, "pix/b": "4" * 64, "pix/d": "5" * 64})


@each("member", [name for name in ASKED if name in MANIFEST])
def test_the_digest_covers_what_is_asked(member: str) -> None:
    changed = {**MANIFEST, member: "another"}

    assert case_digest(MANIFEST) != case_digest(changed)


def test_the_digest_leaves_out_words_about_a_case_and_what_the_judge_reports() -> None:
    changed: dict[str, Any] = copy.deepcopy(MANIFEST)
    changed |= {"title": "better words", "effect": "rows lost", "since": "9.9.9", "rules": ["PIX-001"]}
    changed["expect"]["check"] = {"rules": ["PIX-001"], "tier": "values"}

    assert case_digest(MANIFEST) == case_digest(changed)
    changed["expect"]["read"] = {"rows": "unspecified", "refusal": "demanded"}
    assert case_digest(MANIFEST) != case_digest(changed)


def test_an_unknown_revision_is_refused_with_those_there_are() -> None:
    with pytest.raises(RevisionError) as caught:
        revision.revision("../0.9")
    assert str(caught.value).startswith("there is no revision ../0.9; there are 1.0")


def test_a_frozen_revision_is_not_written_anew() -> None:
    frozen = Revision("1.0", "frozen", {"pix/a": "1" * 64})

    with pytest.raises(SystemExit) as caught:
        revisions.begun("1.0", frozen, {"pix/a": "2" * 64}, is_frozen=False)
    assert "revision 1.0 is frozen: cases that are new or changed go into the next one" == str(caught.value)


def test_a_draft_takes_in_changes_and_a_new_list_all_cases_of_today() -> None:
    draft = Revision("0.9", "draft", {"pix/a": "1" * 64, "pix/gone": "1" * 64})
    today = {"pix/a": "2" * 64, "pix/new": "3" * 64}

    assert {"pix/a": "2" * 64} == revisions.kept(draft, today).cases
    assert Revision("0.9", "draft", today) == revisions.begun("0.9", draft, today, is_frozen=False)
    assert Revision("1.0", "frozen", today) == revisions.begun("1.0", None, today, is_frozen=True)


def test_a_frozen_revision_is_not_derived(monkeypatch: pytest.MonkeyPatch) -> None:
    frozen = Revision("1.0", "frozen", {"pix/a": "1" * 64})
    monkeypatch.setattr(revisions, "numbers", lambda: ["1.0"])
    monkeypatch.setattr(revisions, "revision", {"1.0": frozen}.__getitem__)

    assert {} == revisions.contents()
