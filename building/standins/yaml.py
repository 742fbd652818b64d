"""Stands for PyYAML in the page: Bokeh imports it for configuration files and themes, which no page has."""


def __getattr__(name):
    raise AttributeError(f"yaml.{name}: the page's Python has no YAML")
