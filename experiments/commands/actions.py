"""``scala40 actions``: the table of actions."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from experiments.console import BadUsage, Exit, new_table, print_json, print_table
from scala40_env.rules.moves import (
    ATTACH_HIGH,
    ATTACH_LOW,
    BLOCKS,
    JOKER_HIGH,
    JOKER_LOW,
    NUM_ACTIONS,
    NUM_ACTIONS_EXTENDED,
    ActionBlock,
    describe_action,
    format_action,
    slot_of,
)


@dataclass(frozen=True)
class ActionsSettings:
    """Print the table of actions: every move as a number, the same under all rules."""

    all: bool = False
    """Print every action on a line of its own, not only the blocks."""
    json: bool = False
    """Print one object; with --all it holds every action."""
    markdown: bool = False
    """Print the page docs/action-table.md."""


def run(settings: ActionsSettings) -> int:
    """Print the table. Raises `BadUsage` for flags that exclude each other."""
    if settings.markdown and (settings.json or settings.all):
        raise BadUsage("--markdown stands alone")
    if settings.json:
        print_json(_as_json(settings.all))
    elif settings.markdown:
        print(as_markdown())
    elif settings.all:
        sys.stdout.writelines(f"{number:4d}  {text:<24}  {meaning}\n" for number, text, meaning in all_actions())
    else:
        _print_blocks()
    return Exit.OK


def all_actions() -> Iterator[tuple[int, str, str]]:
    """Number, notation and meaning of every action; what depends on the table is in capitals."""
    for action in range(NUM_ACTIONS_EXTENDED):
        yield action, _notation(action), describe_action(action)


_ON_MELD = {
    ATTACH_LOW: "attach CARD {} low",
    ATTACH_HIGH: "attach CARD {} high",
    JOKER_LOW: "attach *CARD {} low",
    JOKER_HIGH: "attach *CARD {} high",
}


def _notation(action: int) -> str:
    on_meld = slot_of(action)
    if on_meld is None:
        return format_action(action, ())
    slot, what = on_meld
    return _ON_MELD.get(what, "swap CARD {}").format(slot + 1)


def _size(block: ActionBlock) -> int:
    return block.last - block.first + 1


def _numbers(block: ActionBlock) -> str:
    return str(block.first) if _size(block) == 1 else f"{block.first} - {block.last}"


def _sizes_text() -> str:
    return (
        f"{NUM_ACTIONS} actions (0 to {NUM_ACTIONS - 1}); rules with two or more jokers in a meld, or with buying, "
        f"have {NUM_ACTIONS_EXTENDED}"
    )


_COLUMNS = ("actions", "how many", "meaning", "notation")


def _print_blocks() -> None:
    table = new_table(_COLUMNS, right=_COLUMNS[:2], wrap=_COLUMNS[2:])
    for block in BLOCKS:
        table.add_row(_numbers(block), str(_size(block)), block.meaning, block.notation)
    print(f"{_sizes_text()}\n")
    print_table(table)


def _as_json(every: bool) -> dict[str, Any]:
    blocks = [{**block._asdict(), "count": _size(block)} for block in BLOCKS]
    page: dict[str, Any] = {"num_actions": NUM_ACTIONS, "num_actions_extended": NUM_ACTIONS_EXTENDED, "blocks": blocks}
    if every:
        page["actions"] = [{"action": n, "notation": text, "meaning": meaning} for n, text, meaning in all_actions()]
    return page


def as_markdown() -> str:
    """The page of the documentation."""
    rows = [f"| {_numbers(b)} | {_size(b)} | {b.meaning} | {_code(b.notation)} |" for b in BLOCKS]
    return "\n".join((_MARKDOWN.format(sizes=_sizes_text()), *rows))


def _code(notation: str) -> str:
    return ", ".join(f"`{move}`" for move in notation.split("; "))


_MARKDOWN = """\
# The table of actions

Every move is one number, and the numbers mean the same under all rules, so that what was learnt under one variant can
go on under another. {sizes}.

The blocks are dense arrays over suits (s h d c) and ranks, so that a policy can compute their logits by convolution:
discards as (4, 13) and the joker, runs as (4 suits, 12 lowest ranks, 4), sets as (13 ranks, 4 triples of suits, 4).
The last axis of both is: no joker, or a joker in the first, second or third place. The triples are shd, shc, sdc, hdc.
Each of the 36 melds that fit on the table has five numbers in a row. Longer combinations are laid as three cards and
then attached to, one by one.

`scala40 actions --all` prints every single action; this page is what `scala40 actions --markdown` prints.

| actions | how many | meaning | notation |
|---|---|---|---|"""
