"""A finished Parquet file in an object store that gets a new footer: written as a new object, or replaced conditionally.

A store cannot rename. If two programs replace an object at once, the later one wins without noticing the other.  An object is
therefore only replaced if the store checks that it has not changed since it was read: S3 does so by the entity tag (``If-Match``).
A new object can be written to any store that pyarrow supports.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from typing import Any, Self
from urllib.parse import parse_qs, unquote, urlsplit

from pqassay_reference.errors import Refused, about
from pqassay_reference.rewrite.finished_file import (
    COPY_SIZE,
    TABLE_MARKS,
    ChangedError,
    kind_of_table,
)
from pqassay_reference.rewrite.footer_splice import footer_and_tail
from pqassay_spec.base.errors import Malformed
from pqassay_spec.base.sources import Source, require_range
from pqassay_spec.parquet.file import Framing, read_footer, read_framing, read_head
from pqassay_spec.parquet.thrift import FileMetaData
from pqassay_spec.table.layout import ICEBERG_METADATA

SCHEMES = {"s3a": "s3", "s3n": "s3", "gcs": "gs"}
"""Schemes of other programs, with the schemes of pyarrow."""

WHOLE = 8 << 20
"""Most bytes of an object that is sent in one request; the body of a larger one is copied within the store."""

PART = 1 << 30
"""Bytes of a part that the store copies."""

LEAST_PART = 5 << 20
"""Least bytes of every part except the last."""

CHANGED = ("PreconditionFailed", "412", "ConditionalRequestConflict", "409")
"""Answers of a store if the object has changed."""

ABSENT = ("404", "NoSuchKey", "NoSuchBucket")
"""Answers of a store if there is no such object."""

_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")


def is_uri(text: str) -> bool:
    """Whether a text is a URI of a store rather than a local path."""
    return _URI.match(text) is not None


@dataclass(frozen=True)
class Location:
    """A place in a store.

    Attributes:
        name: The URI without credentials and options, for people.
        scheme: pyarrow's name of the kind of store.
        system: The filesystem of pyarrow.
        path: The path within the store.
        options: The options of the store, after the question mark of the URI.
    """

    name: str
    scheme: str
    system: Any
    path: str
    options: dict[str, str]


def location(uri: str) -> Location:
    """Find the store for a URI.

    Raises:
        Refused: pyarrow does not support such a store.
    """
    import pyarrow as pa  # noqa: PLC0415 - local files do not need it
    from pyarrow import fs  # noqa: PLC0415 - as above

    parts = urlsplit(uri)
    scheme = SCHEMES.get(parts.scheme.lower(), parts.scheme.lower())
    host = parts.netloc.rpartition("@")[2]
    name = f"{scheme}://{host}{parts.path}"
    try:
        system, path = fs.FileSystem.from_uri(f"{scheme}{uri[len(parts.scheme) :]}")
    except (pa.ArrowException, ValueError, OSError) as error:
        raise Refused(f"{' '.join(str(error).split())[:200]}") from None
    options = {key: values[-1] for key, values in parse_qs(parts.query).items()}
    return Location(name, scheme, system, path, options)


class ObjectSource:
    """A source over an object of a store, through pyarrow; see `pqassay_spec.base.sources.Source`."""

    def __init__(self, system: Any, path: str, name: str = "") -> None:
        self.name = name or path
        self._file = system.open_input_file(path)
        self.size = int(self._file.size())

    def read(self, offset: int, length: int) -> bytes:
        """Read a range. See `pqassay_spec.base.sources.Source.read`."""
        require_range(self, offset, length)
        data = bytes(self._file.read_at(length, offset))
        if len(data) != length:
            raise Malformed("the object became shorter while it was read", offset=offset, file=self.name)
        return data

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the source."""
        self._file.close()


