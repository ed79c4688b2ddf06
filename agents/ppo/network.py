"""The network: one set of weights for all four suits and all fourteen ranks, and heads shaped like the actions.

The game looks the same when suits change places and nearly so when ranks move up by one, so a network that sees cards
as a grid of 4 suits by 14 ranks has to learn each thing once and not fifty times. Cells are convolved along their
suit, told the mean of the cells of their rank in all suits, and a vector of global numbers; that vector learns from the
mean of all cells in turn. The logits of discards, runs and sets lie on the grid as well, and those of melds on the
table are read off at the card that the meld would take.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from agents.base import AgentError
from agents.ppo.layout import MISSING_SUIT, SUITS_OF_TRIPLE, InputLayout
from scala40_env.rules.cards import NUM_RANKS, NUM_SUITS
from scala40_env.rules.melds import NUM_POSITIONS
from scala40_env.rules.moves import (
    LATER_SWAPS,
    MAX_MELDS,
    NUM_ACTIONS,
    NUM_ACTIONS_EXTENDED,
    ONE_JOKER_FORMS,
    SLOT_ACTIONS,
    TWO_JOKER_FORMS,
)

__all__ = ["SIZES", "CardNetwork", "HiddenCritic", "NetworkSize", "Trunk", "size_of"]

_CELLS = NUM_SUITS * NUM_POSITIONS
#: Kernel of the first convolution, and of the others, along the ranks.
_FIRST, _NEXT = 5, 3

#: What the head for single cells says of each: discard it; attach it low, high, as a joker low, high, swap it in;
#: a set without this suit, the same with a joker, the joker in this suit; with two jokers a set without this suit,
#: and with this suit as the only natural card.
_DISCARD, _SLOTS, _SET, _SET_JOKER, _JOKER_SUIT, _SET_TWO, _NATURAL_SUIT = 0, 1, 6, 7, 8, 9, 10
_CELL_HEADS = 11
#: What the head for the hand as a whole says: stock, pozzo, discard a joker, buy, pass.
_STOCK, _JOKER, _BUY = slice(0, 2), slice(2, 3), slice(3, 5)
_WHOLE_HEADS = 5
#: Jokers of a hand are divided by the most there are, as in an observation.
_JOKER_SCALE = 0.25


@dataclass(frozen=True)
class NetworkSize:
    """How large a network is: channels of a cell, residual blocks, numbers of the global vector."""

    channels: int
    blocks: int
    numbers: int

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= 1024:
                raise ValueError(f"network size: {name} = {value!r}: allowed is an integer from 1 to 1024")


SIZES = {
    "small": NetworkSize(32, 4, 64),
    "medium": NetworkSize(48, 5, 96),
    "large": NetworkSize(96, 8, 192),
}
"""Sizes by name: `small` for CPUs, `large` for GPUs."""


def size_of(size: str | NetworkSize) -> NetworkSize:
    """A size, or the size of a name. Raises `AgentError` for a name that there is not."""
    if isinstance(size, NetworkSize):
        return size
    if size not in SIZES:
        raise AgentError(f"network size {size!r}: allowed are {', '.join(SIZES)}")
    return SIZES[size]


class _Block(nn.Module):
    """One step of the trunk: cells learn from their neighbours, their rank, and the global vector, and it from them."""

    def __init__(self, size: NetworkSize) -> None:
        super().__init__()
        c, g = size.channels, size.numbers
        self.along = nn.Conv2d(c, c, (1, _NEXT), padding=(0, _NEXT // 2))
        self.across = nn.Conv2d(c, c, 1, bias=False)
        self.told = nn.Linear(g, c, bias=False)
        self.numbers = nn.Linear(c + g, g)

    def forward(self, cells: Tensor, ranks: Tensor, numbers: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        shared = self.across(ranks).add_(self.told(numbers)[:, :, None, None])
        # in place: on CPUs the time goes into memory
        cells = self.along(cells).add_(cells).add_(shared).relu_()
        ranks = cells.mean(2, keepdim=True)
        learnt = self.numbers(torch.cat((_mean(ranks), numbers), 1))
        return cells, ranks, learnt.add_(numbers).relu_()


def _mean(ranks: Tensor) -> Tensor:
    """The mean of all cells from those of the ranks: (batch, channels, 1, 14) to (batch, channels)."""
    return ranks.mean(3)[:, :, 0]


class Trunk(nn.Module):
    """From an observation to a vector for every cell and one for the whole.

    Args:
        layout: of the observations.
        size: of the network.
        with_hidden: for a critic that sees all cards: what the other seats hold comes in too.

    Call with observations (batch, `layout.size`), any dtype, and for that critic what the others hold: two planes
    of each other seat, then their jokers. Gives (batch, channels, 4, 14) and a summary of it all,
    (batch, channels + numbers).
    """

    scales: Tensor

    def __init__(self, layout: InputLayout, size: NetworkSize, with_hidden: bool = False) -> None:
        super().__init__()
        self.layout = layout
        others = (layout.num_players - 1) * with_hidden
        self.hidden_planes, planes = 2 * others, layout.planes + 2 * others
        self.first = nn.Conv2d(planes, size.channels, (1, _FIRST), padding=(0, _FIRST // 2))
        self.across = nn.Conv2d(planes, size.channels, 1, bias=False)
        self.ranks = nn.Parameter(torch.zeros(1, size.channels, 1, NUM_POSITIONS))
        self.scalars = nn.Linear(layout.num_scalars + others, size.numbers)
        self.told = nn.Linear(size.numbers, size.channels, bias=False)
        self.blocks = nn.ModuleList(_Block(size) for _ in range(size.blocks))
        self.register_buffer("scales", torch.tensor(layout.scales), persistent=False)

    def forward(self, observations: Tensor, hidden: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """The vectors of the cells, and the summary."""
        planes, scalars = observations[:, : self.layout.planes * _CELLS], self._numbers(observations)
        extra = 0 if hidden is None else self.hidden_planes
        if hidden is not None:
            planes = torch.cat((planes, hidden[:, : self.hidden_planes * _CELLS]), 1)
            scalars = torch.cat((scalars, hidden[:, self.hidden_planes * _CELLS :].float() * _JOKER_SCALE), 1)
        planes = planes.float().view(-1, self.layout.planes + extra, NUM_SUITS, NUM_POSITIONS)
        planes = planes.contiguous(memory_format=torch.channels_last)
        numbers = torch.relu(self.scalars(scalars))
        shared = self.across(planes.mean(2, keepdim=True)) + self.ranks + self.told(numbers)[:, :, None, None]
        cells = self.first(planes).add_(shared).relu_()
        ranks = cells.mean(2, keepdim=True)
        for block in self.blocks:
            cells, ranks, numbers = block(cells, ranks, numbers)
        return cells, torch.cat((_mean(ranks), numbers), 1)

    def _numbers(self, observations: Tensor) -> Tensor:
        return torch.cat([observations[:, part] for part in self.layout.scalars], 1).float() * self.scales


class _Heads(nn.Module):
    """From the vectors of the trunk to the logits of all actions, in the order of the table."""

    places: Tensor
    slot_numbers: Tensor
    missing: Tensor
    suits: Tensor

    def __init__(self, layout: InputLayout, size: NetworkSize, num_actions: int) -> None:
        super().__init__()
        self.layout = layout
        self.extended = num_actions == NUM_ACTIONS_EXTENDED
        forms = ONE_JOKER_FORMS + TWO_JOKER_FORMS * self.extended
        self.cells = nn.Conv2d(size.channels, _CELL_HEADS, 1)
        self.runs = nn.Conv2d(size.channels, forms, (1, 3))
        self.slots = nn.Linear(len(layout.slot_numbers), SLOT_ACTIONS)
        self.whole = nn.Linear(size.channels + size.numbers, _WHOLE_HEADS)
        swaps = LATER_SWAPS * self.extended
        self._constant("places", layout.slot_places[: SLOT_ACTIONS + swaps])
        self._constant("slot_numbers", layout.slot_numbers)
        self._constant("missing", MISSING_SUIT.tolist())
        self._constant("suits", SUITS_OF_TRIPLE.tolist())

    def _constant(self, name: str, values: object) -> None:
        self.register_buffer(name, torch.tensor(values), persistent=False)

    def forward(self, observations: Tensor, cells: Tensor, whole: Tensor) -> Tensor:
        each = self.cells(cells).contiguous()
        ranks = _by_rank(each)
        runs = self.runs(cells).permute(0, 2, 3, 1)
        slots = self._slot_logits(observations, each[:, _SLOTS : _SLOTS + SLOT_ACTIONS].flatten(2))
        alone = self.whole(whole)
        blocks = [
            *(alone[:, _STOCK], ranks[:, _DISCARD].flatten(1), alone[:, _JOKER]),
            *(slots[:, :, :SLOT_ACTIONS].flatten(1), runs[..., :ONE_JOKER_FORMS].flatten(1), self._sets(ranks)),
        ]
        if self.extended:
            blocks += [runs[..., ONE_JOKER_FORMS:].flatten(1), self._two_joker_sets(ranks)]
            blocks += [slots[:, :, SLOT_ACTIONS:].flatten(1), alone[:, _BUY]]
        return torch.cat(blocks, 1)

    def _slot_logits(self, observations: Tensor, cells: Tensor) -> Tensor:
        """(batch, melds, actions on one): what the cell says that the meld would take, and what the meld is."""
        slots = observations[:, self.layout.slots].view(-1, MAX_MELDS, self.layout.slot_width)
        places = slots[:, :, self.places].long().transpose(1, 2)
        later = len(self.places) - SLOT_ACTIONS
        said = torch.cat((cells, cells[:, -1:].expand(-1, later, -1)), 1) if later else cells
        nowhere = functional.pad(said, (1, 0))  # places count from 1; 0 is none
        numbers = self.slots(slots[:, :, self.slot_numbers].float())
        numbers = torch.cat((numbers, numbers[:, :, -1:].expand(-1, -1, later)), 2) if later else numbers
        return nowhere.gather(2, places).transpose(1, 2) + numbers

    def _sets(self, ranks: Tensor) -> Tensor:
        by_rank = ranks.transpose(2, 3)  # (batch, heads, 13, 4)
        without = by_rank[:, _SET : _SET_JOKER + 1, :, self.missing]
        jokers = by_rank[:, _JOKER_SUIT][:, :, self.suits]
        return torch.cat((without[:, 0, :, :, None], without[:, 1, :, :, None] + jokers), 3).flatten(1)

    def _two_joker_sets(self, ranks: Tensor) -> Tensor:
        by_rank = ranks.transpose(2, 3)
        return (by_rank[:, _SET_TWO][:, :, self.missing, None] + by_rank[:, _NATURAL_SUIT][:, :, self.suits]).flatten(1)


def _by_rank(cells: Tensor) -> Tensor:
    """(..., 4, 14) as (..., 4, 13): both ends of the ace are one card."""
    ace = cells[..., :1] + cells[..., NUM_RANKS:]
    return torch.cat((ace, cells[..., 1:NUM_RANKS]), -1)


class CardNetwork(nn.Module):
    """Policy and value of a seat.

    Args:
        layout: of the observations.
        num_actions: 635, or 1045 for rules that need them.
        size: see `SIZES`.

    Call with observations (batch, `layout.size`), int8 or float.
    """

    def __init__(self, layout: InputLayout, num_actions: int, size: NetworkSize) -> None:
        super().__init__()
        if num_actions not in (NUM_ACTIONS, NUM_ACTIONS_EXTENDED):
            raise ValueError(f"{num_actions} actions: allowed are {NUM_ACTIONS} and {NUM_ACTIONS_EXTENDED}")
        self.layout, self.num_actions, self.size = layout, num_actions, size
        self.trunk = Trunk(layout, size)
        self.heads = _Heads(layout, size, num_actions)
        self.value = ValueHead(size)
        self.apply(_begin)
        for head in (self.heads.cells, self.heads.runs, self.heads.whole, self.heads.slots, self.value.last):
            head.weight.data.mul_(0.1)  # begin near the uniform policy and the value zero
        # cells are read with the channels last: twice as fast on CPUs
        self.to(memory_format=torch.channels_last)

    def forward(self, observations: Tensor) -> tuple[Tensor, Tensor]:
        """Logits (batch, `num_actions`) and values (batch,)."""
        cells, whole = self.trunk(observations)
        return self.heads(observations, cells, whole), self.value(whole)

    def logits(self, observations: Tensor) -> Tensor:
        """Only the logits: (batch, `num_actions`)."""
        logits: Tensor = self.heads(observations, *self.trunk(observations))
        return logits

    def sharpen(self, factor: float) -> None:
        """Multiply all logits by a factor: moves that are drawn by chance are drawn less evenly, the likeliest stay."""
        with torch.no_grad():
            for weight in self.heads.parameters():
                weight.mul_(factor)

    def values(self, observations: Tensor) -> Tensor:
        """Only the values: (batch,)."""
        values: Tensor = self.value(self.trunk(observations)[1])
        return values


class HiddenCritic(nn.Module):
    """A value of a seat that knows what the others hold; only for learning, no player has it.

    Args:
        layout: of the observations.
        size: see `SIZES`.
    """

    def __init__(self, layout: InputLayout, size: NetworkSize) -> None:
        super().__init__()
        self.trunk, self.value = Trunk(layout, size, with_hidden=True), ValueHead(size)
        self.apply(_begin)
        self.value.last.weight.data.mul_(0.1)
        self.to(memory_format=torch.channels_last)

    def forward(self, observations: Tensor, hidden: Tensor) -> Tensor:
        """Values (batch,) of observations and what the others hold (as `Trunk` takes it)."""
        values: Tensor = self.value(self.trunk(observations, hidden)[1])
        return values


class ValueHead(nn.Module):
    """From the summary of the trunk to a value: (batch, channels + numbers) to (batch,)."""

    def __init__(self, size: NetworkSize) -> None:
        super().__init__()
        self.hidden = nn.Linear(size.channels + size.numbers, size.numbers)
        self.last = nn.Linear(size.numbers, 1)

    def forward(self, whole: Tensor) -> Tensor:
        value: Tensor = self.last(torch.relu(self.hidden(whole)))
        return value[:, 0]


def _begin(module: nn.Module) -> None:
    """Orthogonal weights, no biases; what a residual block adds begins small."""
    if isinstance(module, nn.Conv2d | nn.Linear):
        nn.init.orthogonal_(module.weight, float(np.sqrt(2)))
        if module.bias is not None:
            nn.init.zeros_(module.bias)
    if isinstance(module, _Block):
        module.along.weight.data.mul_(0.5)
        module.numbers.weight.data.mul_(0.5)
