"""Imports every private name of PyTorch that this package reads, by subject. No other module imports a private name.

PyTorch changes private names between versions. Modules of the seam give them public names, and one form for all
versions that the tests have run on.
"""