@dataclass(frozen=True)
class StoredObject:
    """An opened object.

    Attributes:
        path: The URI without credentials.
        source: Its bytes.
        framing: The place of its footer.
        metadata: The decoded footer.
        replacement: Replaces the object; ``None`` if it must not be replaced.
    """

    path: str
    source: Source
    framing: Framing
    metadata: FileMetaData
    replacement: S3Replacement | None = None

    @property
    def footer(self) -> bytes:
        """The bytes of the footer."""
        return self.source.read(self.framing.footer_start, self.framing.footer_length)

    def rewrite(self, footer: bytes, *, body_end: int, output: str | None = None) -> None:
        """Write the unchanged body, then another footer; as a new object, or replacing this one.

        Args:
            footer: The new footer, without length and magic.
            body_end: Number of bytes of the object to keep.
            output: URI of the new object; ``None`` to replace this one.

        Raises:
            Refused: An object with that name already exists.
            ChangedError: The object changed meanwhile; nothing was written.
            OSError: The store does not accept it.
        """
        end = footer_and_tail(footer)
        if output is not None:
            self._write_new(location(output), end, body_end)
        else:
            assert self.replacement is not None, "the replacement is set when the object is opened"
            self.replacement.replace(self.source, body_end, end)

    def _write_new(self, at: Location, end: bytes, body_end: int) -> None:
        from pyarrow import fs  # noqa: PLC0415 - as above

        if at.system.get_file_info(at.path).type != fs.FileType.NotFound:
            raise Refused(
                f"{at.name} already exists, and only a new object can be written; choose another name"
            )
        stream = at.system.open_output_stream(at.path)
        try:
            for piece in _body(self.source, body_end):
                stream.write(piece)
            stream.write(end)
        except BaseException:
            _abort(stream)
            raise
        stream.close()


def _abort(stream: Any) -> None:
    """End a stream without creating an object, if the store supports that."""
    with contextlib.suppress(Exception):
        stream.abort() if hasattr(stream, "abort") else None


def _body(source: Source, length: int) -> Iterator[bytes]:
    for position in range(0, length, COPY_SIZE):
        yield source.read(position, min(COPY_SIZE, length - position))


@contextlib.contextmanager
def stored_object(
    uri: str, *, inside_table: bool = False, output: str | None = None, dry_run: bool = False
) -> Generator[StoredObject]:
    """Open an object whose footer will be written again.

    Args:
        uri: The object.
        inside_table: Do it even inside a table, whose metadata record the old length.
        output: URI of the object that will be written, if it is another object.
        dry_run: Whether nothing will be written.

        Raises:
        Refused: The object to be written belongs to a table, is not in a store, or cannot be replaced conditionally.
        FormatError: Not a Parquet file, or an encrypted one.
        OSError: It cannot be read.
    """
    if output is not None and not is_uri(output):
        raise Refused(
            f"{output} is not a URI; an object of a store is written to another object, such as {uri}.stripped"
        )
    at = location(uri)
    if output is None and not dry_run and at.scheme != "s3":  # said before the store is asked anything
        raise Refused(
            f"it cannot be replaced: pqassay does not know how {at.scheme} is asked to replace an object only if it is "
            "unchanged, and without that somebody else's write would be lost. Write a new object: --output URI"
        )
    target = at if output is None else location(output)
    if not inside_table and (table := enclosing_table(target)):
        raise Refused(
            f"{target.name} belongs to {table}, whose metadata record its size: readers would fail. "
            "`pqassay repair` writes the statement by which the table itself writes the file again"
        )
    replacement = None if output is not None or dry_run else _replacement(at)
    source = ObjectSource(at.system, at.path, at.name)
    with contextlib.closing(source), about(at.name):
        read_head(source)
        framing = read_framing(source)
        metadata, _ = read_footer(source, framing)
        yield StoredObject(at.name, source, framing, metadata, replacement)


def enclosing_table(at: Location) -> str | None:
    """The name of the table whose folder contains an object; ``None`` if there is none."""
    from pyarrow import fs  # noqa: PLC0415 - as above

    folder = at.path.rpartition("/")[0]
    while folder:
        marks = list(TABLE_MARKS)
        found = at.system.get_file_info([f"{folder}/{mark}" for mark in marks])
        there = [mark for mark, info in zip(marks, found, strict=True) if info.type != fs.FileType.NotFound]
        below = fs.FileSelector(f"{folder}/{ICEBERG_METADATA}", allow_not_found=True)
        if kind := kind_of_table(there, (info.base_name for info in at.system.get_file_info(below))):
            return f"the {kind} table {folder.rpartition('/')[2]}"
        folder = folder.rpartition("/")[0]
    return None


# ------------------------------------------------------------------------------------------- replacement on S3


