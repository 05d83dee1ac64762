"""The object store of the tests forgets."""

from __future__ import annotations

import pyarrow.fs as pafs
import pytest

from store_server import store_server


def test_what_one_server_stored_is_not_in_the_next_one(monkeypatch: pytest.MonkeyPatch) -> None:
    found: list[list[str]] = []
    for _ in range(2):
        with store_server() as server:
            for name, value in server.environment.items():
                monkeypatch.setenv(name, value)
            store = pafs.S3FileSystem(
                endpoint_override=f"{server.host}:{server.port}", scheme="http", allow_bucket_creation=True
            )
            found.append([file.path for file in store.get_file_info(pafs.FileSelector("", recursive=True))])
            store.create_dir("lake")

    assert [[], []] == found
