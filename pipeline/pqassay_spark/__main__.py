"""``pqassay-spark`` and ``python -m pqassay_spark``, the old names of ``pqassay spark``. They work until 1.0."""

from pqassay.__main__ import pipeline as main

if __name__ == "__main__":
    main()
