"""The specification of metadata attached to Parquet files, as code that can be run.

Contents: the declarative grammar of every on-disk structure, the rules with their
sentences, and the normative algorithms in plain Python.  Every byte offset, width, magic and enum value of
the project is here and only here. Parser, builder, trace, hexdump, field tables and documentation are derived
from it.

Excluded: code that judges a file (package ``pqassay``), code that writes one
(``pqassay_reference``), and all libraries except ``construct`` and the standard library.
"""

__version__ = "0.9.0"
