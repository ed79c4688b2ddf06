# %% [markdown]
# # Benchmarking a strategy of your own
#
# You have an idea how Scala 40 should be played. Is it any good? This notebook goes from fifteen lines of Python to a
# statement that holds: an agent, its place on the ladder (`random`, `greedy`, `expert`), a paired test, and how many
# deals it takes before a difference can be told from luck.
#
# The question of the day: **if you lay all that you can anyway, does it matter which card you throw?** Three agents
# lay whatever they can, and differ in nothing but the discard.
#
# ## Fifteen lines
# An agent gets a `View`, which has no hidden cards in it, and answers with one of the legal actions.

# %%
import numpy as np

import agents
from experiments.league.analysis import analyse, leads_by_deal
from experiments.league.tables import agents_table, p_text, pairs_table
from experiments.notebooks.hands import play_hands
from experiments.notebooks.show import COLOURS, GREY, figure, finding, full_or_small, say, show_league_table, show_table
from experiments.tournament import TournamentSettings, prepared
from scala40_env import Rules
from scala40_env.rules.cards import JOKER, parse_card
from scala40_env.rules.moves import DISCARD, SLOTS


class Layer(agents.Agent):
    """Takes from the pozzo when it may, lays all that it can, then throws a card that `worth` values least."""

    def act(self, view, rng):
        legal = view.legal_actions()
        draws = [action for action in legal if action < DISCARD]
        if draws:
            return max(draws)  # 1 is the pozzo, 0 the stock
        table = [action for action in legal if action >= SLOTS]
        if table:
            return max(table)  # new melds have the highest numbers
        cards = [action - DISCARD for action in legal]
        values = [self.worth(card, view) + 0.5 * rng.random() for card in cards]
        return DISCARD + cards[int(np.argmin(values))]


# %% [markdown]
# That is the whole agent but for `worth`, what a card in hand is worth keeping. Three answers to that: *any* throws by
# lot, *dearest* throws what would cost most if the hand were lost now, and *loneliest* throws the card with the fewest
# friends in hand: cards of its rank, or of its suit at most two ranks away.


# %%
class Anycard(Layer):
    name = "any"

    def worth(self, card, view):
        return 0


class Dearest(Layer):
    name = "dearest"

    def worth(self, card, view):
        rank = card % 13
        return 0 if card == JOKER else -(11 if rank == 0 else min(rank + 1, 10))


class Loneliest(Layer):
    name = "loneliest"

    def worth(self, card, view):
        if card == JOKER:
            return 9
        suit, rank = divmod(card, 13)
        held = {parse_card(text) for text in view.hand} - {card, JOKER}
        ranks = {rank} if rank else {0, 13}  # an ace is a friend of the two and of the king
        near = {13 * suit + (at + step) % 13 for at in ranks for step in (-2, -1, 1, 2) if 0 <= at + step <= 13}
        return len(held & near) + sum(other % 13 == rank for other in held)


for kind in (Anycard, Dearest, Loneliest):
    if kind.name not in agents.names():
        agents.register(kind.name, kind)

# %% [markdown]
# ## On the ladder
# `register` has given them names, so they can sit down at every table of the package. In a file `mine.py` the same
# agents play from the command line: `scala40 tournament random greedy expert mine:Loneliest --seats 2`.
#
# Everybody plays everybody, two at a table, each deal from both seats: the same cards for both, so luck with cards
# largely cancels out.

# %%
MINE = ("any", "dearest", "loneliest")
DEALS = full_or_small(200, 10)
settings = TournamentSettings(agents=(*MINE, "random", "greedy", "expert"), seats=2, deals=DEALS, json=True)
tournament = prepared(settings)
tournament.play()
analysis = analyse(tournament.tally.results)
show_league_table(agents_table(analysis))

# %%
rows = {row.name: row for row in analysis.agents}
order = sorted(rows, key=lambda name: -rows[name].win_share)
axes = figure("hands won against all others, % (each deal from both seats)")
for place, name in enumerate(order):
    low, high = rows[name].win_share_ci
    share, colour = rows[name].win_share, COLOURS[1] if name in MINE else COLOURS[0]
    axes.errorbar(
        100 * share, place, xerr=[[100 * (share - low)], [100 * (high - share)]], fmt="o", capsize=3, color=colour
    )
axes.axvline(50, color=GREY, linestyle="--", linewidth=1)
axes.set_yticks(range(len(order)), order)
axes.invert_yaxis()
best = max(MINE, key=lambda name: rows[name].win_share)
finding(
    axes,
    f"Of the three discards (orange) '{best}' wins most, {100 * rows[best].win_share:.0f}% of its hands;"
    " blue: the ladder",
)

