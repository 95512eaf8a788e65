"""Experiments: plans, runs, tables."""