def _replacement(at: Location) -> S3Replacement:
    """The conditional replacement of an object. Raises `Refused` if the store has none."""
    try:
        # Local files, and new objects, do not need it; it has no types.
        import boto3  # type: ignore[import-untyped]  # noqa: PLC0415
    except ImportError:
        raise Refused(
            "it cannot be replaced: that takes a conditional request, for which boto3 is needed "
            "(python -m pip install boto3). Or write a new object: --output URI"
        ) from None
    endpoint = at.options.get("endpoint_override")
    options: dict[str, Any] = {}
    if endpoint is not None:
        options["endpoint_url"] = f"{at.options.get('scheme', 'https')}://{endpoint}"
    if "region" in at.options:
        options["region_name"] = at.options["region"]
    bucket, _, key = at.path.partition("/")
    return S3Replacement.of(boto3.client("s3", **options), bucket, unquote(key), at.name)


@dataclass(frozen=True)
class S3Replacement:
    """An object in S3 that is replaced if it has not changed since it was opened.

    Attributes:
        client: The client of boto3.
        bucket, key: The object.
        name: Its URI, for messages.
        etag: Its entity tag.
        kept: Its metadata, which the new object keeps.
    """

    client: Any
    bucket: str
    key: str
    name: str
    etag: str
    kept: dict[str, Any]

    KEPT = (
        "CacheControl",
        "ContentDisposition",
        "ContentEncoding",
        "ContentLanguage",
        "ContentType",
        "Metadata",
    )

    @classmethod
    def of(cls, client: Any, bucket: str, key: str, name: str) -> S3Replacement:
        """Read the state of an object. Raises `OSError`."""
        with _as_os_errors(name):
            head = client.head_object(Bucket=bucket, Key=key)
        kept = {member: head[member] for member in cls.KEPT if head.get(member)}
        return cls(client, bucket, key, name, head["ETag"], kept)

    def replace(self, source: Source, body_end: int, end: bytes) -> None:
        """Replace the object by its own first bytes followed by other bytes.

        Raises:
            ChangedError: The object has changed, so nothing was written.
            OSError: The store does not accept it.
        """
        with _as_os_errors(self.name):
            if body_end + len(end) <= WHOLE:
                body = b"".join([*_body(source, body_end), end])
                self.client.put_object(
                    Bucket=self.bucket, Key=self.key, Body=body, IfMatch=self.etag, **self.kept
                )
            else:
                self._replace_in_parts(source, body_end, end)

    def _replace_in_parts(self, source: Source, body_end: int, end: bytes) -> None:
        """Replace the object while the store copies the body; only the end of the body and the footer are sent."""
        place = {"Bucket": self.bucket, "Key": self.key}
        upload = self.client.create_multipart_upload(**place, **self.kept)["UploadId"]
        try:
            parts: list[dict[str, Any]] = []
            position = 0
            while body_end - position > LEAST_PART:
                length = min(PART, body_end - position)
                copied = self.client.upload_part_copy(
                    **place,
                    UploadId=upload,
                    PartNumber=len(parts) + 1,
                    CopySource=place,
                    CopySourceIfMatch=self.etag,
                    CopySourceRange=f"bytes={position}-{position + length - 1}",
                )
                parts.append({"PartNumber": len(parts) + 1, "ETag": copied["CopyPartResult"]["ETag"]})
                position += length
            rest = b"".join([source.read(position, body_end - position), end])
            sent = self.client.upload_part(**place, UploadId=upload, PartNumber=len(parts) + 1, Body=rest)
            parts.append({"PartNumber": len(parts) + 1, "ETag": sent["ETag"]})
            self.client.complete_multipart_upload(
                **place, UploadId=upload, MultipartUpload={"Parts": parts}, IfMatch=self.etag
            )
        except BaseException:
            with contextlib.suppress(Exception):  # the first error says what is wrong
                self.client.abort_multipart_upload(**place, UploadId=upload)
            raise


@contextlib.contextmanager
def _as_os_errors(name: str) -> Generator[None]:
    """Convert the errors of boto3 to `OSError`."""
    from botocore.exceptions import (  # type: ignore[import-untyped]  # noqa: PLC0415 - as above
        BotoCoreError,
        ClientError,
    )

    try:
        yield
    except ClientError as error:
        code = str(error.response.get("Error", {}).get("Code", ""))
        if code in CHANGED:
            raise ChangedError("it changed during the operation; nothing was written") from None
        if code in ABSENT:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), name) from None
        raise OSError(errno.EIO, f"the store answers: {error}", name) from None
    except BotoCoreError as error:
        raise OSError(errno.EIO, f"the store cannot be reached: {error}", name) from None
