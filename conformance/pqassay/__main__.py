"""``python -m pqassay`` is the command ``pqassay``."""

from pqassay.cli import main

main()
