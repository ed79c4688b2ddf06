# %% [markdown]
# # Hidden information: what discards tell, and how safe a safe card is
#
# Thirteen cards lie face down on the other side of the table. What can be known about them? `expert` plays both seats
# of many hands under the federation's rules; afterwards all cards are turned up, and every moment of the hands is
# looked at from the seat that could not see them. Three questions:
#
# 1. What does a player hold who has not opened yet, compared with cards dealt at random?
# 2. What does a discard tell about the cards that were kept?
# 3. How often is a "safe" discard really of no use to the other?
#
# Everywhere the yardstick is the *even deal*: all cards that the observer has not seen, dealt at random. Search agents
# often assume it. Intervals are 95%, by bootstrap over whole hands, because moments of one hand hang together; each is
# for its own number.

# %%
import numpy as np

import agents
from experiments.notebooks.cards import CHARGES, could_use, dealt_anew, held_by, live_pairs, unseen_by
from experiments.notebooks.estimates import means_by, ratios_by
from experiments.notebooks.hands import DISCARDS, DRAWS, before, play_hands, takes
from experiments.notebooks.show import COLOURS, GREY, band, figure, finding, full_or_small, say, show_table
from scala40_env import Rules
from scala40_env.observation import schema_of
from scala40_env.rules.cards import JOKER
from scala40_env.rules.moves import DISCARD

RULES = Rules.fisca(num_players=2)
HANDS = full_or_small(2000, 60)
played = {
    name: play_hands(RULES, [agents.make(name)], HANDS if name == "expert" else 2 * HANDS, seed=6)
    for name in ("expert", "greedy")
}
hands = played["expert"]
say(f"{len(hands):,} hands of two experts; {len(played['greedy']):,} of two `greedy` for comparison.")

# %% [markdown]
# ## 1. Who has not opened
# At the beginning of every turn the player on move looks at the other, who has not opened yet. Is that hand better or
# worse than a random one? Two things pull in opposite directions. A player keeps what fits together and throws the
# rest. But who holds jokers and ready melds has opened and is no longer among those counted.

# %%
LAST = 8
turns = before(hands, DRAWS)
other = 1 - turns.seat
waiting = (turns.of_seat("opened", other) == 0) & (turns.lap <= LAST) & (turns.of_seat("hand_n", other) > 0)
turns, other = turns.take(waiting), other[waiting]
real, even = held_by(turns, other), dealt_anew(turns, turns.seat, other, seed=1)


def ready(cards):
    """Does a hand hold a meld of three without a joker?"""
    natural = cards.copy()
    natural[:, JOKER] = 0
    return (could_use(natural) & (natural[:, :JOKER] > 0)).any(axis=1)


FEATURES = {
    "jokers held": lambda cards: cards[:, JOKER],
    "hands with a ready meld, %": lambda cards: 100 * ready(cards),
    "doubles: two equal cards": lambda cards: (cards[:, :JOKER] == 2).sum(axis=1),
    "points in hand": lambda cards: cards @ CHARGES,
}
panels = figure("lap", size=(10.5, 3.6), columns=len(FEATURES), same_y=False)
at_lap = {}
for axes, (what, feature) in zip(panels, FEATURES.items()):
    for label, cards, colour in (("held", real, COLOURS[0]), ("even deal", even, COLOURS[1])):
        found = at_lap[what, label] = means_by(turns.lap - 1, feature(cards), turns.hand, LAST)
        band(axes, np.arange(1, LAST + 1), found, label, colour)
    axes.set_title(what, fontsize=10.5)
    axes.set_ylim(bottom=0)
jokers, melds, doubles = (
    [at_lap[what, label].value[2] for label in ("held", "even deal")] for what in list(FEATURES)[:3]
)
finding(
    panels,
    f"Unopened in lap 3: {doubles[0]:.2f} doubles where an even deal has {doubles[1]:.2f}, {jokers[0]:.2f} jokers"
    f" instead of {jokers[1]:.2f}, a ready meld in {melds[0]:.0f}% of hands instead of {melds[1]:.0f}%",
    "lower left",
)

