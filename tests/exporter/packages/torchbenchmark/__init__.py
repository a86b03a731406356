"""A stand-in for torchbenchmark, for tests."""
