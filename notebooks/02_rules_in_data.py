# %% [markdown]
# # The rules and their variants, seen in data
#
# Scala 40 is played by many rules. How much do they matter? This notebook plays whole hands by the thousand under the
# five presets, and under the federation's rules (`fisca`) with one option changed at a time, and asks:
#
# 1. How long is a hand, and when do players open?
# 2. How often does somebody *close in hand*, laying everything in one turn?
# 3. Is it an advantage to play first?
# 4. Which single option changes the game most?
#
# **What these numbers are.** All seats are played by one agent: `expert`, and for comparison the simpler `greedy`. So
# they tell how the game goes when these two play it, not how it goes at your club. Where both agents move the same way
# when a rule changes, the rule is the likely reason; where they differ, it is the player.
#
# Intervals are 95%, by bootstrap over deals, each for its own number. There are dozens of them here, so a few miss the
# truth, and one that barely leaves out a value is no proof.

# %%
import numpy as np

import agents
from experiments.notebooks.estimates import means_by, shares_of
from experiments.notebooks.hands import play_hands
from experiments.notebooks.show import COLOURS, GREY, band, bars, figure, finding, full_or_small, say, show_table
from scala40_env import Rules
from scala40_env.kernels.state import CLOSED_IN_HAND, NONE

EXPERT, GREEDY = agents.make("expert"), agents.make("greedy")
PRESETS = ("fisca", "casa", "scala_quaranta", "tavolo", "megajogos")
DEALS = full_or_small(1500, 40)


def play(preset, seats, agent=EXPERT, deals=DEALS, **options):
    """Hands of one agent on all seats; the same seed, so that rules meet the same deals."""
    return play_hands(Rules.from_preset(preset, num_players=seats, **options), [agent], deals, seed=2)


hands = {(preset, seats): play(preset, seats) for preset in PRESETS for seats in (2, 4)}
say(f"{DEALS:,} hands for each of {len(PRESETS)} presets with two and with four seats.")

# %% [markdown]
# ## How long a hand is, and when players open


# %%
def by_hand(values, found):
    return means_by(0, values, found.deal)


def opened(found):
    return by_hand(found.opened.mean(axis=1), found)


def charged(found):
    """Points of a hand for each of those who did not close; the closer's bonus, where there is one, is left out."""
    return found.points.clip(min=0).sum(axis=1) / (found.rules.num_players - 1)


rows = []
for (preset, seats), found in hands.items():
    numbers = by_hand(found.laps, found), opened(found), by_hand(charged(found), found)
    texts = [each.text(0, form, scale) for each, form, scale in zip(numbers, (".2f", ".1f", ".1f"), (1, 100, 1))]
    rows.append((preset, str(seats), *texts, f"{np.percentile(found.laps, 95):.0f}", f"{(found.winner == NONE).sum()}"))
show_table(
    (
        "preset",
        "seats",
        "laps of a hand",
        "seats that opened, %",
        "points per loser",
        "laps, 95th percentile",
        "abandoned",
    ),
    rows,
)

# %%
four = {preset: hands[preset, 4] for preset in PRESETS}
last = 8
axes = figure("lap of the hand", "seats that have opened, %")
half = {}
for colour, (preset, found) in zip(COLOURS, four.items()):
    laps = np.arange(1, last + 1)
    by_then = (found.opening_lap[..., None] > 0) & (found.opening_lap[..., None] <= laps)
    shares = means_by(np.tile(np.arange(last), len(found)), by_then.mean(axis=1).ravel(), np.repeat(found.deal, last))
    band(axes, laps, shares, preset, colour, 100)
    half[preset] = int(np.searchsorted(shares.value, 0.5)) + 1
axes.set_ylim(0, 100)
slow = max(half, key=half.get)
usual = sorted(half[preset] for preset in PRESETS if preset != slow)
finding(
    axes,
    f"With four experts half of the seats have opened by lap {usual[0]} to {usual[-1]};"
    f" under {slow} only by lap {half[slow]}",
    "lower right",
)

