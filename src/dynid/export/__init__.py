"""Identified numbers in the files of other programs."""
