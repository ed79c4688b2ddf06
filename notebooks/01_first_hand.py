# %% [markdown]
# # A first hand of Scala 40, move by move
#
# For card players who want to see how the engine speaks about the game, and for researchers who have never played it.
# One hand of two players under the federation's rules (`fisca`), with a drawing wherever something new happens:
# opening, taking from the pozzo, swapping a joker, attaching, closing. It takes eleven turns.
#
# Cards are a rank and a suit (`Td` the ten of diamonds), `*` is a joker, `*Qc` a joker that stands for the queen of
# clubs. Every move below is checked: a move that the rules forbid raises an error that says why.

# %%
import numpy as np

import agents
from experiments.notebooks.estimates import shares_of
from experiments.notebooks.hands import played_out
from experiments.notebooks.show import COLOURS, GREY, bars, figure, finding, full_or_small, say
from scala40_env import Game, IllegalMove, Record, Rules

game = Game(Rules.fisca(num_players=2), seed=7)
game.view(seat=0)

# %% [markdown]
# This is what seat 0 sees: its own thirteen cards, the back of the others, the stock and one card face up, the first
# of the *pozzo* (the discard pile). The aim is to get rid of all cards by laying *runs* (three or more of a suit in
# sequence) and *sets* (three or four of a rank, all of different suits). Whoever is left with cards is charged for
# them: face value, ten for court cards, 11 for an ace, 25 for a joker. At 101 points a player is out of the match.
#
# A turn is: draw, lay what you like (and may), discard one card. The first hurdle is *opening*: the first melds that a
# player lays have to be worth 40 points together. Seat 0 holds two jokers, which is rich. But it may not take from the
# pozzo before it has opened:

# %%
say(f"Legal moves: `{game.legal_moves()}`")
try:
    game.play("pozzo")
except IllegalMove as error:
    say(f"`pozzo` is refused: *{error.reason}*")

# %% [markdown]
# So it draws: the six of spades. What may it do now?

# %%
game.play("stock")
say(f"{len(game.legal_moves())} legal moves: `{', '.join(game.legal_moves())}`")

# %% [markdown]
# It could open at once. Nine of diamonds, nine of clubs and a joker are 27 points, queen and king of spades with a
# joker as ace are 31. The engine offers these melds because it has looked ahead: 40 points can be reached. Where
# neither 40 points are in reach nor a turn that lays the whole hand, no meld is offered at all. And no joker may be
# thrown by a player who has not opened.
#
# Seat 0 waits. Both jokers would lie in the open, where whoever holds the right card may take them. It holds the three
# of spades twice; two equal cards never go into one meld, so one of them is dead weight and goes first.

# %%
game.play("discard 3s")
game.view(seat=1)

# %% [markdown]
# ## Opening
# Seat 1 draws the six of spades, and that is enough: ten, jack and a joker as queen of clubs are 30 points, 5-6-7 of
# spades are 18. A joker counts as the card that it stands for, and it has to say which one.

# %%
game.play("stock; meld Tc Jc *Qc; meld 5s 6s 7s; discard 8h")
game

# %% [markdown]
# (The drawing of the game itself shows all cards. Only you and the arbiter see that; an agent is given a view.)
#
# Three turns later seat 0 opens too: three nines, one of them a joker (27), and jack, queen, king of spades (30). The
# other joker stays in its hand.

# %%
game.play("stock; discard Qh")
game.play("stock; discard 4h")
game.play("stock; meld 9h *9d 9c; meld Js Qs Ks; discard 2d")
game.view(seat=1)

# %% [markdown]
# ## The pozzo
# Who has opened may take the card that was just thrown, but only to lay it at once. Seat 1 holds `Ad` and `3d`, and
# the two of diamonds is what it lacks. Seat 0 could not know: neither card had been seen.

# %%
game.play("pozzo; meld Ad 2d 3d; discard Ah")
game.view(seat=0)

# %% [markdown]
# ## A joker changes hands
# The joker among the nines stands for the nine of diamonds, and seat 0 holds that card. It puts it in the joker's
# place, and has to use the joker again in this very turn: here as the seven of spades, between a six and an eight.

