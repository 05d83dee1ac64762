"""Screens: what recognises sound footers and page indexes at once, so that the plain rules look at suspicious ones alone."""
