"""Builds the site: fetch the parts, trim Python, take its snapshot, write `dist/`, serve and test it."""
