"""Readers of robot descriptions, one file format per module."""
