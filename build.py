#!/usr/bin/env python3
"""Builds the site, serves it, tests it:  python3 build.py [serve|test|bench]"""

import sys
from pathlib import Path

from building.commands import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], Path(__file__).resolve().parent))