# %%
counts = np.bincount(turns.lap, minlength=LAST + 1)[1:]
show_table(
    ("lap", *map(str, range(1, LAST + 1))),
    [("unopened hands looked at", *(f"{n:,}" for n in counts))],
)

# %% [markdown]
# So who deals the hidden cards evenly gets all of it wrong: it gives an unopened player doubles that were thrown long
# ago and jokers that it would have opened with, and takes away the melds that it has been collecting. A search that
# deals hidden cards has to reckon with that; [docs/agents.md](../docs/agents.md#search) tells what the one of this
# package does about it.
#
# ## 2. What a discard tells
# A player who has not opened throws a card in one of the first four laps. Which cards did it keep, compared with what
# the observer would expect of an even deal? A ratio of 1 means that the discard says nothing; 0.5, that such a card is
# held half as often.

# %%
RELATIONS = (
    "the same card",
    "same rank",
    "same suit, 1 away",
    "same suit, 2 away",
    "same suit, 3 to 5 away",
    "any other",
)
SUIT, RANK = np.divmod(np.arange(JOKER), 13)


def relation_of(thrown):
    """The relation of every natural card to a thrown one: int64[n, 52]."""
    gap = np.abs(RANK - RANK[thrown][:, None])
    distance = np.where((RANK[thrown][:, None] == 0) | (RANK == 0), np.minimum(gap, 13 - gap), gap)
    same_suit = SUIT[thrown][:, None] == SUIT
    relation = np.select([distance == 1, distance == 2, distance <= 5], [2, 3, 4], 5)
    relation = np.where(same_suit, relation, 5)
    relation[~same_suit & (distance == 0)] = 1
    relation[np.arange(len(thrown)), thrown] = 0
    return relation


def told_by_discards(found):
    throws = before(found, DISCARDS)
    throws = throws.take((throws.lap <= 4) & (throws.of_seat("opened") == 0) & (throws.action != DISCARD + JOKER))
    thrown, rows = throws.action - DISCARD, np.arange(len(throws))
    kept, unseen = held_by(throws, throws.seat), unseen_by(throws, 1 - throws.seat)
    for cards in (kept, unseen):
        cards[rows, thrown] -= 1
    expected = unseen * (kept.sum(axis=1) / unseen.sum(axis=1))[:, None]
    units = np.repeat(throws.hand, JOKER)
    return ratios_by(
        relation_of(thrown).ravel(), kept[:, :JOKER].ravel(), expected[:, :JOKER].ravel(), units, len(RELATIONS)
    )


told = {name: told_by_discards(found) for name, found in played.items()}
axes = figure("how often the card is held, as a multiple of an even deal", size=(7.6, 4.2))
for name, colour, shift in (("expert", COLOURS[0], -0.12), ("greedy", COLOURS[1], 0.12)):
    one = told[name]
    places = np.arange(len(RELATIONS)) + shift
    axes.errorbar(one.value, places, xerr=one.errors, fmt="o", capsize=3, color=colour, label=name)
axes.axvline(1, color=GREY, linestyle="--", linewidth=1)
axes.set_yticks(range(len(RELATIONS)), RELATIONS)
axes.invert_yaxis()
axes.set_xlim(left=0)
twin, rank, neighbour = told["expert"].value[:3]
finding(
    axes,
    f"Who throws a card keeps few of its rank ({rank:.2f} times an even deal) and few neighbours in suit"
    f" ({neighbour:.2f} times), but often its twin ({twin:.1f} times)",
    "lower left",
)

