"""How kernels are compiled and cached, and what the records that they work on look like."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import numba
import numpy as np
import pytest

import scala40_env
from scala40_env import Rules
from scala40_env.kernels import bits, jit
from scala40_env.kernels import random as generator
from scala40_env.kernels.jit import JIT_DISABLED, entry, source_hash
from scala40_env.kernels.legality import legal_moves
from scala40_env.kernels.playout import play_random
from scala40_env.kernels.state import GAME
from scala40_env.rules.reading import new_games
from tests.walks import started

PACKAGE = Path(scala40_env.__file__).parent

# ---------------------------------------------------------------------------------------------------------------------
# The disk cache

TINY = """
from scala40_env.kernels.jit import entry
from scala40_env.kernels.random import below


@entry
def half(word):
    return below(word, 1)
"""


def run_tiny(folder: Path) -> int:
    """The answer of the tiny kernel in a fresh process, which compiles it or finds it in its cache."""
    code = "import scala40_env, tiny; assert scala40_env.__file__.startswith({!r}); print(tiny.half(1 << 33))"
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code.format(str(folder))],
        env={**os.environ, "PYTHONPATH": str(folder), "SCALA40_CACHE_DIR": str(folder / "cache")},
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )
    return int(done.stdout)


def machine_code(folder: Path) -> list[Path]:
    return sorted((folder / "cache").rglob("*.nbc"))


@pytest.mark.jit
def test_the_cache_notices_an_edit_in_another_file(tmp_path: Path) -> None:
    """Numba's own cache would not: it looks at the file of the function alone, not at those of what it calls."""
    shutil.copytree(PACKAGE, tmp_path / "scala40_env", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "tiny").mkdir()
    (tmp_path / "tiny" / "__init__.py").write_text(TINY)
    assert run_tiny(tmp_path) == 2
    code = machine_code(tmp_path)
    assert len(code) == 1
    assert run_tiny(tmp_path) == 2 and machine_code(tmp_path) == code
    source = tmp_path / "scala40_env" / "kernels" / "random.py"
    assert source.read_text().count("(word * bound) >> 32") == 1
    source.write_text(source.read_text().replace("(word * bound) >> 32", "(word * bound) >> 31"))
    assert run_tiny(tmp_path) == 4
    assert len(machine_code(tmp_path)) == 2


def test_the_hash_depends_on_all_sources(tmp_path: Path) -> None:
    hash_of: Callable[..., str] = source_hash.__wrapped__  # without its memory
    (tmp_path / "one.py").write_text("a = 1\n")
    (tmp_path / "two.py").write_text("b = 1\n")
    before = hash_of(tmp_path)
    assert hash_of(tmp_path) == before
    (tmp_path / "two.py").write_text("b = 2\n")
    after = hash_of(tmp_path)
    (tmp_path / "two.py").rename(tmp_path / "three.py")
    assert len({before, after, hash_of(tmp_path)}) == 3


def test_the_hash_depends_on_bounds_checks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hash_of: Callable[..., str] = source_hash.__wrapped__
    hashes = set()
    for setting in (0, 1):
        monkeypatch.setattr(numba.config, "BOUNDSCHECK", setting)
        hashes.add(hash_of(tmp_path))
    assert len(hashes) == 2


