"""``scala40 play``: a table in the browser, or in the terminal, for people and agents."""
