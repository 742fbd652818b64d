"""python -m model: see model/cli.py."""
import os
import sys

from model.cli import main


def run():
    """main(), in UTF-8 wherever it is printed, and quiet when the reader of a pipe leaves early."""
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(encoding="utf-8", errors="replace")
    try:
        status = main()
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        status = 1
    return status


if __name__ == "__main__":
    sys.exit(run())
