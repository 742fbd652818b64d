"""What ends a build: one line for the reader, and the exit status that goes with it."""


class Fault(Exception):
    """A reason to stop, in one line. `status` is 1 where the environment is at fault (network, disk, a damaged cache)
    and 2 where the input is (a wrong option, a source that cannot be built)."""

    def __init__(self, line: str, status: int = 1) -> None:
        super().__init__(" ".join(line.split()))
        self.status = status


def last_line(output: str) -> str:
    """The last line of a program's output that says something."""
    lines = [line.strip() for line in output.splitlines() if line.strip() and "WARNING" not in line]
    return lines[-1] if lines else "no reason given"
