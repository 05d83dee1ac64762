"""What `make release` writes beside the files that it builds, and what it refuses."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path

import pytest
import release

import processes

CHANGELOG = "# Changelog\n\nThe form.\n\n## Unreleased\n{}\n## 0.9.0 - 2026-12-01\n\n### Added\n\n- All.\n\n## 0.8.0\n\n- Old.\n"


def test_the_notes_are_the_section_of_the_version() -> None:
    changelog = CHANGELOG.format("")
    assert ["### Added\n\n- All.\n", "- Old.\n"] == [
        release.notes(changelog, version) for version in ("0.9.0", "0.8.0")
    ]
    assert "- New.\n" == release.notes(CHANGELOG.format("\n- New.\n"), "Unreleased")


@pytest.mark.parametrize(
    ("unreleased", "version", "message"),
    [
        ("\n- New.\n", "0.9.0", "has entries under Unreleased. Give them the version 0.9.0"),
        ("", "0.9", "has no entries for 0.9. Add a section `## 0.9 - <date>`"),
        ("", "Unreleased", "has no entries for Unreleased"),
    ],
)
def test_a_changelog_without_the_version_is_refused(unreleased: str, version: str, message: str) -> None:
    with pytest.raises(release.ReleaseError, match=message):
        release.notes(CHANGELOG.format(unreleased), version)


def test_a_folder_is_replaced_as_a_whole_or_not_at_all(tmp_path: Path) -> None:
    target = tmp_path / "dist"
    for content in ("first", "second"):
        with release.replacing(target) as made:
            (made / "file").write_text(content)
    with contextlib.suppress(KeyError), release.replacing(target) as made:
        (made / "file").write_text("third")
        raise KeyError

    assert ["dist"] == [path.name for path in tmp_path.iterdir()]
    assert "second" == (target / "file").read_text()


def test_the_checksums_are_those_of_sha256sum(tmp_path: Path) -> None:
    (tmp_path / "a.whl").write_bytes(b"wheel")
    (tmp_path / "b.tar.gz").write_bytes(b"sdist")
    (tmp_path / release.CHECKSUMS).write_text(release.checksums(tmp_path))

    done = processes.run(
        ["sha256sum", "--check", release.CHECKSUMS], cwd=tmp_path, capture_output=True, text=True
    )
    assert (0, "a.whl: OK\nb.tar.gz: OK\n") == (done.returncode, done.stdout)


def test_a_program_that_fails_is_named_with_its_output() -> None:
    with pytest.raises(release.ReleaseError, match=r"exit status 3, not 0\.\nwhy"):
        release.run(sys.executable, "-c", "print('why'); raise SystemExit(3)")
