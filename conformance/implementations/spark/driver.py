"""A driver for Apache Spark: scans are Spark's, and so are the files, but for the index that is put behind their rows.

    pqassay run --timeout 120 -- python3 driver.py

Starting Java takes longer than most requests may. So the first request starts a server, which keeps one Spark session behind a
socket in a folder that only this user can enter; later requests talk to it, and after a minute without any it ends.

It imports nothing of pqassay.
"""

# ruff: noqa: INP001, PLC0415, PTH100, PTH102, PTH105, PTH108, PTH123, PTH208 - one file to copy, as small as it can be
from __future__ import annotations

import contextlib
import fcntl
import functools
import hashlib
import json
import operator
import os
import re
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

IDLE_SECONDS = float(os.environ.get("SPARK_DRIVER_IDLE_SECONDS", "60"))
"""How long the server waits for another request before it ends."""

START_SECONDS = 110.0
"""How long a request waits for the server to start."""

LONGEST_MESSAGE = 300

FOLDER = f"/tmp/pqassay-spark-{os.getuid()}"  # noqa: S108 - its owner and mode are verified; TMPDIR is another one for each request
"""Holds the socket. The folder for temporary files of a request is of no use: it goes with the request."""


class NotSupportedError(Exception):
    """Neither answered nor refused."""


class RefusedError(Exception):
    """The rows cannot be indexed."""


# ------------------------------------------------------------------------------------------------ the client


def main() -> None:
    """Answer one request, or be the server."""
    if sys.argv[1] == "--serve":
        serve(sys.argv[2])
        return
    with open(sys.argv[1]) as file:
        request = json.load(file)
    if request["op"] == "hello":
        reply = {"status": 0, "answer": hello()}
    elif request["op"] not in OPERATIONS or (request["op"] == "encode" and request["family"] != "IDX1"):
        sys.exit(3)
    else:
        reply = ask(request)
    if "crash" in reply:
        sys.exit(f"Spark: {reply['crash']}")
    if reply["status"] == 0:
        with open(sys.argv[2], "w") as file:
            json.dump(reply["answer"], file)
    sys.exit(reply["status"])


def hello() -> dict[str, Any]:
    """Who this is. No Java is needed for that."""
    from importlib.metadata import version

    return {
        "answer": "accept",
        "name": "Apache Spark",
        "version": version("pyspark"),
        "language": "Scala, driven from Python",
        "capabilities": ["parquet", "pqf.scan", "idx1.scan", "idx1.encode"],
    }


def ask(request: dict[str, Any]) -> dict[str, Any]:
    """Ask the server, which is started if there is none; twice, since it may just be about to end."""
    for _ in range(2):
        with contextlib.suppress(OSError, ValueError), connected() as connection:
            connection.sendall(json.dumps(request).encode() + b"\n")
            with connection.makefile("rb") as stream:
                return dict(json.loads(stream.readline()))
    sys.exit("Spark: the server ended without an answer")


@contextlib.contextmanager
def connected() -> Iterator[socket.socket]:
    """A connection to the server. Of several requests at a time, one starts it."""
    private_folder()
    with open(f"{FOLDER}/lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        connection = connect() or started()
    with connection:
        yield connection


def private_folder() -> None:
    """Make the folder, and make sure that nobody else can put a socket there."""
    with contextlib.suppress(FileExistsError):
        os.mkdir(FOLDER, 0o700)
    found = os.lstat(FOLDER)
    if found.st_uid != os.getuid() or found.st_mode & 0o170777 != 0o040700:
        sys.exit(f"{FOLDER} is no folder of this user alone")


def address() -> str:
    """Path of the socket: another one for another driver or another Python."""
    with open(__file__, "rb") as file:
        known_by = file.read() + sys.executable.encode() + os.environ.get("JAVA_HOME", "").encode()
    return f"{FOLDER}/{hashlib.sha256(known_by).hexdigest()[:16]}"


def connect() -> socket.socket | None:
    """Connect; ``None`` if no server listens."""
    connection = socket.socket(socket.AF_UNIX)
    try:
        connection.connect(address())
    except OSError:
        connection.close()
        return None
    return connection


def started() -> socket.socket:
    """Start the server, in a session of its own so that the end of this request is not its end, and connect to it."""
    with contextlib.suppress(FileNotFoundError):
        os.unlink(address())
    environment = {name: value for name, value in os.environ.items() if name != "TMPDIR"}
    with open(f"{FOLDER}/log", "w") as log:
        server = subprocess.Popen(  # noqa: S603 - this program itself
            [sys.executable, os.path.abspath(__file__), "--serve", address()],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
            cwd=FOLDER,
            env=environment,
        )
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and server.poll() is None:
        if connection := connect():
            return connection
        time.sleep(0.1)
    server.kill()
    with open(f"{FOLDER}/log") as log:
        said = log.read().strip().rpartition("\n")[2]
    sys.exit(f"Spark does not start: {said or 'no word'}")


# ------------------------------------------------------------------------------------------------ the server


def serve(path: str) -> None:
    """Answer requests until there are none for a while, or one goes wrong in a way that is no refusal."""
    with contextlib.closing(Spark()) as spark, socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path)
        listener.listen(64)
        listener.settimeout(IDLE_SECONDS)
        try:
            with contextlib.suppress(TimeoutError):
                while serve_one(listener, spark):
                    pass
        finally:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(path)


