"""What kernel machines are made of: kernel values, their rows, and solvers of the dual."""
