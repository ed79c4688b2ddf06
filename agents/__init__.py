"""Agents that play Scala 40, and the arena where they meet."""
