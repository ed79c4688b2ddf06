# %% [markdown]
# # Reading a trained policy
#
# A network has learnt Scala 40. What has it learnt? This notebook plays it against `expert`, looks at thousands of its
# decisions, and asks what a curious opponent would ask:
#
# 1. When does it open: as soon as it can, or does it wait?
# 2. What does it throw?
# 3. Does it decide like `expert`?
# 4. It has a *value head*, which says what the rest of the hand will bring. Can that number be trusted?
#
# The one variable below says which network is read. `ppo` means the weights that come with the package;
# `ppo:runs/mine/best.npz` is one of your own (`scala40 train`), for two seats under `fisca`.

# %%
import os

import numpy as np
import torch

import agents
from agents import AgentError
from experiments.notebooks.cards import CHARGES, held_by
from experiments.notebooks.estimates import means_by, ratios_by
from experiments.notebooks.hands import DISCARDS, DRAWS, MELDS, before, play_hands
from experiments.notebooks.show import COLOURS, GREY, band, figure, finding, full_or_small, say, show_table
from scala40_env import Rules
from scala40_env.rules.cards import JOKER, RANKS
from scala40_env.rules.moves import DISCARD, POZZO, SLOTS
from scala40_env.rules.view import View

WEIGHTS = os.environ.get("SCALA40_NOTEBOOKS_PPO", "ppo")

RULES = Rules.fisca(num_players=2, match="single_hand")
try:
    policy = agents.make(WEIGHTS)
    checkpoint = policy.checkpoint_for(RULES)
except AgentError as error:
    raise AgentError(f"There is no network to read, so this notebook ends here: {error}") from None
torch.set_num_threads(1)
network, notes = checkpoint.network(), checkpoint.notes
policy.name = "ppo"
stages = notes.get("stages", [notes])  # what comes with the package was trained in stages, one after the other
settings = stages[-1].get("settings", {})
SCALE = float(settings.get("reward_scale", 1.0))  # its values are rewards times this
WON = {"zero_sum_points": 0, "points_and_win": 50}[settings.get("reward", "zero_sum_points")]  # beside the points


def learnt_from(stage):
    """What a stage of training learnt from, in words."""
    if "mean_of" in stage:
        return f"nothing more: its weights are the means of the last {stage['mean_of']} of these networks"
    given = stage.get("settings", {})
    parts = {f"decisions of `{given.get('teacher', 'nobody')}`": given.get("clone_decisions", 0)}
    parts["decisions of its own"] = stage.get("decisions", 0)
    return " and ".join(f"{count:,} {whose}" for whose, count in parts.items() if count)


say(
    f"The network has {sum(weight.size for weight in checkpoint.weights.values()):,} weights. It learnt from "
    + "; then from ".join(map(learnt_from, stages))
    + "."
)
if "reward_scale" not in settings:
    say("The file does not say by what rewards were multiplied; its values are read as if by 1.")

# %% [markdown]
# ## The hands
# Every deal is played from both seats against `expert`. The other two lines of the table are for comparison: `expert`
# and `greedy`, against `expert` as well, on the same deals. Intervals are 95%, by bootstrap over deals, each for its
# own number; what is read is this one network, and another seed would have learnt another.

# %%
DEALS = full_or_small(600, 12)
PLAYERS = {"ppo": policy, "expert": agents.make("expert"), "greedy": agents.make("greedy")}
played = {
    name: play_hands(RULES, [player, agents.make("expert")], DEALS, seed=5, lineup=(0, 1))
    for name, player in PLAYERS.items()
}


def of_player(values, found):
    """Of values by hand and seat those of the seat of the player that is looked at."""
    return np.take_along_axis(values, (found.seating == 0).argmax(axis=1)[:, None], 1)[:, 0]


