"""The audit of a scan that takes nothing on trust: what statistics, indexes and filters claim, against the values."""
