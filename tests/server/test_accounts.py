"""A server with accounts, over a real socket: logging in, and what each route lets whom do."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Any

import httpx2 as httpx
import pytest
from starlette.datastructures import Headers
from tests.accounts.conftest import CHEAP
from tests.server.conftest import Running, running

from wenfang.accounts import secrets
from wenfang.problems import Problem
from wenfang.server import PublicUrl, make_app
from wenfang.server.access import NEEDS, AdmittedRoute
from wenfang.server.routes import routers
from wenfang.server.security import refusal
from wenfang.server.streams import KEEPALIVE_S
from wenfang.storage import runs

pytestmark = pytest.mark.anyio

WORD = "correct horse battery"
Start = Callable[..., Any]


@pytest.fixture(autouse=True, scope="module")
def _cheap() -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(secrets, "_hasher", lambda: CHEAP)
        yield


def client(server: Running, **headers: str) -> httpx.AsyncClient:
    """A browser's tab: it keeps cookies and says where it is."""
    return httpx.AsyncClient(
        base_url=server.url, timeout=20, headers={"origin": server.url} | headers
    )


async def set_up(server: Running, tab: httpx.AsyncClient, name: str = "Ada") -> httpx.Response:
    body = {"name": name, "password": WORD, "code": server.services.setup_code}
    return await tab.post("/api/account/setup", json=body)


async def log_in(tab: httpx.AsyncClient, name: str, password: str = WORD) -> httpx.Response:
    return await tab.post("/api/account/login", json={"name": name, "password": password})


# Modes


async def test_a_local_server_has_no_accounts(start: Start) -> None:
    async with start() as server:
        account = (await server.http.get("/api/account")).json()
        assert account == {"mode": "local", "needs_setup": False, "user": None}
        assert (await server.http.get("/api/info")).json()["local"] is True
        for method, path in (("POST", "/api/account/login"), ("GET", "/api/users")):
            body = {"name": "Ada", "password": WORD} if method == "POST" else None
            answer = await server.http.request(method, path, json=body)
            assert (answer.status_code, answer.json()["code"]) == (404, "accounts_off")
        assert (await server.http.post("/api/account/logout")).status_code == 204


async def test_the_first_admin_is_made_and_is_in(start: Start) -> None:
    async with start(with_accounts=True) as server, client(server) as tab:
        account = (await tab.get("/api/account")).json()
        assert account == {"mode": "accounts", "needs_setup": True, "user": None}
        wrong = await tab.post(
            "/api/account/setup", json={"name": "Eve", "password": WORD, "code": "guess"}
        )
        assert (wrong.status_code, wrong.json()["code"]) == (403, "setup_code_wrong")
        assert (await set_up(server, tab)).json()["role"] == "admin"
        account = (await tab.get("/api/account")).json()
        assert (account["needs_setup"], account["user"]["name"]) == (False, "Ada")
        assert (await tab.get("/api/projects")).json() == []
        assert (await set_up(server, tab, "Eve")).json()["code"] == "setup_done"


async def test_once_there_are_people_everyone_logs_in(start: Start) -> None:
    """A server that is started without the flag later does not lay open what has owners."""
    async with start(with_accounts=True) as server, client(server) as tab:
        await set_up(server, tab)
    async with start() as server:
        answer = await server.http.get("/api/projects")
        assert (answer.status_code, answer.json()["code"]) == (401, "login_required")


# The cookie


@pytest.mark.parametrize(
    ("public", "name", "is_secure"),
    [("", "wenfang", False), ("https://write.example.org", "__Host-wenfang", True)],
)
async def test_the_cookie_is_closed_to_scripts_and_sites(
    start: Start, public: str, name: str, is_secure: bool
) -> None:
    async with start(with_accounts=True, public=public) as server, client(server) as tab:
        cookie = (await set_up(server, tab)).headers["set-cookie"]
    parts = {part.strip().lower() for part in cookie.split(";")}
    assert cookie.startswith(name + "=")
    assert {"httponly", "samesite=strict", "path=/"} <= parts
    assert ("secure" in parts) == is_secure
    assert not any(part.startswith("domain") for part in parts)