# %% [markdown]
# The twin is the exception: two equal cards never lie in one meld, so one of a double is the first to go, and its twin
# is still there. Rank and neighbours say the opposite: who keeps them keeps the card too. What a discard tells depends
# on who throws it, though; a bluffer could throw a card next to those that it wants.
#
# ## 3. Is a safe card safe?
# Before the other has opened, every discard is safe for the moment: the rules forbid it to take the card. Afterwards a
# card is of use to it if it attaches to a meld on the table (that everybody can see), or if it holds two cards, or one
# and a joker, that make a new meld with it. Card players count: if both sevens of hearts are gone, an eight of hearts
# is safer. So count for every card in the thrower's hand the *live pairs*: pairs of unseen cards that would make a
# meld with it.

# %%
throws = before(hands, DISCARDS)
other = 1 - throws.seat
facing = (throws.of_seat("opened", other) != 0) & (throws.of_seat("hand_n", other) > 0)
facing &= np.array(
    [at + 1 < len(hands.logs[hand]) for hand, at in zip(throws.hand, throws.at)]
)  # nobody takes the last
throws, other = throws.take(facing), other[facing]
own, pairs = held_by(throws, throws.seat)[:, :JOKER] > 0, live_pairs(unseen_by(throws, throws.seat))
useful, by_chance = could_use(held_by(throws, other)), could_use(dealt_anew(throws, throws.seat, other, seed=2))
parts = schema_of(RULES).split(throws.seen()[0])
open_to = (parts["attaches"][:, 0, :, :13] | parts["replaces"][:, 0, :, :13]).reshape(len(throws), JOKER) != 0
unit = np.broadcast_to(throws.hand[:, None], own.shape)
dull = own & ~open_to  # cards in the thrower's hand that fit nowhere on the table
MOST = 5
group = np.where(dull, np.minimum(pairs, MOST), -1)
held, dealt = (means_by(group.ravel(), values.ravel(), unit.ravel(), MOST + 1) for values in (useful, by_chance))

axes = figure(
    "live pairs: unseen pairs of cards that would make a meld with the card", "the other could use the card, %"
)
places = np.arange(MOST + 1)
axes.errorbar(
    places - 0.05, 100 * held.value, 100 * held.errors, fmt="o-", capsize=3, color=COLOURS[0], label="what it held"
)
axes.errorbar(
    places + 0.05,
    100 * dealt.value,
    100 * dealt.errors,
    fmt="s--",
    capsize=3,
    color=COLOURS[1],
    label="even deal of the unseen",
)
axes.set_xticks(places, [*map(str, places[:-1]), f"{MOST} or 6"])
axes.set_ylim(bottom=0)
finding(
    axes,
    f"The more pairs are still out, the more dangerous a card: of use in {100 * held.value[1]:.0f}% of cases with one,"
    f" in {100 * held.value[MOST]:.0f}% with five or six",
    "upper left",
)

# %%
show_table(
    ("live pairs", *map(str, places[:-1]), f"{MOST} or 6"),
    [
        ("cards looked at", *(f"{n:,}" for n in held.count)),
        ("of use, %", *(held.text(k, ".1f", 100) for k in places)),
        ("even deal, %", *(dealt.text(k, ".1f", 100) for k in places)),
    ],
)

# %% [markdown]
# (Where no case is of use a bootstrap has nothing to draw: read 0.0 for no live pair as "none of those looked at". An
# even deal finds some, for a joker and one card make a meld without a live pair.)
#
# ### The card that it threw itself
# The oldest advice: throw what the other has thrown. Cards of the thrower's hand again, sorted by what the other has
# discarded earlier in the hand. The first kind that fits counts.

