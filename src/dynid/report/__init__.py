"""Reports: what was found and how far it can be trusted, as one HTML file that needs nothing else."""
