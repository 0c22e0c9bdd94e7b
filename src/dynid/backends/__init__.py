"""What turns a program into numbers: compiled for this machine, interpreted by NumPy, or written as C."""
