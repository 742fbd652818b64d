"""Words for settings that a card or a model could not hold: figures about time would else show what nobody can run."""
from __future__ import annotations

import model

from .words import count, tokens


def too_many(m: model.Machine, users: int, context: int, document: int = 0) -> str:
    """A clause in brackets where the card's memory holds fewer than `users` conversations of `context` tokens, or not a
    `document` of so many beside them; else ""."""
    memory = model.kv_memory(m, users=users, context=context)
    if memory.budget_bytes <= 0:
        return " (The weights and the overhead alone do not fit in this card’s memory.)"
    if memory.users_fit < users:
        held = f"only {count(memory.users_fit, 'conversation')}" if memory.users_fit else "no conversation"
        return f" (This card’s memory would hold {held} of {tokens(context)}.)"
    if document and memory.budget_bytes < users * memory.kv_bytes_each + model.kv_memory(m, context=document).kv_bytes_each:
        return " (This card’s memory would not hold the document beside these conversations.)"
    return ""


def too_long(m: model.Machine, context: int) -> str:
    """A clause in brackets where the model takes no conversation of `context` tokens, else ""."""
    return "" if context <= m.llm.max_context else f" ({m.llm.label} takes at most {tokens(m.llm.max_context)}.)"
