"""A file for each library: how a random player plays its games. `experiments.peers.worker` runs them by their paths."""
