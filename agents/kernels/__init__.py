"""The scripted agents in Numba: what cards are worth to a hand, how each agent chooses, the loop that plays them."""
