"""What ends a build: one line for the reader, and the exit status that goes with it."""


class Fault(Exception):
    """A reason to stop, in one line. `status` is 1 where the environment is at fault (network, disk, a damaged cache)
    and 2 where the input is (a wrong option, a source that cannot be built)."""

    def __init__(self, line: str, status: int = 1) -> None:
        super().__init__(" ".join(line.split()))
        self.status = status
