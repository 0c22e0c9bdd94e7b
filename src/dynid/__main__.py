"""`python -m dynid`: the same as the command `dynid`."""

import sys

from dynid.cli import main

sys.exit(main())
