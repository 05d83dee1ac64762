"""Explanation of a scan: as text, as a waterfall of the rungs, and as a picture."""
