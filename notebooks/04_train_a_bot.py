# %% [markdown]
# # Training a bot, and watching it learn
#
# A network learns Scala 40 in about a minute of computing, in the two ways that `scala40 train` puts together: first
# it *clones* a teacher (`expert`), then *PPO* goes on from there by self-play. A second network gets PPO alone. Both
# are measured on the same deals against `greedy`, an agent that never changes.
#
# A minute is very little. The network is small (67,000 weights), and serious runs take millions of decisions, not tens
# of thousands. So the questions are modest: how fast does cloning get somewhere, does so little PPO help, and where
# does it get without a teacher?
#
# **One seed.** Every network here is trained once. The intervals below come from the deals on which it is measured:
# they say how strong *this* network is. Another seed gives another network; how far those lie apart is not measured.
#
# What follows uses the pieces of `experiments.training`; [docs/training.md](../docs/training.md) tells what each does,
# and the whole of it is one command: `scala40 train --seats 2 --preset fisca`.

# %%
import numpy as np

import agents
from agents.ppo.agent import PPOAgent
from agents.ppo.network import size_of
from experiments.notebooks.show import COLOURS, GREY, figure, finding, full_or_small, say, show_table
from experiments.training.cloning import Cloner, score_of
from experiments.training.evaluation import measure
from experiments.training.pool import Pool
from experiments.training.ppo import Coefficients, SelfPlayPPO
from experiments.training.runtime import prepare_torch
from experiments.training.teacher import TeacherStream
from scala40_env import Rules

prepare_torch(threads=1)  # the same numbers on every machine
RULES = Rules.fisca(num_players=2, match="single_hand")
SCALE = 4.0  # rewards are points / 100; times four they are of the size that networks like
EVALUATION_DEALS, FINAL_DEALS = full_or_small(150, 4), full_or_small(300, 4)
TO_CLONE, CLONE_STEP, BATCH = full_or_small(81_920, 4_096), full_or_small(16_384, 4_096), 512
UPDATES, ROLLOUT = full_or_small(4, 1), full_or_small(6_144, 512)


def new_learner():
    return SelfPlayPPO(
        RULES,
        size_of("small"),
        128,
        batch_size=1024,
        n_epochs=2,
        target_kl=0.02,
        reward_scale=SCALE,
        seed=0,
        device="cpu",
    )


def evaluated(learner, against="greedy", deals=EVALUATION_DEALS, seed=1):
    """The learner as it is now, always on the same deals, each from both seats."""
    return measure(PPOAgent.of(learner.network, RULES, "learner"), agents.make(against), RULES, deals, seed)


# %% [markdown]
# ## Cloning
# The teacher plays; at every decision the network is shown what the teacher saw and learns to do the same, and to
# foretell what the hand will bring. Nothing is stored: kernels make the decisions faster than the network learns from
# them. In 5% of the decisions any legal move is played, so that the teacher is seen getting out of trouble too.

