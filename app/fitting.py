"""Words for settings that a card could not hold: figures about time would else show what nobody can run."""
from __future__ import annotations

import model

from .words import count, tokens


def too_many(m: model.Machine, users: int, context: int) -> str:
    """A clause in brackets where the card's memory holds fewer than `users` conversations of `context` tokens, else ""."""
    fit = model.kv_memory(m, users=users, context=context).users_fit
    if fit >= users:
        return ""
    held = f"only {count(fit, 'conversation')}" if fit else "no conversation"
    return f" (This card's memory would hold {held} of {tokens(context)}.)"
