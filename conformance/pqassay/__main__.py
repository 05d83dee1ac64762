"""``python -m pqassay`` is the command ``pqassay``."""

from pqassay.cli.main import main

main()
