"""Checks of numbers that come from outside: each says in one line what is wrong and what would be right."""
import numpy as np


MOST = 1e15  # of anything: products of two such numbers are still finite


def amount(value, name, low=0, unit="tokens"):
    """value as a float array, at least low and at most 1e15 everywhere; ValueError otherwise."""
    if type(value) in (int, float) and low <= value <= MOST:  # what is asked most often, without numpy's four questions
        return np.asarray(value, dtype=float)
    try:
        array = np.asarray(value, dtype=float)
    except OverflowError:
        raise ValueError(f"{name} must be at most {MOST:g}") from None
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be a number, not {str(value)[:40]!r}") from None
    if not np.all(np.isfinite(array)):
        raise ValueError(f"{name} must be a finite number{f' of {unit}' if unit else ''}, not {value!r}")
    if np.any(array > MOST):
        raise ValueError(f"{name} must be at most {MOST:g}, not {array.max():g}")
    if np.any(array < low):
        raise ValueError(f"{name} must be {low} or more, not {array.min():g}")
    return array


def share(value, name):
    """value as a float above 0 and at most 1; ValueError otherwise."""
    number = float(amount(value, name, unit=""))
    if not 0 < number <= 1:
        raise ValueError(f"{name} must be above 0 and at most 1, such as 0.92, not {number:g}")
    return number


def plainly(array):
    """A Python number for an array without dimensions, the array otherwise."""
    array = np.asarray(array)
    return array.item() if array.ndim == 0 else array
