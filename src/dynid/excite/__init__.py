"""Motions that excite all parameters of a robot within all its limits, with a certificate that they do.

`optimise.exciting_trajectory` finds one; `certificate.certify` judges any.
"""