rows = []
for name, found in played.items():
    own_seat = (found.seating == 0).argmax(axis=1)
    won, lead = (
        means_by(0, found.winner == own_seat, found.deal),
        means_by(0, of_player(found.rewards, found), found.deal),
    )
    did_open, lap = of_player(found.opened, found), of_player(found.opening_lap, found)
    opening = means_by(0, lap[did_open], found.deal[did_open])
    rows.append(
        (name, won.text(0, ".1f", 100), lead.text(0, "+.1f"), f"{100 * did_open.mean():.0f}", opening.text(0, ".2f"))
    )
show_table(("player", "hands won, %", "lead, points a hand", "opened, %", "lap of opening"), rows)

# %% [markdown]
# (`expert` against itself wins exactly half: both play alike from both seats of every deal.)

# %% [markdown]
# ## 1. When it opens
# Every turn in which a player has not opened, has drawn, and could open now (the legal moves say so: they look ahead,
# and offer a meld only if 40 points can be reached with it). How often does it?

# %%
LAST = 6


def chances(found):
    """The moments after the draw in which the player could open."""
    moments = before(found, ~DRAWS, agent=0)
    after_draw = np.array([DRAWS[found.logs[hand][at - 1]] for hand, at in zip(moments.hand, moments.at)], bool)
    moments = moments.take(after_draw & (moments.of_seat("opened") == 0))
    _, masks = moments.seen()
    return moments.take(masks[:, MELDS[: masks.shape[1]]].any(axis=1))


axes = figure("lap of the hand", "opens when it could, %", size=(7.6, 4.0))
taken = {}
for (name, found), colour in zip(played.items(), COLOURS):
    moments = chances(found)
    at_once = found.opening_lap[moments.hand, moments.seat] == moments.lap
    taken[name] = means_by(0, at_once, found.deal[moments.hand])
    by_lap = means_by(np.where(moments.lap <= LAST, moments.lap - 1, -1), at_once, found.deal[moments.hand], LAST)
    band(axes, np.arange(1, LAST + 1), by_lap, f"{name} ({taken[name].count[0]:,} chances)", colour, 100)
axes.set_ylim(0, 103)
finding(
    axes,
    f"ppo takes {100 * taken['ppo'].value[0]:.0f}% of its chances to open,"
    f" expert {100 * taken['expert'].value[0]:.0f}%, greedy {100 * taken['greedy'].value[0]:.0f}%",
    "lower right",
)

# %% [markdown]
# (A hand closed in hand counts as opened in its last lap.)
#
# ## 2. What it throws
# Before opening, in the first four laps: how often is a card of each rank thrown, compared with a player who throws
# one of its cards by lot? 1 is by lot, 2 twice as often, 0.5 half as often.

# %%
KINDS = [*RANKS[1:], "A"]  # the ace last: it is the dearest
RANK_OF = np.array([(card % 13 - 1) % 13 for card in range(JOKER)])


def thrown_by_rank(found):
    throws = before(found, DISCARDS, agent=0)
    throws = throws.take((throws.lap <= 4) & (throws.of_seat("opened") == 0) & (throws.action != DISCARD + JOKER))
    held = held_by(throws, throws.seat)[:, :JOKER].astype(float)
    by_lot = held / held.sum(axis=1, keepdims=True)
    done = np.zeros_like(held)
    done[np.arange(len(throws)), throws.action - DISCARD] = 1
    groups = np.broadcast_to(RANK_OF, held.shape)
    return ratios_by(groups.ravel(), done.ravel(), by_lot.ravel(), np.repeat(found.deal[throws.hand], JOKER), 13)


axes = figure("rank", "thrown, as a multiple of by lot", size=(7.6, 4.0))
throwing = {}
for (name, found), colour in zip(played.items(), COLOURS):
    throwing[name] = thrown_by_rank(found)
    band(axes, np.arange(13), throwing[name], name, colour)
axes.axhline(1, color=GREY, linestyle="--", linewidth=1)
axes.set_xticks(range(13), KINDS)
axes.set_ylim(bottom=0)
most, least = (KINDS[int(pick(throwing["ppo"].value))] for pick in (np.argmax, np.argmin))
alike = {name: np.corrcoef(throwing["ppo"].value, throwing[name].value)[0, 1] for name in ("expert", "greedy")}
finding(
    axes,
    f"Before opening ppo throws rank {most} most often for its share and {least} least; over the ranks its correlation"
    f" with expert is {alike['expert']:.2f}, with greedy {alike['greedy']:.2f}",
    "upper left",
)

