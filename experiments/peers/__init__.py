"""``scala40 bench peers``: this project's environments beside others of their kind, on one core in one run.

`cases` says what is measured and what has to hold, `bench` is the command, `workers` talks to the processes in which
each library plays in an environment of its own, `worker` is the program there, and `players` how it plays each.
"""
