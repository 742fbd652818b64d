"""The essay: its prose, its figures, its parameters and the order of the page."""
