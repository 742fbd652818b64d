"""Stands for requests in the page: Panel imports it for its compiler, which no page calls."""


def __getattr__(name):
    raise AttributeError(f"requests.{name}: the page's Python has no requests")
