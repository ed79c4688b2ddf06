"""The game in plain Python: cards, melds, rules, moves. Knows nothing of agents, rewards or learning."""
