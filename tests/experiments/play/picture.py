"""The picture of docs/play.md: ``python -m tests.experiments.play.picture docs/images/play.png``."""

from __future__ import annotations

import sys
import tempfile
from contextlib import chdir
from pathlib import Path

from experiments.play.table import Place, Setup
from scala40_env import Game, Rules
from tests.experiments.play.served import serving
from tests.render.browser import launched

FOLDER = Path("runs/play")
"""The page names it, so it is the usual one."""

RULES = Rules.fisca(num_players=4)
PLACES = (
    Place("you", None, "picture"),
    Place("expert", "expert"),
    Place("search", "search"),
    Place("greedy", "greedy"),
)
POSITION = {
    "rules": RULES.to_dict(),
    "turn": 0,
    "phase": "play",
    "hands": ["5s 6s * Kd Kh 2d Qh 7h 8h Th 3d 4d", "?5", "?9", "?3"],
    "opened": [True, True, False, True],
    "table": ["9h Th Jh", "3s 3h 3c", "As 2s 3s *4s", "8d 9d Td Jd", "Ks Kh Kc"],
    "pozzo": "2h 4h",
    "scores": [12, 40, 77, 9],
}


def main(file: str) -> None:
    """Draw a table in mid-hand, two cards chosen."""
    target = Path(file).resolve()
    with tempfile.TemporaryDirectory() as folder, chdir(folder), launched() as browser, serving(FOLDER) as served:
        live = served.add(Setup("picture", RULES, 5, PLACES))
        live.table.game = Game.from_position(POSITION)
        page = browser.new_page(viewport={"width": 1000, "height": 640})
        page.goto(f"{served.address}/table/picture")
        page.wait_for_selector("#hint:enabled")  # who gives hints is told last
        page.click("#hand > :nth-child(6)")
        page.wait_for_timeout(500)
        page.screenshot(path=target)


if __name__ == "__main__":
    main(sys.argv[1])