def test_the_cache_folder_can_be_moved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCALA40_CACHE_DIR", str(tmp_path))
    folder = jit.cache_folder(PACKAGE / "kernels" / "engine.py")
    assert folder.parent == tmp_path
    monkeypatch.delenv("SCALA40_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert jit.cache_folder(PACKAGE / "kernels" / "engine.py") == tmp_path / "xdg" / "scala40_env" / folder.name


# ---------------------------------------------------------------------------------------------------------------------
# Kernels


@pytest.mark.jit
def test_inner_kernels_refuse_to_be_called_from_python() -> None:
    with pytest.raises(TypeError, match="below is a kernel that only kernels can call; declare it with @entry"):
        generator.below(1, 2)
    with pytest.raises(TypeError, match="legal_moves is a kernel"):
        legal_moves(started(Rules(), 1)[0], np.empty(1045, np.int16))


@entry
def bits_of(words: np.ndarray, out: np.ndarray) -> None:
    """Count, lowest, highest bit and hash of every word (int64[n, 4])."""
    for at in range(len(words)):
        word = int(words[at])
        out[at, 0], out[at, 1] = bits.count_bits(word), bits.lowest_bit(word)
        out[at, 2], out[at, 3] = bits.highest_bit(word), bits.mix(word)


def test_single_instructions_are_what_their_python_twins_are() -> None:
    rng = random.Random(4)
    words = [1, 2, 3, 1 << 61, (1 << 62) - 1, *(rng.getrandbits(rng.randint(1, 62)) | 1 << 5 for _ in range(300))]
    out = np.zeros((len(words), 4), np.int64)
    bits_of(np.array(words, np.int64), out)
    twins = (bits.count_bits, bits.lowest_bit, bits.highest_bit, bits.mix)
    assert out.tolist() == [[twin(word) for twin in twins] for word in words]
    assert [word.bit_length() - 1 for word in words] == out[:, 2].tolist()


def test_the_hash_of_words_is_a_bijection() -> None:
    assert len({bits.mix(word) for word in range(20_000)}) == 20_000


# ---------------------------------------------------------------------------------------------------------------------
# Records


def test_a_record_has_no_gaps() -> None:
    """NumPy leaves garbage in padding, and equal games are equal bytes."""
    fields = GAME.fields
    assert fields is not None
    end = 0
    for name in GAME.names or ():
        kind, offset = fields[name][:2]
        assert offset == end, f"a gap before {name}"
        end += kind.itemsize
    assert end == GAME.itemsize and GAME.itemsize % GAME.alignment == 0


def test_a_record_stays_under_one_kib() -> None:
    assert GAME.itemsize < 1024


def test_a_rule_fits_its_field() -> None:
    """The largest and the smallest value that a rule takes come back out of the record."""
    for rules in (
        Rules(limit=1_000_000, opening_points=1_000_000, max_laps=1_000_000, unopened_points=1_000_000),
        Rules(in_hand_full_hand=1_000_000, in_hand_bonus=1_000_000, closing_bonus=1_000_000, reentries=1_000_000),
        Rules(joker_in_hand=1_000_000, dead_hand_reshuffles=1_000_000, match="hands", num_hands=1_000_000),
        Rules(reentries=None, num_jokers=0, hand_size=3, opening_points=0),
    ):
        game = new_games(rules, 2**64 - 1)[0]
        assert {name: int(game[name]) for name in rules.encode()} == rules.encode()
        assert int(game["seed"]) == 2**64 - 1


def allocated() -> int:
    """Blocks that compiled code holds at the moment."""
    from numba.core.runtime import rtsys

    stats = rtsys.get_allocation_stats()
    return int(stats.alloc - stats.free)


def play_all(games: np.ndarray) -> None:
    nothing, copies = np.empty(0, np.int8), np.empty(0, GAME)
    for at in range(len(games)):
        play_random(games, at, 40, at, nothing, copies)


def batch(size: int) -> np.ndarray:
    return np.concatenate([started(Rules.fisca(num_players=4, hand_size=5), seed) for seed in range(size)])


@pytest.mark.jit
@pytest.mark.parametrize("size", [10, 400])
def test_memory_of_a_batch_grows_with_its_records_and_nothing_else(size: int) -> None:
    """Playing leaves nothing behind, neither in Python nor in compiled code, however many games there are."""
    from numba.core.runtime import _nrt_python

    games = batch(size)
    assert games.nbytes == size * GAME.itemsize
    play_all(games)
    _nrt_python.memsys_enable_stats()
    blocks = allocated()
    tracemalloc.start()
    try:
        play_all(games)
        left = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert left < 8192
    assert allocated() == blocks


def test_the_jit_is_as_the_environment_says() -> None:
    assert bool(numba.config.DISABLE_JIT) == JIT_DISABLED
    assert isinstance(entry(batch), type(batch)) == JIT_DISABLED