# %% [markdown]
# The curves level off below 100% because a hand ends as soon as somebody closes: who has not opened by then never
# does.
#
# `scala_quaranta` is slow because no joker goes down before a player has laid 40 points without one.
#
# ## Closing in hand
# The most spectacular way to win: nothing laid before, and the whole hand goes down in one turn. Presets reward it
# very differently (`tavolo` and `megajogos` double the points, `scala_quaranta` takes 100 off the closer's total). Do
# players get to do it?

# %%
keys = list(hands)
in_hand = shares_of([(hands[key].closing == CLOSED_IN_HAND).sum() for key in keys], [len(hands[key]) for key in keys])
names = [f"{preset}, {seats} seats" for preset, seats in keys]
axes = figure("hands closed in hand, %", size=(7.6, 4.6))
bars(axes, names, in_hand, 100, ".2f", color=COLOURS[0])
axes.set_xlim(left=-0.2)
of_preset = {preset: max(in_hand.value[at] for at, key in enumerate(keys) if key[0] == preset) for preset in PRESETS}
ranked = sorted(of_preset, key=of_preset.get, reverse=True)
finding(
    axes,
    f"Closing in hand: up to {100 * of_preset[ranked[0]]:.1f}% of hands under {ranked[0]}, at most"
    f" {100 * of_preset[ranked[1]]:.1f}% under the other presets",
)

# %% [markdown]
# (Wilson's intervals: they also say something where no hand at all was closed in hand.) This is no strategy: `expert`
# does not know of premiums for closing in hand ([what it knows](../docs/agents/expert.md)). Where opening is easy, it
# has opened long before. Where no joker helps to open, some hands grow until they go down in one turn; the last
# section checks that this rule alone does it. A player who waits for the premium would see it more often.
#
# ## Who plays first
# The seat after the dealer plays first. Each place in the order of play should win 1/4 of the hands if the place did
# not matter.

# %%
more = full_or_small(6000, 60)
axes = figure("place in the order of play", "hands won, %")
won_first = {}
for agent, colour, shift in ((EXPERT, COLOURS[0], -0.06), (GREEDY, COLOURS[1], 0.06)):
    found = play("fisca", 4, agent, more)
    places = found.places.ravel()
    won = (found.winner[:, None] == np.arange(4)).ravel()
    shares = won_first[agent.name] = means_by(places, won, np.repeat(found.deal, 4))
    axes.errorbar(
        np.arange(4) + shift,
        100 * shares.value,
        100 * shares.errors,
        fmt="o",
        capsize=3,
        color=colour,
        label=agent.name,
    )
axes.axhline(25, color=GREY, linestyle="--", linewidth=1)
axes.set_xticks(range(4), ["first", "second", "third", "last"])
first, final = (100 * won_first["expert"].value[place] for place in (0, 3))
finding(
    axes,
    f"Among four experts who plays first wins {first:.1f}% of the hands, who plays last {final:.1f}%;"
    " fair would be 25%",
    "upper right",
)

# %%
rows = []
for (preset, seats), found in hands.items():
    place = found.places == 0
    won = (found.winner[:, None] == np.arange(seats)) & place
    share, points = by_hand(won.any(axis=1), found), by_hand((found.rewards * place).sum(axis=1), found)
    rows.append((preset, str(seats), share.text(0, ".1f", 100), f"{100 / seats:.0f}", points.text(0, "+.1f")))
show_table(("preset", "seats", "won by the first place, %", "fair, %", "its lead in points a hand"), rows)

# %% [markdown]
# The lead is what the others are charged on average, minus its own charge. These are the hands of the first section:
# for `fisca` with four seats a quarter of those in the plot, so the interval is twice as wide. Since the deal passes on
# after every hand, the advantage evens out in a match; whoever compares agents has to rotate the seats, as
# [notebook 3](03_benchmark_an_agent.ipynb) does.
#
# ## One option at a time
# Four seats under `fisca`, and the same deals again with one option changed (with fewer jokers it is another pack, and
# so the deals are others too). Both agents play all of them. Neither was taught the variants one by one: `expert` knows
# its rules, but its forecasts were fitted under some of them only (where pozzo cards may be kept it has others).

