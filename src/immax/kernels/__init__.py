"""Kernel machines: the estimator, kernel values and their rows, and solvers of the dual."""
