"""Sampled signals: their clock, filters, derivatives, spectra and masks. Arrays have samples first."""
