// Replaced by the suite reader.
