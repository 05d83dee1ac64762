"""``python -m pqassay_reference`` is the command ``pqassay-ref``."""

from pqassay_reference.cli.main import main

main()