# %%
game.play("stock; swap 9d 3")
say(f"Owed now: {game.position()['this_turn']['recovered_jokers']} joker. What can be done: `{game.legal_moves()}`")
game.play("meld 6s *7s 8s; discard Jd")
game.view(seat=1)

# %% [markdown]
# The legal moves look ahead here too: no discard is offered as long as the joker is owed. And seat 1 has the seven of
# spades, so the same joker moves on at once.

# %%
game.play("stock; swap 7s 6; meld 7h 8h *9h; discard 3c")
game.play("pozzo; meld 3c *4c 5c; discard 7d")
game.view(seat=0)

# %% [markdown]
# ## Closing
# The three of clubs was another gift from the pozzo, and the second joker went down with it. Both have a single card
# left now. Whoever draws something that fits on the table lays it and *closes* with the last card as discard. Seat 1
# draws the six of diamonds, which fits nowhere:

# %%
game.play("stock; discard 6d")
game.play("stock; attach Ts 4 low; discard 3s")
game

# %%
outcome = game.outcome
say(
    f"Seat {outcome.winner} closed ({outcome.closing}) in turn {game.turns_played}. "
    f"Points charged, by seat: {', '.join(map(str, outcome.hand_points))}."
)

# %% [markdown]
# The ten of spades made the run longer (*attaching*), and the second three of spades, dead weight since the first
# turn, became the last discard. Seat 1 is charged 3 points for its one card, a cheap defeat.
#
# ## Who was ahead, and when?
# Was this luck? After every turn, take what seat 0 sees, deal the cards that it does not see at random 300 times, and
# let the agent `expert` play both seats of all these hands to their ends. The share that seat 0 wins is its chance, as
# far as it could know. The bars are 95% intervals for 300 deals (Wilson's).

# %%
DEALS = full_or_small(300, 10)
expert, again, wins, texts = agents.make("expert"), Game(game.rules, seed=7), [], ["dealt"]
for moves in ["", *game.record().hands[0].moves[:-1]]:
    if moves:
        again.play(moves)
        texts.append(moves)
    seen = again.view(seat=0).position()
    redeals = [Game.from_position({**seen, "seed": number}) for number in range(DEALS)]
    wins.append(int((played_out(redeals, expert)["winner"] == 0).sum()))
chance = shares_of(wins, [DEALS] * len(wins))
axes = figure("chance of seat 0 to win the hand, % (as far as it can know)", size=(8.4, 5.2))
bars(axes, [text if len(text) < 46 else f"{text[:44]} ..." for text in texts], chance, 100, ".0f", color=COLOURS[0])
axes.set_yticks(axes.get_yticks(), [f"{at}  {label.get_text()}" for at, label in enumerate(axes.get_yticklabels())])
axes.axvline(50, color=GREY, linestyle="--", linewidth=1)
axes.set_xlim(0, 100)
swings = np.sort(np.abs(np.diff(chance.value)).argsort()[-2:]) + 1
told = " and ".join(
    f"turn {turn} (from {100 * chance.value[turn - 1]:.0f}% to {100 * chance.value[turn]:.0f}%)" for turn in swings
)
finding(axes, f"Seat 0 began with {100 * chance.value[0]:.0f}%; the two largest swings came with {told}")

# %% [markdown]
# Turn 8 was the joker moving on, which left seat 1 with one card. Turn 10 was no merit of seat 0: seat 1 drew a card
# that fits nowhere. So luck, mostly.
#
# The numbers hold between two players like `expert`, and under an even deal of the hidden cards, which is not quite
# what hidden cards are like ([notebook 6](06_hidden_information.ipynb)).
#
# ## What is left of it
# A game writes itself down, and the record replays with nothing but itself.

# %%
record = game.record(["anna", "bruno"])
for number, moves in enumerate(record.hands[0].moves, 1):
    print(f"{number:2}  {moves}")
assert Record.from_json(record.to_json()).check() == game
