"""What the notebooks share: hands by the thousand, cards counted, estimates with intervals, one style of plot."""
