"""Commands of ``scala40`` that are no studies: they look at rules, actions, positions and records."""