# %% [markdown]
# ## Is it significant?
# A table of pairs: the *share* of the hands that one of the two won, and the *lead*, how many points a hand fewer it
# was charged, paired deal by deal. `p` is that of a paired t test, corrected by Holm's method for all pairs at once:
# with fifteen pairs of equal agents, at least one would fall below 0.05 in about every second tournament. The intervals
# are each pair's own, without such a correction.

# %%
show_league_table(pairs_table(analysis))

# %%
pairs = [row for row in analysis.pairs if {row.name, row.other} <= set(MINE)]
for row in pairs:
    verdict = "a difference beyond luck" if row.p_holm < 0.05 else "no difference that could be told from luck"
    say(
        f"**{row.name} against {row.other}**: {100 * row.share:.1f}% of the hands, {row.lead:+.2f} points a hand"
        f" ({row.lead_ci[0]:+.2f} to {row.lead_ci[1]:+.2f}), p {p_text(row.p_holm)} over {row.deals:,} deals:"
        f" {verdict}."
    )

# %% [markdown]
# ## What it buys to play every deal from both seats
# A single hand is mostly luck. Playing the same deal twice with seats changed takes some of the luck away: how much?
# If good cards decided everything, what one of the two gains from one seat it would lose from the other. Kernels are
# fast enough to measure it.

# %%
many = full_or_small(2000, 50)
found = play_hands(
    Rules.fisca(num_players=2), [agents.make("expert"), agents.make("greedy")], many, seed=3, lineup=(0, 1)
)
of_expert = np.take_along_axis(found.rewards, (found.seating == 0).argmax(axis=1)[:, None], 1).reshape(many, 2)
correlation = np.corrcoef(of_expert.T)[0, 1]
single, both = of_expert.std(ddof=1), of_expert.mean(axis=1).std(ddof=1)
say(
    f"`expert` against `greedy`, {many:,} deals from both seats. Its lead scatters by {single:.1f} points from hand to"
    f" hand, and by {both:.1f} from deal to deal when both seats are averaged; two hands of different deals would give"
    f" {single / np.sqrt(2):.1f}. The two hands of a deal are correlated by {correlation:+.2f}."
)
say(
    f"So a deal from both seats costs two hands and tells as much as {(single / both) ** 2:.1f} hands, each of another"
    " deal: much of the luck lies in the cards of the deal, and that part cancels out. What a seat is worth goes too."
)

# %% [markdown]
# ## How many deals does it take?
# What scatter is left decides how small a difference can be found. A rule of thumb for a paired test at the 5% level
# that finds a true lead *d* four times out of five: *n* = (2.8 s / d)² deals, where *s* is the standard deviation of
# the lead from deal to deal.

# %%
spreads, table = [], []
for pair in (("loneliest", "any"), ("loneliest", "dearest"), ("loneliest", "greedy"), ("expert", "greedy")):
    by_deal = leads_by_deal(tournament.tally.results, *pair)
    spreads.append(by_deal.std(ddof=1))
    needed = [f"{(2.8 * spreads[-1] / d) ** 2:,.0f}" for d in (1, 3, 10)]
    table.append((" against ".join(pair), f"{by_deal.mean():+.2f}", f"{spreads[-1]:.1f}", *needed))
show_table(("pair", "lead, points a hand", "s", "deals to find 1 point", "3 points", "10 points"), table)

# %%
s = np.median(spreads)
true = np.linspace(0.5, 6, 100)
axes = figure("true lead, points a hand", "deals needed (logarithmic)")
axes.plot(true, (2.8 * s / true) ** 2, color=COLOURS[0])
axes.axhline(DEALS, color=GREY, linestyle="--", linewidth=1)
axes.annotate(
    f"this tournament: {DEALS:,} deals", (6, DEALS), xytext=(0, 4), textcoords="offset points", ha="right", fontsize=9
)
axes.set_yscale("log")
smallest = 2.8 * s / np.sqrt(DEALS)
finding(
    axes,
    f"{DEALS:,} deals find a lead of {smallest:.1f} points four times out of five; a lead of one point takes"
    f" {(2.8 * s) ** 2:,.0f}",
)

# %% [markdown]
# ## What to take home
# * Name the number of deals before you look. Playing on until p falls below 0.05 finds a difference where there is
#   none.
# * Look at both figures. A win share says who closes more often, points say what the lost hands cost; they need not
#   agree, and in a match it is the points that put players out.
# * `greedy` and `expert` are kernels: a million hands between them are minutes. The agents above are Python, and much
#   slower; `--workers` spreads them over cores.
# * A difference is one between these agents at this table. Whoever beats `greedy` with two seats may lose to it with
#   four.
