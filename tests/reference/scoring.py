"""The end of a hand: charges, totals, who is out, and whether the match is over."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from .cards import JOKER
from .options import Options
from .positions import Board, seats_out

Team = int  # without partnership the team is the seat


def end_hand(board: Board, closer: int | None, closing: str) -> None:
    """Score the hand just ended (`closing`: normal, in_hand or none) and put the result on the board."""
    rules, playing = board.options, board.seats
    charges = [_charge(board, seat, closer, closing) if seat in playing else 0 for seat in _all(rules)]
    bonus = 0
    if closer is not None:
        bonus = rules.closing_bonus + (rules.in_hand_bonus if closing == "in_hand" else 0)
    before = board.scores
    board.scores = _new_scores(rules, before, charges, closer, bonus, playing)
    points = list(charges)
    if closer is not None:
        points[closer] -= bonus
    _count_hand(board, closer, playing)
    _end_or_go_on(board, playing)
    board.new_turn()
    board.mover = None
    board.result |= {"hand_points": points, "closing": closing, "winner": closer}


def _all(rules: Options) -> range:
    return range(rules.num_players)


# --- points ------------------------------------------------------------------------------------------------------


def hand_value(rules: Options, hand: list[int]) -> int:
    """What the cards left in a hand cost."""
    return sum(_in_hand(rules, card, alone=len(hand) == 1) for card in hand)


def _in_hand(rules: Options, card: int, alone: bool) -> int:
    if card == JOKER:
        return rules.joker_points
    rank = card % 13 + 1
    if rank == 1:
        one = rules.ace_in_hand == "one" or (rules.ace_in_hand == "one_if_alone" and alone)
        return 1 if one else (14 if rules.ascending else 11)
    return rank if rules.ascending else min(rank, 10)


def _charge(board: Board, seat: int, closer: int | None, closing: str) -> int:
    """What one seat is charged, bonuses apart."""
    rules, hand = board.options, board.hands[seat]
    if seat == closer or (closer is None and rules.abandoned_hand == "void"):
        return 0
    in_hand = closing == "in_hand"
    if in_hand and rules.in_hand_full_hand is not None and len(hand) >= rules.hand_size:
        return rules.in_hand_full_hand
    if not board.opened[seat] and rules.unopened_points is not None:
        return rules.unopened_points
    return hand_value(rules, hand) * (rules.in_hand_multiplier if in_hand else 1)


def _new_scores(
    rules: Options, scores: list[int], charges: list[int], closer: int | None, bonus: int, playing: list[int]
) -> list[int]:
    """Totals after the hand; every seat shows the total of its team."""
    after = list(scores)
    worst_or_sum: Callable[[list[int]], int] = max if rules.team_score == "worst" else sum
    for team in range(rules.num_teams):
        members = [seat for seat in _members(rules, team) if seat in playing]
        if not members:
            continue
        total = scores[members[0]] + worst_or_sum([charges[seat] for seat in members])
        if closer in members:
            total -= bonus
        for seat in members:
            after[seat] = total
    return after


def _members(rules: Options, team: Team) -> list[int]:
    return [seat for seat in _all(rules) if seat % rules.num_teams == team]


def _count_hand(board: Board, closer: int | None, playing: list[int]) -> None:
    """Keep what the tie-breaks look at: hands ended unopened, hands won, hands played."""
    unopened = list(board.tally("unopened_hands"))
    won = list(board.tally("hands_won"))
    for seat in playing:
        # Who closes in hand has laid everything: that is not a hand ended unopened.
        unopened[seat] += not board.opened[seat] and seat != closer
    if closer is not None:
        won[closer] += 1
    board.tallies["unopened_hands"] = unopened
    board.tallies["hands_won"] = won
    board.tallies["reentries_used"] = list(board.tally("reentries_used"))
    board.tallies["hands_played"] = board.tally("hands_played") + 1
    if "reshuffles" in board.tallies:
        board.tallies["reshuffles"] = 0


# --- the match ---------------------------------------------------------------------------------------------------


@dataclass
class Verdict:
    """The teams still in, and whether the match is over (then they are its winners)."""

    still_in: list[Team]
    over: bool


def _end_or_go_on(board: Board, playing: list[int]) -> None:
    rules = board.options
    teams = sorted({seat % rules.num_teams for seat in playing})
    verdict = _VERDICTS[rules.match](board, teams)
    board.phase = "match_over" if verdict.over else "hand_over"
    eliminated = [seat for seat in _all(rules) if seat % rules.num_teams not in verdict.still_in]
    if verdict.over and rules.match != "elimination":
        eliminated = [seat for seat in _all(rules) if seat not in playing]  # losing on points is not being out
    if board.out is not None or eliminated != seats_out(rules, board.scores, None):
        board.out = eliminated
    board.result = {"eliminated": eliminated}
    if verdict.over:
        board.result["match_winners"] = [s for s in _all(rules) if s % rules.num_teams in verdict.still_in]


def _total(board: Board, team: Team) -> int:
    return board.scores[team]  # the first member of team t is seat t


def _best(board: Board, teams: list[Team]) -> list[Team]:
    """Lowest total, then fewer hands ended unopened, then more hands won: one team, or those still equal."""

    def rank(team: Team) -> tuple[int, int, int]:
        members = _members(board.options, team)
        unopened = sum(board.tally("unopened_hands")[seat] for seat in members)
        won = sum(board.tally("hands_won")[seat] for seat in members)
        return _total(board, team), unopened, -won

    best = min(rank(team) for team in teams)
    return [team for team in teams if rank(team) == best]


def _elimination(board: Board, teams: list[Team]) -> Verdict:
    """Who reaches the limit is out; the last one in wins; if nobody is left, the best of those who fell together."""
    _reenter(board, teams)
    left = [team for team in teams if _total(board, team) < board.options.limit]
    if len(left) > 1:
        return Verdict(left, False)
    if left:
        return Verdict(left, True)
    best = _best(board, teams)
    return Verdict(best, len(best) == 1)  # else one more hand between those still equal


def _reenter(board: Board, teams: list[Team]) -> None:
    """While two or more are still in, who reached the limit comes back with the worst total among them."""
    rules = board.options
    below = [team for team in teams if _total(board, team) < rules.limit]
    if len(below) < 2:
        return
    worst = max(_total(board, team) for team in below)
    used = board.tallies["reentries_used"]
    for team in teams:
        if team in below or (rules.reentries is not None and used[team] >= rules.reentries):
            continue
        for seat in _members(rules, team):
            board.scores[seat] = worst
            used[seat] += 1


def _by_total(board: Board, teams: list[Team]) -> Verdict:
    """Until somebody reaches the limit; then the lowest total wins."""
    if all(_total(board, team) < board.options.limit for team in teams):
        return Verdict(teams, False)
    best = _best(board, teams)
    return Verdict(best, len(best) == 1)


def _by_hands(board: Board, teams: list[Team]) -> Verdict:
    """A number of hands; then the lowest total wins."""
    num_hands = board.options.num_hands
    if num_hands is None or board.tally("hands_played") < num_hands:
        return Verdict(teams, False)
    best = _best(board, teams)
    return Verdict(best, len(best) == 1)


def _one_hand(board: Board, teams: list[Team]) -> Verdict:
    """One hand; those equal in everything share the win."""
    return Verdict(_best(board, teams), True)


_VERDICTS: dict[str, Callable[[Board, list[Team]], Verdict]] = {
    "elimination": _elimination,
    "total": _by_total,
    "hands": _by_hands,
    "single_hand": _one_hand,
}