def serve_one(listener: socket.socket, spark: Spark) -> bool:
    """Answer one request; whether the server is fit for another."""
    connection, _ = listener.accept()
    with connection, connection.makefile("rb") as stream:
        connection.settimeout(IDLE_SECONDS)
        with contextlib.suppress(OSError, ValueError):  # whoever asked has gone meanwhile
            request = json.loads(stream.readline())
            reply = answered(spark, request)
            connection.sendall(json.dumps(reply).encode() + b"\n")
            return "crash" not in reply
    return True


def answered(spark: Spark, request: dict[str, Any]) -> dict[str, Any]:
    """The reply to a request."""
    from py4j.protocol import Py4JJavaError
    from pyspark.errors import PySparkException

    try:
        return {"status": 0, "answer": OPERATIONS[request["op"]](spark, request)}
    except NotSupportedError:
        return {"status": 3}
    except RefusedError as error:
        return {"status": 0, "answer": {"answer": "reject", "message": str(error)}}
    except (PySparkException, Py4JJavaError) as error:
        if not spark.lives():
            return {"crash": short(error)}
        return {"status": 0, "answer": {"answer": "reject", "message": short(error)}}
    except Exception as error:  # noqa: BLE001 - said to whoever asked, and the end of the server
        return {"crash": f"{type(error).__name__}: {short(error)}"}


def short(error: BaseException) -> str:
    """Message of an error, without the traces of Java."""
    return " ".join(str(error).split())[:LONGEST_MESSAGE]


class Spark:
    """The session."""

    def __init__(self) -> None:
        os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
        from pyspark.sql import SparkSession

        settings = {
            "spark.driver.memory": "1g",
            "spark.ui.enabled": "false",
            "spark.sql.session.timeZone": "UTC",
            "spark.sql.shuffle.partitions": "1",
            "spark.sql.caseSensitive": "true",
        }
        builder = SparkSession.builder.master("local[1]").appName("pqassay driver")
        for key, value in settings.items():
            builder = builder.config(key, value)
        self.session = builder.getOrCreate()
        self.session.sparkContext.setLogLevel("OFF")
        self.java: Any = self.session.sparkContext._jvm  # noqa: SLF001 - there is no public way to Spark's Parquet library

    def lives(self) -> bool:
        """True if the Java process is still able to work."""
        try:
            return not self.session.sparkContext._jsc.sc().isStopped()  # type: ignore[attr-defined] # noqa: SLF001 - as above
        except Exception:  # noqa: BLE001 - then it is not
            return False

    def close(self) -> None:
        """Stop it."""
        with contextlib.suppress(Exception):
            self.session.stop()


# ------------------------------------------------------------------------------------------------- scanning


def scan(spark: Spark, request: dict[str, Any]) -> dict[str, Any]:
    """Rows that Spark finds. It knows nothing of indexes in files."""
    from pyspark.sql import functions as f

    frame = spark.session.read.parquet("file://" + re.sub(r"([\\{}\[\]*?])", r"\\\1", request["file"]))
    columns = [f.col(quoted(name)) for name in request["columns"]]
    found = frame.filter(condition(request["predicate"])).select(*columns).collect()
    rows = [[json_value(value) for value in row] for row in found]
    return {"answer": "ignored-index" if request["index"] == "on" else "accept", "rows": rows}


def quoted(name: str) -> str:
    """A column's name, dots and all, as Spark takes it."""
    return f"`{name.replace('`', '``')}`"