async def test_a_cookie_alone_changes_nothing(start: Start) -> None:
    """CSRF: a request that changes something says that it is from one of our pages."""
    async with start(with_accounts=True) as server, client(server) as tab:
        await set_up(server, tab)
        jar = dict(tab.cookies)
        async with httpx.AsyncClient(base_url=server.url, cookies=jar) as other:
            assert (await other.get("/api/projects")).status_code == 200
            for headers, status in (
                ({}, 403),
                ({"origin": "https://evil.example"}, 403),
                ({"origin": "null"}, 403),
                ({"sec-fetch-site": "cross-site"}, 403),
                ({"sec-fetch-site": "same-origin"}, 201),
                ({"origin": server.url}, 201),
            ):
                made = await other.post("/api/projects", json={"title": "x"}, headers=headers)
                assert made.status_code == status, headers


async def test_logging_out_closes_the_door(start: Start) -> None:
    async with start(with_accounts=True) as server, client(server) as tab:
        await set_up(server, tab)
        stolen = dict(tab.cookies)
        assert (await tab.post("/api/account/logout")).status_code == 204
        assert not tab.cookies
        assert (await tab.get("/api/projects")).status_code == 401
        async with httpx.AsyncClient(base_url=server.url, cookies=stolen) as thief:
            assert (await thief.get("/api/projects")).status_code == 401
        assert (await tab.post("/api/account/logout")).status_code == 204


async def test_guessing_is_slowed_down(start: Start) -> None:
    async with start(with_accounts=True) as server, client(server) as tab:
        await set_up(server, tab)
        codes = [(await log_in(tab, "Ada", "wrong horse")).status_code for _ in range(6)]
        assert codes == [401] * 5 + [429]
        answer = await log_in(tab, "Ada")
        assert answer.json()["code"] == "login_throttled"
        assert 0 < int(answer.headers["retry-after"]) <= 901


async def test_no_answer_holds_a_secret(start: Start) -> None:
    async with start(with_accounts=True) as server, client(server) as tab:
        await set_up(server, tab)
        key = (await tab.post("/api/account/keys", json={"name": "ci", "scopes": ["read"]})).json()
        await tab.post("/api/users", json={"name": "Bob", "password": WORD})
        texts = [
            (await tab.get(path)).text
            for path in ("/api/account", "/api/account/keys", "/api/users", "/api/audit")
        ]
        texts.append((await log_in(tab, "Ada", [WORD])).text)  # type: ignore[arg-type]
        for text in texts:
            assert WORD not in text
            assert key["secret"] not in text
            assert "argon2" not in text


# The public address


PUBLIC = PublicUrl.parse("https://Write.example.org:8443/")


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({"host": "write.example.org:8443"}, None),
        ({"host": "WRITE.example.org:8443", "origin": "https://write.example.org:8443"}, None),
        ({"host": "127.0.0.1:8000", "origin": "http://127.0.0.1:8000"}, None),
        ({"host": "write.example.org"}, "host_refused"),
        ({"host": "evil.example"}, "host_refused"),
        (
            {"host": "write.example.org:8443", "origin": "http://write.example.org:8443"},
            "origin_refused",
        ),
        ({"host": "write.example.org:8443", "origin": "https://evil.example"}, "origin_refused"),
        ({"host": "127.0.0.1:8000", "origin": "https://write.example.org:8443"}, "origin_refused"),
    ],
)
def test_hosts_and_origins_of_a_public_server(
    headers: dict[str, str], expected: str | None
) -> None:
    problem = refusal(Headers(headers), "/api/projects", PUBLIC)
    assert (problem and problem.code) == expected


@pytest.mark.parametrize(
    "url",
    [
        "write.example.org",
        "ftp://x.org",
        "https://",
        "https://x.org/path",
        "https://a@x.org",
        "https://x.org?q",
    ],
)
def test_public_addresses_that_are_none(url: str) -> None:
    with pytest.raises(Problem) as caught:
        PublicUrl.parse(url)
    assert caught.value.code == "invalid_request"


# Routes


def _routes() -> list[tuple[str, str, str]]:
    """(name, method, path) of each route."""
    document = make_app(None).openapi()
    return [
        (operation["operationId"], method.upper(), path)
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    ]


def test_each_route_is_guarded() -> None:
    routes = [route for router in routers for route in router.routes]
    assert len(routes) == len(_routes())
    assert all(type(route) is AdmittedRoute for route in routes)


