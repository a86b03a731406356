"""A stand-in for torchvision, for tests: weights that are downloaded."""
