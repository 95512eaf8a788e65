"""What experiments and comparisons share: metrics, statistics, candidates, the environment."""
