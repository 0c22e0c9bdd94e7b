"""Code for controllers: a robot with numbers as straight-line functions in C and other languages."""
