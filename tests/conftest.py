"""What all tests share. No test is timed: a machine that others use as well is slow now and then."""
from hypothesis import settings

settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")
