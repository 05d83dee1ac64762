"""Running: every case of a run is put to the driver, and its answers are judged.

Contents: the runner, and the scans that it derives from each case.
"""
