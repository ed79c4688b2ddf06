"""One readable script a study; `scala40` runs them."""
