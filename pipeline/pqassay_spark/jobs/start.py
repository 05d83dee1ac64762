"""Problems with starting Spark or its workers, each as one line before or instead of Spark's own message.

Spark reports some of these late, in a trace of a hundred lines, or not at all: another Spark in SPARK_HOME,
another Python in the workers, a missing library there.
"""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from pqassay_spec.base.installing import install

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LONGEST_REASON = 300
"""Most characters of Spark's own message in ours."""

PYTHON = f"{sys.version_info[0]}.{sys.version_info[1]}"


class SparkStartError(RuntimeError):
    """Spark cannot start here, or its workers cannot work. The message says what to do about it."""


def require_spark_home(version: str) -> None:
    """Make sure that the Spark in SPARK_HOME has this version; Python's Spark starts that one if the variable is set.

    Raises:
        SparkStartError: It has another version, or does not exist.
    """
    home = os.environ.get("SPARK_HOME")
    if not home:
        return
    if not Path(home, "bin", "spark-submit").is_file():
        raise SparkStartError(
            f"SPARK_HOME is {home}, which has no bin/spark-submit. Unset it to use the Spark of pyspark."
        )
    names = sorted(path.name for path in Path(home, "jars").glob("spark-core_*.jar"))
    installed = next((match[1] for name in names if (match := re.search(r"_[\d.]+-(.+)\.jar$", name))), None)
    if installed is not None and installed != version:
        raise SparkStartError(
            f"SPARK_HOME is {home}, which is Spark {installed}, but pyspark is {version}. Unset SPARK_HOME, or install "
            f"pyspark=={installed}."
        )


def require_master(master: str) -> None:
    """Make sure that Spark knows this kind of master.

    Raises:
        SparkStartError: Spark does not know it.
    """
    if not re.match(r"(local(\[[^\]]*\])?$|local-cluster\[|spark://.|k8s://.|yarn$)", master):
        raise SparkStartError(
            f"{master!r} is not a master of Spark. Those are local[2], spark://host:7077, yarn, k8s://host:443, and "
            "sc://host:15002 for Spark Connect."
        )


def spark_errors() -> tuple[type[Exception], ...]:
    """Errors of Spark: its own, and the Java errors that it passes on."""
    from py4j.protocol import Py4JError  # type: ignore[import-untyped] # noqa: PLC0415 - it has no types, and is loaded with pyspark
    from pyspark.errors import PySparkException  # noqa: PLC0415 - importing this module must not cost what pyspark costs

    return Py4JError, PySparkException


def require_arrow() -> None:
    """Make sure that the workers of this machine, which run this Python, have a pyarrow that Spark accepts.

    Raises:
        SparkStartError: It is missing or too old.
    """
    from pyspark.errors import PySparkException  # noqa: PLC0415 - importing this module must not cost what pyspark costs
    from pyspark.sql.pandas.utils import require_minimum_pyarrow_version  # noqa: PLC0415 - as above

    try:
        require_minimum_pyarrow_version()
    except (PySparkException, ImportError) as error:
        raise SparkStartError(f"{plain_words(str(error))}. Install it with: {install('spark')}") from None


def require_workers(spark: SparkSession) -> None:
    """Make sure that the executors of a cluster run a compatible Python with pyarrow; runs one small job.

    Raises:
        SparkStartError: They do not run one.
    """

    def libraries(_: int) -> str:
        import pyarrow as pa  # noqa: PLC0415 - in the worker

        return str(pa.__version__)

    try:
        spark.sparkContext.parallelize([0], 1).map(libraries).collect()
    except spark_errors() as error:
        raise SparkStartError(worker_trouble(str(error))) from None


def worker_trouble(words: str) -> str:
    """The problem with the workers, from Spark's message about a failed job.

    >>> worker_trouble("ModuleNotFoundError: No module named 'pyarrow'")
    'The executors lack the Python library pyarrow. Install it there, or let PYSPARK_PYTHON name a Python that has it.'
    """
    if lacking := re.search(r"No module named '([\w.]+)'", words):
        return (
            f"The executors lack the Python library {lacking[1]}. Install it there, or let PYSPARK_PYTHON name a Python "
            "that has it."
        )
    if "PYTHON_VERSION_MISMATCH" in words:
        versions = re.search(r"Python in worker has different version:? \(?'?(\d+)[.', ]+(\d+)", words)
        other = f"Python {versions[1]}.{versions[2]}" if versions else "another Python"
        return f"The executors run {other}, this program {PYTHON}. Let PYSPARK_PYTHON name a Python {PYTHON} there."
    if missing := re.search(r'Cannot run program "([^"]+)"', words):
        return f"The executors have no program {missing[1]}. Let PYSPARK_PYTHON name the Python {PYTHON} that they have."
    return f"The executors cannot run Python: {plain_words(words)}"


def start_trouble(text: str, master: str) -> str:
    """The problem with the start, from Spark's message."""
    if "stopped SparkContext" in text:
        return f"The master {master} does not answer, or ended the application at once."
    if "JAVA_GATEWAY_EXITED" in text:
        return (
            "Java ended before Spark had started; its output is above. Often memory is "
            "short, or this Java does not know an option in JAVA_TOOL_OPTIONS, "
            "SPARK_SUBMIT_OPTS or PYSPARK_SUBMIT_ARGS."
        )
    return f"Spark does not start: {plain_words(text)}"


def plain_words(message: str) -> str:
    """The cause in Spark's message: one line, without the trace of Java and without the class of the error."""
    causes = re.findall(
        r"^(?:Caused by: |: )?(?:[\w$]+\.)+[\w$]*(?:Exception|Error): (.*)$", message, re.MULTILINE
    )
    line = (
        causes[-1]
        if causes
        else next((line for line in message.splitlines() if line.strip()), "no reason given")
    )
    return line.strip()[:LONGEST_REASON].rstrip(".")
