"""What is fast, and by how much: ratios measured in one run on one machine."""
