"""Stands for unittest in the page: Panel's cache names the class of its mocks, and numpy's tests are not here."""
