"""The entry point of the command ``pqassay-spark``, as a script or as ``python -m pqassay_spark``."""

from pqassay.__main__ import run


def main() -> None:
    """Run the command."""
    run("pqassay-spark", "pqassay_spark.cli.main")


if __name__ == "__main__":
    main()
