"""Logs: readers, their health, and clean samples from them."""
