#!/usr/bin/env python
"""The same commands as `goclaw`, from a checkout."""

import sys

from goclaw_site.cli import main

if __name__ == "__main__":
    sys.exit(main())