async def test_nothing_is_read_of_a_stranger(world: World) -> None:
    """A body of 32 MB costs nothing: the answer comes before it has been sent."""
    host, port = world.server.url.removeprefix("http://").split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    head = (
        f"POST /api/projects HTTP/1.1\r\nHost: {host}:{port}\r\nContent-Length: 32000000\r\n"
        "Content-Type: application/json\r\n\r\n{"
    )
    writer.write(head.encode())
    async with asyncio.timeout(5):
        assert b" 401 " in await reader.readline()
    writer.close()


def test_each_route_says_what_it_needs() -> None:
    """A route that is not in the table could not be used; a row without a route protects nothing."""
    assert sorted(name for name, _, _ in _routes()) == sorted(NEEDS)
    for name, _, path in _routes():
        is_of_project = any(key in path for key in ("{pid}", "{sid}", "{rid}"))
        assert (NEEDS[name].right is not None) == is_of_project, name
    for name, method, path in _routes():
        if method != "GET" and path.startswith("/api") and not NEEDS[name].is_open:
            assert NEEDS[name].scope != "read" or NEEDS[name].in_person or name == "remove_member"


@dataclass
class World:
    """One project of Ada's with a session and a run; Vic may look, Ed may change, Bob is a stranger."""

    server: Running
    tabs: dict[str, httpx.AsyncClient]
    ids: dict[str, str]