def condition(tree: list[Any]) -> Any:
    """A predicate as Spark's expression of the same name; what it is true of is for Spark to say."""
    from pyspark.sql import functions as f

    name, *parts = tree
    if name in ("and", "or"):
        joined = {"and": operator.and_, "or": operator.or_}[name]
        return functools.reduce(joined, map(condition, parts))
    if name == "not":
        return ~condition(parts[0])
    column = f.col(quoted(parts[0]))
    if name in ("is null", "is not null"):
        return column.isNull() if name == "is null" else column.isNotNull()
    if name in ("in", "not in"):
        found = column.isin(*map(literal, parts[1]))
        return found if name == "in" else ~found
    compare = {
        "=": operator.eq,
        "!=": operator.ne,
        "<": operator.lt,
        "<=": operator.le,
        ">": operator.gt,
        ">=": operator.ge,
    }
    return compare[name](column, literal(parts[1]))


def literal(written: Any) -> Any:
    """A value of the protocol as Spark's literal."""
    from pyspark.sql import functions as f

    value = python_value(written)
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        return f.lit(str(value)).cast("decimal(38,0)")
    return f.lit(value)


def python_value(written: Any) -> Any:
    """A value of the protocol."""
    if not isinstance(written, dict):
        return written
    ((tag, text),) = written.items()
    return {"int": int, "float": float, "bytes": bytearray.fromhex}[tag](text)


def json_value(value: Any) -> Any:
    """The inverse of `python_value`."""
    if isinstance(value, float):
        return {"float": repr(value)}
    if isinstance(value, (bytes, bytearray)):
        return {"bytes": value.hex()}
    if isinstance(value, int) and not isinstance(value, bool):
        return {"int": str(value)} if abs(value) > 2**53 else value
    if value is None or isinstance(value, str):
        return value
    raise NotSupportedError(type(value).__name__)


# -------------------------------------------------------------------------------------------------- writing

TYPES = {"int32": "INT", "int64": "BIGINT", "double": "DOUBLE", "string": "STRING", "binary": "BINARY"}


def encode(spark: Spark, request: dict[str, Any]) -> dict[str, Any]:
    """A file that Spark writes, and behind its rows and indexes the index of one column."""
    declared, rows = request["rows"]["columns"], request["rows"]["rows"]
    names = [column["name"] for column in declared]
    if request["column"] not in names or declared[names.index(request["column"])]["type"] != "string":
        raise RefusedError("there is no such column of text")
    schema = ", ".join(
        f"{quoted(column['name'])} {TYPES[column['type']]}{'' if column['nullable'] else ' NOT NULL'}"
        for column in declared
    )
    values = [tuple(python_value(value) for value in row) for row in rows]
    payload = index_of({row[names.index(request["column"])] for row in values})
    folder = f"{request['output']}.spark"
    try:
        frame = spark.session.createDataFrame(values, schema)
        frame.coalesce(1).write.parquet(f"file://{folder}")
        (part,) = (name for name in os.listdir(folder) if name.startswith("part-"))
        with open(f"{folder}/{part}", "rb") as file:
            data = file.read()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    with open(f"{request['output']}.tmp", "wb") as file:
        file.write(with_index(spark, data, payload))
    os.replace(f"{request['output']}.tmp", request["output"])
    return {"answer": "accept"}


def index_of(found: set[str | None]) -> bytes:
    """The values, one a line, in an order in which no reader loses one: the empty one first, one with a carriage return last."""
    values = sorted(
        (value for value in found if value is not None), key=lambda value: (value.endswith("\r"), value)
    )
    if any("\n" in value for value in values):
        raise RefusedError("a value holds a line feed")
    if values == [""]:
        raise RefusedError("the index of one empty value is that of no value")
    if any(value.endswith("\r") for value in values[:-1]) or values[-1:] == [""]:
        raise RefusedError("more than one value ends in a carriage return")
    return "\n".join(values).encode()


def with_index(spark: Spark, data: bytes, payload: bytes) -> bytes:
    """The file with an index where its footer began, and with the key in a footer that Spark's Parquet library writes."""
    java, length = spark.java, int.from_bytes(data[-8:-4], "little")
    start = len(data) - 8 - length
    thrift = java.org.apache.parquet.format
    footer = thrift.Util.readFileMetaData(java.java.io.ByteArrayInputStream(data[start:-8]))
    pair = thrift.KeyValue("distinct_index_offset")
    pair.setValue(str(start))
    footer.addToKey_value_metadata(pair)
    sink = java.java.io.ByteArrayOutputStream()
    thrift.Util.writeFileMetaData(footer, sink)
    written = bytes(sink.toByteArray())
    blob = b"IDX1" + len(payload).to_bytes(8, "little") + payload
    return data[:start] + blob + written + len(written).to_bytes(4, "little") + data[-4:]


OPERATIONS = {"scan": scan, "encode": encode}

if __name__ == "__main__":
    main()
