"""What a process can be asked to measure."""
