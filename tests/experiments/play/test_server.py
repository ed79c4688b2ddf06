"""The server: pages, tables that are made and found again, and who may ask."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from experiments.play.players import Players
from experiments.play.store import Store
from experiments.play.table import Table
from experiments.play.words import LANGUAGES
from scala40_env import Rules
from scala40_env.rules.config import FIELDS, PRESETS
from tests.experiments.play.tables import PEOPLE, SMALL, played, setup_of
from tests.optional import library

clients, server = library("aiohttp.test_utils"), library("experiments.play.server")
TestClient, TestServer = clients.TestClient, clients.TestServer
Tables, application = server.Tables, server.application
SEED = 987654321987654321
DEFAULTS = {
    "rules": Rules().to_dict(),
    "seats": ["person", "greedy"],
    "clock": 0,
    "language": "en",
    "seed": "",
    "name": "you",
}
ASKED = {"rules": {"preset": "casa", "num_players": 2}, "seats": ["person", "greedy"], "clock": 0, "language": "it"}
ASKED |= {"seed": str(2**64 - 1), "name": "Anna"}


def at_server(folder: Path, script: Callable[[Any], Awaitable[None]]) -> None:
    """Run a script as a client of a server of the tables in a folder."""

    async def go() -> None:
        app = application(Tables(Store(folder), Players(), DEFAULTS), ("localhost",))
        async with TestClient(TestServer(app)) as client:
            await script(client)

    asyncio.run(go())


def save(folder: Path, table: Table) -> Table:
    store = Store(folder)
    store.save(table)
    store.save_record(table)
    return table


def after_hands(hands: int, **more: Any) -> Table:
    table = Table(setup_of(SMALL, **more))
    while len(table.sheet) < hands:
        played(table, 1)
    return table


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_start_page_has_every_choice(tmp_path: Path, language: str) -> None:
    async def script(client: Any) -> None:
        assert "<!DOCTYPE html>" in await (await client.get("/")).text()
        found = await (await client.get(f"/choices/{language}")).json()
        assert set(found["presets"]) == set(PRESETS) and "expert" in found["agents"]
        assert [field["name"] for field in found["fields"]] == list(FIELDS)

    at_server(tmp_path, script)


def test_a_table_is_made_and_opened(tmp_path: Path) -> None:
    async def script(client: Any) -> None:
        made = await (await client.post("/tables", data=json.dumps(ASKED))).json()
        ((name, link),) = made["seats"]
        page = await (await client.get(link)).text()
        assert name == "Anna" and 'lang="it"' in page and "s40-for-Kc" in page
        table = Store(tmp_path).load(made["id"])
        assert table.setup.seed == 2**64 - 1 and table.setup.rules == Rules.casa(num_players=2)
        listed = (await (await client.get("/choices/en")).json())["tables"]
        assert [(row["id"], row["seats"]) for row in listed] == [(made["id"], [["Anna", link]])]

    at_server(tmp_path, script)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"rules": {"preset": "fiska"}}, "did you mean 'fisca'"),
        ({"rules": {"num_players": 9}}, "from 2 to 6"),
        ({"rules": 3}, "an object of fields"),
        ({"seats": ["person"]}, "one for each seat"),
        ({"seats": ["greedy", "greedy"]}, "no person"),
        ({"rules": {"preset": "casa", "num_players": 2, "match": "hands"}}, "how many hands the match has"),
        ({"seats": ["person", "gredy"]}, "did you mean 'greedy'"),
        ({"seats": "person"}, "a list of agents"),
        ({"clock": -1}, "from 0 to 3600, not -1"),
        ({"clock": "soon"}, "not 'soon'"),
        ({"seed": "-1"}, "The seed is a whole number from 0 to 18446744073709551615, not '-1'"),
        ({"seed": str(2**64)}, "The seed is a whole number"),
        ({"name": "  "}, "Your name: 1 to 40 letters"),
        ({"name": "a\u202eb"}, "Your name: 1 to 40 letters"),
        ({"language": "fr"}, "allowed is en, it, es"),
    ],
    ids=range(15),
)
def test_a_table_that_can_not_be_says_why(tmp_path: Path, changes: dict[str, Any], said: str) -> None:
    async def script(client: Any) -> None:
        answer = await client.post("/tables", data=json.dumps({**ASKED, "language": "en", **changes}))
        assert said in (await answer.json())["error"]
        assert not list(Store(tmp_path).saved())

    at_server(tmp_path, script)


@pytest.mark.parametrize("agent", ["os:getcwd", "expert:/etc/passwd"])
def test_who_is_elsewhere_names_no_code_and_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, agent: str
) -> None:
    monkeypatch.setattr("experiments.play.server._is_local", lambda request: False)

    async def script(client: Any) -> None:
        asked = {**ASKED, "seats": ["person", agent]}
        assert "solo per nome: expert" in (await (await client.post("/tables", data=json.dumps(asked))).json())["error"]
        made = await (await client.post("/tables", data=json.dumps(ASKED))).json()
        assert len(made["seats"]) == 1
        assert (await (await client.get("/choices/en")).json())["tables"][0]["seats"] == []

    at_server(tmp_path, script)


@pytest.mark.parametrize("text", [b"", b"{", b"[]", b"{}", b"[" * 3000, b"\xff\xfe\xff"], ids=range(6))
def test_what_is_no_table_is_refused(tmp_path: Path, text: bytes) -> None:
    async def script(client: Any) -> None:
        for kind in ("application/json", "text/plain; charset=nonsense"):
            answer = await client.post("/tables", data=text, headers={"Content-Type": kind})
            assert answer.status == 200 and (await answer.json())["error"]

    at_server(tmp_path, script)


@pytest.mark.once
def test_a_folder_that_can_not_be_written_is_said(tmp_path: Path) -> None:
    async def script(client: Any) -> None:
        shutil.rmtree(tmp_path / "tables")
        answer = await client.post("/tables", data=json.dumps(ASKED))
        assert "No such file" in (await answer.json())["error"]

    at_server(tmp_path, script)


@pytest.mark.once
def test_two_pages_that_open_a_table_at_once_sit_at_the_same(tmp_path: Path) -> None:
    save(tmp_path, Table(setup_of()))

    async def go() -> None:
        tables = Tables(Store(tmp_path), Players(), DEFAULTS)
        (one, _), (two, _) = await asyncio.gather(*(tables.find(place.token) for place in PEOPLE[:2]))
        assert one is two

    asyncio.run(go())


@pytest.mark.parametrize(
    "headers",
    [{"Host": "evil.example"}, {"Host": "evil.example:80"}, {"Origin": "http://evil.example"}, {"Origin": "null"}],
    ids=["name", "name and port", "page of elsewhere", "file"],
)
@pytest.mark.parametrize("path", ["/", "/socket/token-a", "/table/token-a", "/choices/en"])
def test_names_and_pages_of_elsewhere_are_refused(tmp_path: Path, path: str, headers: dict[str, str]) -> None:
    save(tmp_path, Table(setup_of()))

    async def script(client: Any) -> None:
        assert (await client.get(path, headers=headers)).status == 403
        assert (await client.get("/", headers={"Host": "localhost"})).status == 200

    at_server(tmp_path, script)


@pytest.mark.parametrize(
    "path",
    [
        *("/table/guess", "/socket/guess", "/words/fr.json", "/choices/xx", "/static/%2e%2e/server.py"),
        *("/replay/en/guess", "/replay/xx/guess", "/replay/en/..%2f..%2fsecret"),
    ],
)
def test_what_there_is_not(tmp_path: Path, path: str) -> None:
    async def script(client: Any) -> None:
        assert (await client.get(path)).status == 404

    at_server(tmp_path, script)


def test_a_broken_table_is_listed_and_named(tmp_path: Path) -> None:
    save(tmp_path, Table(setup_of()))

    async def script(client: Any) -> None:
        path = tmp_path / "tables" / "table.json"
        path.write_text(path.read_text().replace('"hands": [[]]', '"hands": [[999]]'))
        answer = await client.get("/table/token-a")
        assert answer.status == 409 and str(path) in await answer.text()
        path.write_text("{")
        assert str(path) in (await (await client.get("/choices/en")).json())["broken"][0]

    at_server(tmp_path, script)


def test_moves_by_the_socket_and_a_page_that_comes_back(tmp_path: Path) -> None:
    table = save(tmp_path, Table(setup_of()))
    token = PEOPLE[table.game.turn].token

    async def script(client: Any) -> None:
        for version in (0, 1):
            async with client.ws_connect(f"/socket/{token}") as socket:
                await socket.send_str('{"type": "hello", "language": "en"}')
                assert (await socket.receive_json())["type"] == "table"
                state = await socket.receive_json()
                assert state["version"] == version and len(state["hand"]) == 5 + version
                await socket.send_bytes(b"noise")
                await socket.send_str(json.dumps({"type": "move", "move": "stock", "version": version}))
                kinds = [(await socket.receive_json())["type"] for _ in range(3)]
                assert sorted(kinds) == ["advisers", "refused", "refused" if version else "state"]

    at_server(tmp_path, script)


def test_another_server_goes_on_where_the_first_was(tmp_path: Path) -> None:
    table = save(tmp_path, played(Table(setup_of()), 12))

    async def script(client: Any) -> None:
        async with client.ws_connect("/socket/token-b") as socket:
            await socket.send_str('{"type": "hello", "language": "en"}')
            await socket.receive_json()
            assert (await socket.receive_json())["hand"] == list(table.game.view(1).hand)

    at_server(tmp_path, script)


def test_the_replay_shows_the_hands_that_are_over_and_no_seed_before_the_end(tmp_path: Path) -> None:
    table = save(tmp_path, after_hands(1, seed=SEED))

    async def script(client: Any) -> None:
        page = await (await client.get("/replay/it/table")).text()
        assert '"hands":[{' in page and str(SEED) not in page and "deve pescare" in page

    at_server(tmp_path, script)
    assert not table.over


def test_the_replay_of_a_match_that_is_over_names_its_seed(tmp_path: Path) -> None:
    save(tmp_path, played(Table(setup_of(SMALL.replace(match="single_hand"), seed=SEED)), 10_000))

    async def script(client: Any) -> None:
        assert str(SEED) in await (await client.get("/replay/en/table")).text()

    at_server(tmp_path, script)


def test_no_replay_before_a_hand_is_over(tmp_path: Path) -> None:
    save(tmp_path, Table(setup_of()))

    async def script(client: Any) -> None:
        assert (await client.get("/replay/en/table")).status == 404

    at_server(tmp_path, script)
