"""A table in the terminal: the same match, shown as text, with moves typed in notation."""

from __future__ import annotations

import re
from collections.abc import Callable

from rich.console import Console
from rich.text import Text

from agents import AgentError
from experiments.console import Exit, new_table
from experiments.play.offers import reason_of
from experiments.play.players import Players, next_action
from experiments.play.shown import ending, said_hint, standing
from experiments.play.store import Store
from experiments.play.table import NotNow, Table
from experiments.play.words import Words, words_of
from scala40_env.rules.errors import Scala40Error

__all__ = ["play_in_terminal"]

_CARD = re.compile(r"(?<!\w)\*?(?:[A2-9TJQK][shdc]\b|\*)")
_STYLES = {"s": "bold", "h": "bold red", "d": "bold red", "c": "bold"}


class _Left(Exception):
    """The player has gone; the table is saved."""


def play_in_terminal(table: Table, store: Store, language: str) -> int:
    """Play a match to its end, or until the player goes; returns the exit code.

    All people of the table play at this terminal in turn, each seeing its own cards.
    """
    players = Players()
    try:
        _Terminal(table, store, players, words_of(language)).play()
    except (_Left, EOFError, KeyboardInterrupt):
        print(f"\n{words_of(language).say('terminal_left', id=table.setup.id)}")
    finally:
        players.close()
    return Exit.OK


class _Terminal:
    """One run of a table at a terminal."""

    def __init__(self, table: Table, store: Store, players: Players, words: Words) -> None:
        self.table, self.store, self.players, self.words = table, store, players, words
        self.console = Console(highlight=False, markup=False)
        self._shown = -1
        self._commands: dict[str, Callable[[str], None]] = {
            "?": self._help,
            "help": self._help,
            "moves": self._moves,
            "hint": self._hint,
            "undo": self._undo,
            "rules": self._rules,
            "score": self._score,
            "save": self._quit,
            "quit": self._quit,
        }

    def play(self) -> None:
        """Ask and answer until the match is over."""
        self._save()
        while not self.table.over:
            if self.table.on_move is None:
                self._end_of_hand()
            elif self.table.agent_on_move is None:
                self._answer(self._ask())
            else:
                self._play_agent()
        self._end_of_match()

    # -- moves ---------------------------------------------------------------------------------------------------

    def _ask(self) -> str:
        """Show the table to who is on move, if it has changed, and read what it types."""
        view = self.table.game.view(self.table.game.turn)
        if self._shown != self.table.version:
            self._print(f"\n{self._with_names(str(view))}")
            self._print("\n".join(standing(self.table, view, self.words)))
        self._shown = self.table.version
        return input(f"{self.table.setup.names[view.seat]}> ").strip()

    def _answer(self, text: str) -> None:
        word, _, rest = text.partition(" ")
        try:
            if word.lower() in self._commands:
                self._commands[word.lower()](rest.strip())
            elif text:
                self._play(text)
        except NotNow as error:
            self._print(self.words.say(error.key, name=error.name))
        except Scala40Error as error:
            self._print(self.words.reason(reason_of(error), self.table.setup.names))
        except AgentError as error:
            self._print(str(error))

    def _play(self, moves: str) -> None:
        try:
            self.table.play(self.table.game.turn, moves)
        finally:
            self._save()

    def _play_agent(self) -> None:
        """One move of the agent on move; one that fails is played for."""
        name = self.table.setup.names[self.table.game.turn]
        first = len(self.table.log)
        try:
            self.table.play_action(next_action(self.players, self.table))
        except AgentError as error:
            self._print(self.words.say("agent_failed", name=name, why=error.reason))
            self.table.play_default()
        for played in self.table.log[first:]:
            self._print(f"  {name}: {self.words.moves(played.move)}")
        self._save()

    def _save(self) -> None:
        self.store.save(self.table)
        if self.table.on_move is None:
            self.store.save_record(self.table)

    # -- between hands -------------------------------------------------------------------------------------------

    def _end_of_hand(self) -> None:
        self._show_ending()
        input(f"{self.words.say('terminal_next')} ")
        self.table.next_hand()
        self._save()

    def _end_of_match(self) -> None:
        self._show_ending()
        self._print(self.words.say("saved_in", file=self.store.record_file(self.table.setup.id)))

    def _show_ending(self) -> None:
        self._print("\n" + " ".join(ending(self.table, self.words)))
        self._score("")

    # -- commands ------------------------------------------------------------------------------------------------

    def _help(self, rest: str) -> None:
        self._print(self.words.say("terminal_help"))

    def _moves(self, rest: str) -> None:
        self._print("\n".join(self.table.game.view(self.table.game.turn).legal_moves()))

    def _hint(self, rest: str) -> None:
        seat = self.table.game.turn
        advisers = self.players.advisers(self.table.setup.rules)
        agent = rest or next(iter(advisers), "")
        if agent not in advisers:
            self._print(f"{self.words.say('no_hint')} {', '.join(advisers) or '-'}")
            return
        hint = self.players.hint(agent, self.table.game, seat, self.table.generator(seat))
        self._print(said_hint(hint, self.words))

    def _undo(self, rest: str) -> None:
        self.table.undo(self.table.game.turn)
        self._save()

    def _rules(self, rest: str) -> None:
        self._print("\n".join(f"- {rule}" for rule in self.words.rules(self.table.setup.rules)))

    def _score(self, rest: str) -> None:
        names = self.table.setup.names
        sheet = new_table(("", *names), right=names)
        for at, line in enumerate(self.table.sheet, 1):
            sheet.add_row(str(at), *(f"{n} ({total})" for n, total in zip(line.points, line.scores, strict=True)))
        self.console.print(sheet)

    def _quit(self, rest: str) -> None:
        raise _Left

    # -- printing ------------------------------------------------------------------------------------------------

    def _with_names(self, text: str) -> str:
        """A table as text with the names of its seats."""
        names = self.table.setup.names
        return re.sub(r"\bseat (\d)\b", lambda seat: f"seat {seat[1]} {names[int(seat[1])]}", text)

    def _print(self, text: str) -> None:
        """Print text with its cards in their colours."""
        shown = Text(text)
        for found in _CARD.finditer(text):
            shown.stylize(_STYLES.get(found[0][-1], "bold magenta"), *found.span())
        self.console.print(shown)
