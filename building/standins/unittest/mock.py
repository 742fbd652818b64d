"""See the package."""


class Mock:
    """A class that nothing is an instance of."""
