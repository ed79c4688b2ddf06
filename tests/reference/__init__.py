"""The twin: a slow, plain second implementation of Scala 40, written from the rules alone.

It shares no code with the package that it checks. Legality is brute force over the rest of the turn.
Start reading in `twin.py`; `turn.py` holds the moves, `finish.py` the search "can this turn still be ended?".
"""

from .positions import complete
from .twin import legal, play

__all__ = ["complete", "legal", "play"]
