"""Running: test a driver with every case of a run, and judge its answers.

Contents: the runner, and the scans that it derives from each case.
"""