@pytest.fixture(scope="module")
async def world(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[World]:
    folder = tmp_path_factory.mktemp("data")
    flags = {"provider": "scripted"}
    async with running(folder, flags=flags, with_accounts=True) as server:
        tabs = {name: client(server) for name in ("Root", "Ada", "Ed", "Vic", "Bob", "nobody")}
        root = tabs["Root"]
        await set_up(server, root, "Root")
        for name in ("Ada", "Ed", "Vic", "Bob"):
            await root.post("/api/users", json={"name": name, "password": WORD})
            assert (await log_in(tabs[name], name)).status_code == 200
        ada = tabs["Ada"]
        pid = (await ada.post("/api/projects", json={"title": "A novel"})).json()["id"]
        for name, role in (("Ed", "editor"), ("Vic", "viewer")):
            done = await ada.put(f"/api/projects/{pid}/members", json={"name": name, "role": role})
            assert done.status_code == 204
        sid = (await ada.post(f"/api/projects/{pid}/sessions")).json()["id"]
        rid = (await ada.post(f"/api/sessions/{sid}/runs", json={"text": "hello"})).json()["id"]
        await server.services.runs.wait(rid)
        yield World(server, tabs, {"pid": pid, "sid": sid, "rid": rid})
        for tab in tabs.values():
            await tab.aclose()


def _path(path: str, ids: dict[str, str]) -> str:
    more = {"path": "a.md", "trash_id": "t", "n": "1", "uid": "usr_x", "kid": "key_x"}
    return path.replace(":path}", "}").format(**ids | more)


_OF_PROJECT = [each for each in _routes() if NEEDS[each[0]].right is not None]


@pytest.mark.parametrize(
    ("name", "method", "path"), _OF_PROJECT, ids=[each[0] for each in _OF_PROJECT]
)
async def test_what_a_project_lets_whom_do(world: World, name: str, method: str, path: str) -> None:
    """Strangers, also admins, are told that it is not there; members what they may not do."""
    rights = {"Vic": {"view"}, "Ed": {"view", "edit"}}
    url = _path(path, world.ids)
    hidden = "run" if "{rid}" in path else "session" if "{sid}" in path else "project"
    body = {} if method in ("POST", "PUT", "PATCH") else None
    for who, tab in world.tabs.items():
        allowed = who in rights and NEEDS[name].right in rights[who]
        if allowed or who == "Ada":
            continue  # what happens then is for the tests of the routes
        answer = await tab.request(method, url, json=body)
        code = answer.json()["code"]
        if who == "nobody":
            assert (answer.status_code, code) == (401, "login_required")
        elif who in rights:
            assert (answer.status_code, code) == (403, "forbidden")
        else:
            assert (answer.status_code, code) == (404, f"{hidden}_not_found")


@pytest.mark.parametrize(("who", "status"), [("Vic", 200), ("Ed", 200), ("Ada", 200)])
async def test_members_see_the_project(world: World, who: str, status: int) -> None:
    tab, pid = world.tabs[who], world.ids["pid"]
    for path in (
        f"/api/projects/{pid}/files",
        f"/api/projects/{pid}/sessions",
        f"/api/runs/{world.ids['rid']}",
        f"/api/projects/{pid}/snapshot?session_id={world.ids['sid']}",
    ):
        assert (await tab.get(path)).status_code == status, path
    assert [each["id"] for each in (await tab.get("/api/projects")).json()] == [pid]


async def test_an_editor_writes_and_runs_are_theirs(world: World) -> None:
    ed, pid = world.tabs["Ed"], world.ids["pid"]
    saved = await ed.put(f"/api/projects/{pid}/files/a.md", json={"text": "words", "base": None})
    assert saved.status_code == 200
    sid = (await ed.post(f"/api/projects/{pid}/sessions")).json()["id"]
    rid = (await ed.post(f"/api/sessions/{sid}/runs", json={"text": "hello"})).json()["id"]
    await world.server.services.runs.wait(rid)
    store = world.server.services.runs.store
    me = (await ed.get("/api/account")).json()["user"]["id"]
    owner = await store.read(
        lambda tx: tx.sa.execute(runs.select().where(runs.c.id == rid)).one().user_id
    )
    assert owner == me


async def test_strangers_have_lists_of_their_own(world: World) -> None:
    assert (await world.tabs["Bob"].get("/api/projects")).json() == []
    assert (await world.tabs["Root"].get("/api/projects")).json() == []


async def test_only_an_admin_opens_folders_of_the_server(world: World) -> None:
    answer = await world.tabs["Bob"].post("/api/projects", json={"title": "x", "path": "/etc"})
    assert (answer.status_code, answer.json()["code"]) == (403, "forbidden")


_OF_ADMINS = [each for each in _routes() if NEEDS[each[0]].admin]


@pytest.mark.parametrize(
    ("name", "method", "path"), _OF_ADMINS, ids=[each[0] for each in _OF_ADMINS]
)
async def test_what_only_admins_do(world: World, name: str, method: str, path: str) -> None:
    body = {} if method in ("POST", "PUT", "PATCH") else None
    for who, code in (("Ada", "forbidden"), ("nobody", "login_required")):
        answer = await world.tabs[who].request(method, _path(path, world.ids), json=body)
        assert answer.json()["code"] == code, (name, who)


async def test_anyone_leaves_and_owners_put_out(world: World) -> None:
    ada, bob, ed = (world.tabs[name] for name in ("Ada", "Bob", "Ed"))
    pid = (await ada.post("/api/projects", json={"title": "Leaving"})).json()["id"]
    url = f"/api/projects/{pid}/members"
    await ada.put(url, json={"name": "Bob", "role": "viewer"})
    await ada.put(url, json={"name": "Ed", "role": "editor"})
    ids = {each["name"]: each["user_id"] for each in (await ada.get(url)).json()}
    assert list(ids) == ["Ada", "Ed", "Bob"]
    assert (await ed.delete(f"{url}/{ids['Bob']}")).json()["code"] == "forbidden"
    assert (await bob.delete(f"{url}/{ids['Bob']}")).status_code == 204
    assert (await ada.delete(f"{url}/{ids['Ed']}")).status_code == 204
    assert (await ada.delete(f"{url}/{ids['Ada']}")).json()["code"] == "last_owner"
    assert (await bob.get(f"/api/projects/{pid}/files")).status_code == 404


async def test_API_2_what_asks_a_model_is_limited_by_user(world: World) -> None:
    """API-3: 120 steering words an hour, whatever became of them."""
    root, ada = world.tabs["Root"], world.tabs["Ada"]
    url = f"/api/runs/{world.ids['rid']}/steer"
    codes = [(await ada.post(url, json={"text": "x"})).status_code for _ in range(121)]
    assert codes == [409] * 120 + [429]
    answer = await ada.post(url, json={"text": "x"})
    assert answer.json()["code"] == "rate_limited"
    assert int(answer.headers["retry-after"]) > 3000
    assert (await root.post(url, json={"text": "x"})).status_code == 404
    limited = {name: need.per_hour for name, need in NEEDS.items() if need.per_hour}
    assert limited["start_run"] == 60
    assert {"start_run", "steer_run", "try_settings", "find_dialect"} <= limited.keys()


# Keys


async def test_a_key_does_what_its_scopes_say(world: World) -> None:
    ada, pid = world.tabs["Ada"], world.ids["pid"]

    async def key(*scopes: str) -> httpx.AsyncClient:
        made = await ada.post("/api/account/keys", json={"name": "k", "scopes": list(scopes)})
        assert made.status_code == 201
        headers = {"authorization": f"Bearer {made.json()['secret']}"}
        return httpx.AsyncClient(base_url=world.server.url, headers=headers)

    async with await key("read") as reader, await key("write") as writer:
        assert (await reader.get(f"/api/projects/{pid}/files")).status_code == 200
        assert (await writer.get(f"/api/projects/{pid}/files")).json()["code"] == "forbidden"
        saved = {"text": "x", "base": None}
        url = f"/api/projects/{pid}/files/of-a-key.md"
        assert (await reader.put(url, json=saved)).json()["code"] == "forbidden"
        assert (await writer.put(url, json=saved)).status_code == 200  # no page, no origin
        for path in ("/api/account/keys", "/api/users"):
            assert (await reader.get(path)).json()["code"] == "forbidden"


@pytest.mark.parametrize(
    "header", ["Bearer wf_nonsense", "Bearer", "Basic YTpi", "Bearer \u00e9", ""]
)
async def test_a_key_that_is_none(world: World, header: str) -> None:
    raw = {"authorization": header.encode("latin-1")}
    async with httpx.AsyncClient(base_url=world.server.url) as program:
        answer = await program.get("/api/projects", headers=raw)  # type: ignore[arg-type]
    assert answer.json()["code"] == "login_required"


async def test_a_wrong_key_is_not_helped_by_a_cookie(world: World) -> None:
    ada = world.tabs["Ada"]
    answer = await ada.get("/api/projects", headers={"authorization": "Bearer wf_nonsense"})
    assert answer.status_code == 401


async def test_the_audit_log_tells_of_settings_and_projects(world: World) -> None:
    root = world.tabs["Root"]
    assert (await root.put("/api/settings", json={"language": "zh"})).status_code == 200
    pid = (await root.post("/api/projects", json={"title": "Gone"})).json()["id"]
    assert (await root.delete(f"/api/projects/{pid}")).status_code == 204
    entries = (await root.get("/api/audit")).json()
    told = [(each["user"], each["action"], each["target"]) for each in entries[:2]]
    assert told == [("Root", "delete_project", pid), ("Root", "save_settings", "language")]
    assert {each["address"] for each in entries[:2]} == {"127.0.0.1"}


@pytest.mark.parametrize("how", ["logged out", "put out", "disabled"])
async def test_an_open_stream_ends_when_its_reader_may_not_read_on(world: World, how: str) -> None:
    ada, root, services = world.tabs["Ada"], world.tabs["Root"], world.server.services
    name = f"Reader {how}"
    uid = (await root.post("/api/users", json={"name": name, "password": WORD})).json()["id"]
    pid = world.ids["pid"]
    await ada.put(f"/api/projects/{pid}/members", json={"name": name, "role": "viewer"})
    services.streams.keepalive_s = 0.1
    try:
        async with client(world.server) as tab:
            await log_in(tab, name)
            async with tab.stream("GET", f"/api/projects/{pid}/events") as events:
                assert events.status_code == 200
                chunks = events.aiter_bytes()
                await anext(chunks)
                await anext(chunks)  # the first checks were passed
                if how == "logged out":
                    await tab.post("/api/account/logout")
                elif how == "put out":
                    await ada.delete(f"/api/projects/{pid}/members/{uid}")
                else:
                    await root.patch(f"/api/users/{uid}", json={"enabled": False})
                async with asyncio.timeout(5):
                    async for _ in chunks:
                        pass
            again = await tab.get(f"/api/projects/{pid}/events")
            assert again.status_code == (404 if how == "put out" else 401)
    finally:
        services.streams.keepalive_s = KEEPALIVE_S
