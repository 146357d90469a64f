"""`python -m graphmem.cli` is the command `graphmem`."""

import sys

from graphmem.cli import main

sys.exit(main())
