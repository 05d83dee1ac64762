"""Screens of what a table says of a data file: what recognises a file that is as its table says, so that the rules look at others alone."""
