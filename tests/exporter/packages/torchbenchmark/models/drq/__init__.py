raise RuntimeError("recorded observations are missing")