# %%
learner = new_learner()
teacher = agents.make("expert")
stream = TeacherStream(RULES, teacher, noise=0.05, seed=0)
held_out = TeacherStream(RULES, teacher, seed=99).read(4096)  # hands that it never learns from
cloner = Cloner(learner.network, learner.games.actions, 2e-3, TO_CLONE // BATCH, value_scale=SCALE)


def looked_at(decisions):
    score = score_of(learner.network, held_out, learner.games.actions, SCALE)
    return decisions, score.agreement, evaluated(learner)


cloning = [looked_at(0)]
while cloner.step < cloner.steps:
    examples = stream.read(CLONE_STEP)
    for batch in examples.batches(BATCH, np.random.default_rng(cloner.step)):
        if cloner.step < cloner.steps:
            cloner.learn(batch)
    cloning.append(looked_at(cloner.step * BATCH))
rows = [
    (f"{decisions:,}", f"{100 * alike:.1f}", f"{100 * s.win_share:.1f}", f"{s.margin:+.1f}", f"{100 * s.opened:.0f}")
    for decisions, alike, s in cloning
]
show_table(
    ("decisions seen", "decides like `expert`, %", "won against `greedy`, %", "lead, points a hand", "opened, %"), rows
)
best = max(cloning, key=lambda look: look[2].win_share)
if best is not cloning[-1]:
    say(
        f"It decides more and more like `expert`, up to {100 * cloning[-1][1]:.1f}% of the decisions, but it won most"
        f" at {best[0]:,} decisions ({100 * best[2].win_share:.1f}% of {best[2].hands} hands), and"
        f" {100 * cloning[-1][2].win_share:.1f}% at the end. **Agreement is not strength.** Whether such a dip is the"
        " rule, one seed can't say; that a network should not be picked by its agreement, it can."
    )

# %% [markdown]
# ## PPO, with and without a teacher
# Now the learner plays: half of the hands against itself, half against `greedy` and `expert`. What a hand brings is
# its only reward. The divergence from the clone is held back a little (`anchor`), so that a value head that still errs
# does not ruin the policy. The second learner knows nothing at the start and has no anchor.


# %%
def trained(learner, anchor, start):
    """PPO for a while: the evaluations after every update."""
    pool = Pool(RULES, ("greedy", "expert"), 0, 0.5, SCALE)
    learner.set_anchor(learner.network.state_dict())
    learner.begin(pool.lineups())
    curve = [(start, evaluated(learner))]
    for _ in range(UPDATES):
        pool.note(learner.collect(ROLLOUT, pool.lineups(), {}))
        learner.update(Coefficients(learning_rate=3e-4, clip=0.2, entropy=0.003, value=0.5, anchor=anchor))
        curve.append((start + learner.num_timesteps, evaluated(learner)))
    return curve


with_teacher = trained(learner, anchor=0.1, start=cloner.step * BATCH)
beginner = new_learner()
without = trained(beginner, anchor=0.0, start=0)

# %%
axes = figure("decisions learnt from", "hands won against greedy, %", size=(7.6, 4.4))
curves = (
    ("cloning expert", [(decisions, s) for decisions, _, s in cloning], COLOURS[0]),
    ("then PPO", with_teacher, COLOURS[1]),
    ("PPO from nothing", without, COLOURS[2]),
)
for label, curve, colour in curves:
    places = np.array([decisions for decisions, _ in curve])
    share = 100 * np.array([s.win_share for _, s in curve])
    low, high = 100 * np.array([s.win_share_ci for _, s in curve]).T
    axes.plot(places, share, color=colour, marker="o", markersize=4, label=label)
    axes.fill_between(places, low, high, color=colour, alpha=0.18, linewidth=0)
axes.axhline(50, color=GREY, linestyle="--", linewidth=1)
axes.annotate("as good as greedy", (0, 50), xytext=(0, 4), textcoords="offset points", fontsize=9, color=GREY)
axes.set_ylim(0, 60)
axes.xaxis.set_major_formatter("{x:,.0f}")
finding(
    axes,
    f"One run each: {cloning[-1][0]:,} cloned decisions win {100 * cloning[-1][2].win_share:.0f}% against greedy,"
    f" {without[-1][0]:,} of PPO from nothing {100 * without[-1][1].win_share:.0f}%",
    "lower right",
)

# %% [markdown]
# The bands are 95% intervals by bootstrap over the deals. The same deals come up at every evaluation, so a step up or
# down owes less to luck than the width of the bands suggests; but the learner could be good at just these deals. So the
# last word is spoken on fresh ones:

# %%
rows, final = [], {}
for against in ("random", "greedy", "expert"):
    for name, one in (("cloned, then PPO", learner), ("PPO from nothing", beginner), ("untrained", new_learner())):
        s = final[name, against] = evaluated(one, against, FINAL_DEALS, seed=2)
        won = f"{100 * s.win_share:.1f} ({100 * s.win_share_ci[0]:.1f} to {100 * s.win_share_ci[1]:.1f})"
        lead = f"{s.margin:+.1f} ({s.margin_ci[0]:+.1f} to {s.margin_ci[1]:+.1f})"
        rows.append((name, against, won, lead, f"{100 * s.opened:.0f}", f"{s.opening_lap:.1f}"))
show_table(("learner", "against", "hands won, %", "lead, points a hand", "opened, %", "opens in lap"), rows)

# %%
before, after = with_teacher[0][1], with_teacher[-1][1]
overlap = before.win_share_ci[0] <= after.win_share_ci[1] and after.win_share_ci[0] <= before.win_share_ci[1]
so_little = with_teacher[-1][0] - with_teacher[0][0]
say(
    f"**What a minute gives.** Cloning goes from {100 * cloning[0][2].win_share:.0f}% to"
    f" {100 * cloning[-1][2].win_share:.0f}% of the hands against `greedy`. {so_little:,} decisions of PPO after that"
    f" move it from {100 * before.win_share:.1f}% to {100 * after.win_share:.1f}%:"
    + (
        " the intervals overlap, so nobody can say from this that it learnt anything."
        if overlap
        else " the intervals do not overlap, so the later network is the better one. Whether PPO would do as much with"
        " another seed, one run can't say."
    )
)
if before.win_share < best[2].win_share >= after.win_share_ci[0]:
    say(
        f"But the best clone on the way had won {100 * best[2].win_share:.1f}% already: perhaps PPO did no more than"
        " make good what the end of the cloning had lost."
    )
shares = {
    (name, against): f"{100 * final[name, against].win_share:.0f}%"
    for name in ("PPO from nothing", "untrained")
    for against in ("random", "greedy")
}
say(
    f"**Without a teacher** {without[-1][0]:,} decisions of PPO come to {shares['PPO from nothing', 'random']} against"
    f" `random` and {shares['PPO from nothing', 'greedy']} against `greedy`, on fresh deals. An untrained network wins"
    f" {shares['untrained', 'random']} and {shares['untrained', 'greedy']}: it is no random player, as it always makes"
    " the move that it likes best. Those are the numbers to beat."
)

# %% [markdown]
# One seed and a handful of updates make no study of learning algorithms: for that, repeat all of it with several seeds
# and compare the means. For runs that count, `scala40 train` has schedules, past selves as opponents, evaluation, and
# goes on where it was stopped; [notebook 5](05_read_a_policy.ipynb) reads what comes of one.