# %%
threw = throws.of_seat("threw", other)
gone = np.stack([threw >> (16 * suit + rank) & 1 for suit in range(4) for rank in range(13)], axis=1).astype(bool)
by_suit = gone.reshape(-1, 4, 13)
same_rank = np.repeat(by_suit.any(axis=1)[:, None], 4, axis=1).reshape(gone.shape)
beside = (np.roll(by_suit, 1, axis=2) | np.roll(by_suit, -1, axis=2)).reshape(gone.shape)
KINDS = (
    "fits on the table",
    "the other threw the same card",
    "it threw one of its rank",
    "it threw the next in suit",
    "none of these",
)
kind = np.select([open_to, gone, same_rank, beside], range(4), 4)
kind = np.where(own, kind, -1)
use = useful | open_to
found = means_by(kind.ravel(), use.ravel(), unit.ravel(), len(KINDS))

# Of the cards that were really thrown: was it taken at once?
natural = throws.action != DISCARD + JOKER
thrown = np.where(natural, throws.action - DISCARD, 0)
rows = np.arange(len(throws))
taken = takes(hands, throws)
kind_thrown = np.where(natural, kind[rows, thrown], -1)
taken_by_kind = means_by(kind_thrown, taken, throws.hand, len(KINDS))

axes = figure("share of the cards, %", size=(7.6, 3.9))
places = np.arange(len(KINDS))
axes.errorbar(
    100 * found.value,
    places - 0.1,
    xerr=100 * found.errors,
    fmt="o",
    capsize=3,
    color=COLOURS[0],
    label="any card held: of use",
)
axes.errorbar(
    100 * taken_by_kind.value,
    places + 0.1,
    xerr=100 * taken_by_kind.errors,
    fmt="s",
    capsize=3,
    color=COLOURS[1],
    label="thrown by expert: taken at once",
)
axes.set_yticks(places, KINDS)
axes.invert_yaxis()
axes.set_xlim(0, 103)
finding(
    axes,
    f"The twin of a card that the other threw is of use to it in {100 * found.value[1]:.1f}% of cases, a card without"
    f" any such sign in {100 * found.value[4]:.1f}%",
    "lower right",
)

# %%
show_table(
    ("card of the thrower's hand", "looked at", "of use to the other, %", "thrown", "taken at once, %"),
    [
        (
            name,
            f"{found.count[k]:,}",
            found.text(k, ".1f", 100),
            f"{taken_by_kind.count[k]:,}",
            taken_by_kind.text(k, ".1f", 100),
        )
        for k, name in enumerate(KINDS)
    ],
)
chosen = means_by(0, use[rows, thrown][natural], throws.hand[natural])
lot = means_by(0, (use & own).sum(axis=1) / own.sum(axis=1), throws.hand)
say(
    f"Facing an opened player, `expert` throws a card that the other could use in {chosen.text(0, '.1f', 100)}% of its"
    f" discards; a card of its hand drawn by lot would be of use in {lot.text(0, '.1f', 100)}%. {chosen.count[0]:,}"
    " discards, those that closed the hand left out."
)
useful_thrown = natural & use[rows, thrown]
wanted = means_by(0, taken[useful_thrown], throws.hand[useful_thrown])
say(
    f"Of use is not the same as wanted: the other took {wanted.text(0, '.1f', 100)}% of the thrown cards that it could"
    " use. Who takes from the pozzo gives up a card from the stock."
)
uncounted, of_all = int((taken & natural & ~use[rows, thrown]).sum()), int((taken & natural).sum())
say(
    f"And *of use* is counted narrowly: {uncounted:,} of the {of_all:,} cards that were taken were of no use by this"
    " count. They went to melds that were laid or changed in the same turn, or beside a joker taken from the table."
)

# %% [markdown]
# ## What to take home
# * Hidden hands are not dealt evenly. Who has not opened holds fewer doubles, fewer jokers and more ready melds than
#   an even deal gives.
# * A discard says something about its rank and its neighbours, and nearly nothing about cards further away; how much
#   depends on the player.
# * Counting live pairs works: danger rises with their number. It is a matter of degree, and a joker in the other hand
#   spoils every certainty. The clearest danger is open to all: a card that fits on the table is always of use.
# * All of it is about `expert` and `greedy` with two seats. Human players sort, hold back and bluff in ways of their
#   own.