# %%
OPTIONS = {
    "opening at 30": {"opening_points": 30},
    "opening at 50": {"opening_points": 50},
    "no joker before 40": {"opening_jokers": "after_threshold"},
    "pozzo card may open": {"opening_from_pozzo": True},
    "pozzo card may be kept": {"pozzo_card": "keep"},
    "attaching cards may be thrown": {"attaching_discard": "allowed"},
    "two jokers in a meld": {"max_jokers_per_meld": 2},
    "recovered joker may be kept": {"recovered_joker": "keep"},
    "two jokers in the pack": {"num_jokers": 2},
    "no jokers": {"num_jokers": 0},
    "closing needs no discard": {"closing_discard": "optional"},
    "closing on the first lap": {"first_lap_closing": True},
}
MEASURES = {
    "laps of a hand": lambda found: found.laps,
    "seats that opened,\npercentage points": lambda found: 100 * found.opened.mean(axis=1),
    "points per loser": charged,
}
deals = {"expert": full_or_small(1000, 30), "greedy": full_or_small(3000, 60)}
played = {
    agent.name: [play("fisca", 4, agent, deals[agent.name], **options) for options in ({}, *OPTIONS.values())]
    for agent in (EXPERT, GREEDY)
}


# %%
def changes(name, measure):
    """How a measure moves with every option, on the same deals."""
    plain, *others = (measure(found) for found in played[name])
    differences = np.stack([other - plain for other in others])
    options, units = np.indices(differences.shape)
    return means_by(options.ravel(), differences.ravel(), units.ravel())


axes = figure(size=(9.6, 5.6), columns=3)
for each, (what, measure) in zip(axes, MEASURES.items()):
    for name, colour, shift in (("expert", COLOURS[0], -0.13), ("greedy", COLOURS[1], 0.13)):
        found = changes(name, measure)
        each.errorbar(
            found.value,
            np.arange(len(OPTIONS)) + shift,
            xerr=found.errors,
            fmt="o",
            markersize=4,
            capsize=2,
            color=colour,
            label=name,
        )
    each.axvline(0, color=GREY, linewidth=1)
    each.set_xlabel(f"change in {what}")
axes[0].set_yticks(range(len(OPTIONS)), OPTIONS)
axes[0].set_ylim(len(OPTIONS) - 0.5, -0.5)
laps = changes("expert", MEASURES["laps of a hand"]).value
order = np.argsort(-np.abs(laps))
listed = ", ".join(f"{list(OPTIONS)[at]} ({laps[at]:+.1f})" for at in order[:3])
finding(axes, f"What changes the length of a hand most, in laps with four experts: {listed}", "upper right")

# %%
hard = list(OPTIONS).index("no joker before 40")
plain, changed = (
    shares_of([(found.closing == CLOSED_IN_HAND).sum()], [len(found)])
    for found in (played["expert"][0], played["expert"][hard + 1])
)
say(
    "**Closing in hand** under `fisca` with the one option that no joker goes down before 40:"
    f" {changed.text(0, '.1f', 100)}% of the hands of four experts, without it {plain.text(0, '.1f', 100)}%. So the"
    " hard opening is enough; no premium was paid here, and `expert` would not have played for one."
)

# %%
both = [changes(name, MEASURES["laps of a hand"]) for name in ("expert", "greedy")]
clear = [
    option
    for at, option in enumerate(OPTIONS)
    if all(one.low[at] * one.high[at] > 0 for one in both) and both[0].value[at] * both[1].value[at] > 0
]
unclear = [option for option in OPTIONS if option not in clear]
sizes = [f"{option} ({both[0].value[at]:+.2f})" for at, option in enumerate(OPTIONS) if option in clear]
say(f"**Clear for both agents, in the same direction** (length of a hand; laps with `expert`): {', '.join(sizes)}.")
say(f"**Not clear, or not the same for both**: {', '.join(unclear)}.")
say(
    f"Sample: {deals['expert']:,} deals with `expert` and {deals['greedy']:,} with `greedy` for each option. An option"
    " that changes nothing looks clear with one agent in one case of twenty; with both, in the same direction, far more"
    " rarely. Clear is not large, though: the number of laps says how large."
)
