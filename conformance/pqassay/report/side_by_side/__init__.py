"""The results of several runs, side by side."""