# %% [markdown]
# ## 3. Does it decide like expert?
# A sample of its own decisions, those with two legal moves or more, with the question: what would `expert` have done
# here?

# %%
SAMPLE = full_or_small(3000, 60)
found = played["ppo"]
decisions = before(found, np.ones(len(DRAWS), bool), agent=0)
observations, masks = decisions.seen()
legal = masks.sum(axis=1, dtype=np.int64)
choices = np.flatnonzero(legal > 1)
picked = np.sort(np.random.default_rng(5).choice(choices, min(SAMPLE, len(choices)), replace=False))
asked, expert = decisions.take(picked), PLAYERS["expert"]
views = [View.of(asked.states[i : i + 1], int(asked.seat[i]), RULES) for i in range(len(asked))]
same = np.array([expert.act(view, np.random.default_rng(0)) for view in views]) == asked.action
KINDS_OF_MOVE = ("draw", "discard, before opening", "discard, after opening", "lay, attach, swap")
action, has_opened = asked.action, asked.of_seat("opened") != 0
kind = np.select([action <= POZZO, (action < SLOTS) & ~has_opened, action < SLOTS], [0, 1, 2], 3)
of_deal = found.deal[asked.hand]
agreeing = means_by(kind, same, of_deal, len(KINDS_OF_MOVE))
by_lot = means_by(kind, 1 / legal[picked], of_deal, len(KINDS_OF_MOVE))
show_table(
    ("kind of move", "decisions", "as expert would, %", "a move drawn by lot would agree in, %"),
    [
        (name, f"{agreeing.count[k]:,}", agreeing.text(k, ".1f", 100), f"{100 * by_lot.value[k]:.0f}")
        for k, name in enumerate(KINDS_OF_MOVE)
    ],
)

# %% [markdown]
# Differences are not errors: the order of moves within a turn often makes no difference at all, and two cards may be
# equally good to throw. But they tell where the two part.
#
# ## 4. What the value head thinks
# Before every discard the value head says what the hand will bring, as it was rewarded in training: the points charged
# to the other minus its own; and 50 more for a hand won or 50 fewer for one lost, if its reward was `points_and_win`.
# When the hand is over it can be held against what came. Predictions are put into ten groups of equal size.

# %%
throws = np.flatnonzero(DISCARDS[decisions.action] & (legal > 1))
with torch.inference_mode():
    told = torch.cat(
        [network.values(torch.from_numpy(part)) for part in np.array_split(observations[throws], 64)]
    ).numpy()
told = told.astype(float) / SCALE * 100
moments = decisions.take(throws)
winner = found.winner[moments.hand]
won = np.where(winner == moments.seat, 1, -1) * (winner >= 0)  # nobody closes a hand that is abandoned
came = found.rewards[moments.hand, moments.seat] + WON * won
unit = found.deal[moments.hand]

edges = np.quantile(told, np.linspace(0, 1, 11)[1:-1])
tenth = np.searchsorted(edges, told)
real, mean_told = means_by(tenth, came, unit, 10), means_by(tenth, told, unit, 10)
axes = figure("value head: points that the hand will bring", "points that it brought, mean", size=(6.4, 5.0))
ends = [min(mean_told.value.min(), real.low.min()) - 4, max(mean_told.value.max(), real.high.max()) + 4]
axes.plot(ends, ends, color=GREY, linestyle="--", linewidth=1, label="as told")
axes.errorbar(
    mean_told.value, real.value, real.errors, fmt="o", capsize=3, color=COLOURS[0], label="a tenth of the moments"
)
slope, offset = np.polyfit(told, came, 1)
error = means_by(0, came - told, unit)
finding(
    axes,
    f"Where it says 10 points more, {10 * slope:.1f} more come; on average the hand brings"
    f" {abs(error.value[0]):.1f} points {'more' if error.value[0] > 0 else 'fewer'} than it says",
    "upper left",
)
say(
    f"{len(told):,} moments of {len(np.unique(moments.hand)):,} hands. What came, minus what it said:"
    f" {error.text(0, '+.1f')} points."
)

