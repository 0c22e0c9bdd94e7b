"""From samples to numbers: the linear system, its reduction, and the estimators that work on it."""
