"""Agents that play Scala 40, and the arena where they meet.

>>> import agents
>>> agents.make("greedy").name
'greedy'

`make` takes the names of `names()`, and ``module:factory`` for an agent of your own; `register` adds a name.
"""

from agents.base import Agent, AgentError, KernelAgent, make, names, register

__all__ = ["Agent", "AgentError", "KernelAgent", "make", "names", "register"]