# %% [markdown]
# It learnt its values against the opponents of its training, and is judged here against `expert`: a constant offset
# can come from that. A slope below 1 means that it is too sure of itself.
#
# ### Does it know more than a glance at the table?
# A yardstick: four numbers that anybody can see (points in one's own hand, cards in the other's, who has opened). Both
# that and the value head go through a straight line fitted to half of the deals, so that a constant offset does not
# count, and are judged on the other half by the share of the variance of what comes that they explain. A single hand is
# mostly luck, so nobody gets near 100%.

# %%
own = held_by(moments, moments.seat) @ CHARGES
glance = np.column_stack(
    [
        np.ones(len(own)),
        own,
        moments.of_seat("hand_n", 1 - moments.seat),
        moments.of_seat("opened"),
        moments.of_seat("opened", 1 - moments.seat),
    ]
).astype(float)
fitted = unit % 2 == 0


def through_a_line(numbers):
    """The best straight line through numbers on half of the deals, as guesses for all."""
    return numbers @ np.linalg.lstsq(numbers[fitted], came[fitted], rcond=None)[0]


guesses = {
    "value head": through_a_line(np.column_stack([np.ones(len(told)), told])),
    "a glance at the table": through_a_line(glance),
}
LAPS = ("1", "2", "3", "4", "5", "6", "7", "8 and later")
lap = np.where(fitted, -1, np.minimum(moments.lap, 8) - 1)
axes = figure("lap", "variance of the outcome explained, %", size=(7.6, 4.0))
explained, overall = {}, {}
for (name, guess), colour in zip(guesses.items(), COLOURS):
    judged = lap >= 0
    spread = (came - came[judged].mean()) ** 2
    explained[name] = ratios_by(lap, spread - (came - guess) ** 2, spread, unit, 8)
    overall[name] = ratios_by(np.where(judged, 0, -1), spread - (came - guess) ** 2, spread, unit, 1)
    band(axes, np.arange(8), explained[name], name, colour, 100)
axes.axhline(0, color=GREY, linewidth=1)
axes.set_xticks(range(8), LAPS)
finding(
    axes,
    f"The value head explains {100 * overall['value head'].value[0]:.0f}% of what a hand brings, a glance at the table"
    f" {100 * overall['a glance at the table'].value[0]:.0f}%",
    "upper left",
)
closer = (came - guesses["a glance at the table"]) ** 2 - (came - guesses["value head"]) ** 2
ahead = ratios_by(np.where(judged, 0, -1), closer, spread, unit, 1)
say(f"The value head explains {ahead.text(0, '+.1f', 100)} percentage points more, over {ahead.count[0]:,} moments.")

# %% [markdown]
# ### What is a joker worth?
# At the first discard of the hand, by the number of jokers that it holds then. What the value head thinks of them, and
# what they brought.

# %%
first = (moments.lap == 1) & (moments.of_seat("opened") == 0)
jokers = np.where(first, np.minimum(held_by(moments, moments.seat)[:, JOKER], 2), -1)
thought, brought = (means_by(jokers, values, unit, 3) for values in (told, came))
show_table(
    ("jokers at the first discard", "hands", "value head, points", "brought, points"),
    [
        (name, f"{thought.count[k]:,}", thought.text(k, "+.1f"), brought.text(k, "+.1f"))
        for k, name in enumerate(("none", "one", "two or more"))
    ],
)

# %% [markdown]
# (Hands that were opened in the first lap are left out here, so these are the jokers of those who could not.) The
# intervals of what came are wide: a hand's points scatter by dozens. That is the case for a value head: what it says
# about one position would take thousands of hands to measure.
