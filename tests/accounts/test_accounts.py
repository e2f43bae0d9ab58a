"""People, logins, keys and members through the room's door, on both databases."""

from __future__ import annotations

import asyncio

import pytest
import sqlalchemy as sa
from argon2 import PasswordHasher
from tests.accounts.conftest import Clock

from wenfang.accounts import LOCAL, Accounts, Caller, User, new_setup_code, secrets
from wenfang.problems import Problem
from wenfang.storage import Store, logins, projects, users

pytestmark = pytest.mark.anyio

CODE = "12345-abcde"
WORD = "correct horse battery"


def code_of(caught: pytest.ExceptionInfo[Problem]) -> str:
    return caught.value.code


def as_caller(user: User) -> Caller:
    return Caller(user_id=user.id, name=user.name, role=user.role)


async def set_up(accounts: Accounts, name: str = "Ada") -> Caller:
    return as_caller(await accounts.people.set_up(name, WORD, code=CODE, expected=CODE))


async def log_in(accounts: Accounts, name: str, password: str = WORD, address: str = "::1") -> str:
    made = await accounts.logins.log_in(name, password, address=address, agent="test")
    return made.token


async def project(store: Store, key: str) -> str:
    row = {"id": key, "title": key, "path": key, "managed": 1, "created_at": 0, "updated_at": 0}
    await store.write(lambda tx: tx.sa.execute(projects.insert().values(row)) and None)
    return key


# The first admin


async def test_the_first_admin_needs_the_code(accounts: Accounts) -> None:
    assert not await accounts.people.any()
    with pytest.raises(Problem) as caught:
        await accounts.people.set_up("Ada", WORD, code="guess", expected=CODE)
    assert code_of(caught) == "setup_code_wrong"
    assert not await accounts.people.any()
    assert (await set_up(accounts)).is_admin
    with pytest.raises(Problem) as caught:
        await accounts.people.set_up("Eve", WORD, code=CODE, expected=CODE)
    assert code_of(caught) == "setup_done"


async def test_of_two_first_admins_at_once_one_is_made(accounts: Accounts) -> None:
    both = await asyncio.gather(
        set_up(accounts, "Ada"), set_up(accounts, "Eve"), return_exceptions=True
    )
    made = [each for each in both if isinstance(each, Caller)]
    assert len(made) == 1
    assert len(await accounts.people.all()) == 1


def test_setup_codes_are_not_guessed() -> None:
    codes = {new_setup_code() for _ in range(50)}
    assert len(codes) == 50
    assert all(len(code) == 23 for code in codes)


# Names and passwords


@pytest.mark.parametrize("same", ["ada", " ADA ", "Ａｄａ"])
async def test_names_that_look_the_same_are_the_same(accounts: Accounts, same: str) -> None:
    admin = await set_up(accounts)
    with pytest.raises(Problem) as caught:
        await accounts.people.create(same, WORD, "member", by=admin)
    assert code_of(caught) == "user_exists"
    assert await accounts.caller(await log_in(accounts, same)) is not None


@pytest.mark.parametrize("name", ["", "   ", "a\nb", "x" * 101, "\u200b", "a\x00"])
async def test_names_that_nobody_can_read_are_refused(accounts: Accounts, name: str) -> None:
    with pytest.raises(Problem) as caught:
        await accounts.people.create(name, WORD, "member", by=LOCAL)
    assert code_of(caught) == "invalid_request"
    assert await accounts.people.all() == []


@pytest.mark.parametrize(
    "password", ["short", "x" * 1001, "aaaaaaaaaaaaaa", "ababababababab", "Frederika B"]
)
async def test_weak_passwords_are_refused(accounts: Accounts, password: str) -> None:
    with pytest.raises(Problem) as caught:
        await accounts.people.create("frederika b", password, "member", by=LOCAL)
    assert code_of(caught) == "password_weak"


async def test_no_password_and_no_token_is_kept(accounts: Accounts, store: Store) -> None:
    admin = await set_up(accounts)
    token = await log_in(accounts, "Ada")
    _, secret = await accounts.keys.create(admin, "ci", ["read"], None)

    def everything(tx: object) -> str:
        rows: list[str] = []
        for table in ("users", "logins", "api_keys", "audit", "attempts"):
            rows += map(str, tx.sa.execute(sa.text(f"SELECT * FROM {table}")))  # type: ignore[attr-defined]
        return "\n".join(rows)

    kept = await store.read(everything)
    assert "$argon2id$" in kept
    assert WORD not in kept
    assert token not in kept
    assert secret not in kept


# Logging in


@pytest.mark.parametrize(("name", "password"), [("Ada", "wrong horse"), ("Bob", WORD), ("", "")])
async def test_what_was_wrong_is_not_told(accounts: Accounts, name: str, password: str) -> None:
    await set_up(accounts)
    with pytest.raises(Problem) as caught:
        await log_in(accounts, name, password)
    assert code_of(caught) == "login_failed"
    assert caught.value.params == {}


async def test_a_name_that_nobody_has_is_hashed_too(
    accounts: Accounts, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str] = []

    class Watched(PasswordHasher):
        def verify(self, kept: str, password: str) -> bool:  # type: ignore[override]
            seen.append(kept)
            return super().verify(kept, password)

    hasher = Watched(time_cost=1, memory_cost=8, parallelism=1)
    monkeypatch.setattr(secrets, "_hasher", lambda: hasher)
    with pytest.raises(Problem):
        await log_in(accounts, "nobody")
    assert len(seen) == 1


async def test_guessing_ends_soon_and_only_there(accounts: Accounts, clock: Clock) -> None:
    await set_up(accounts)
    for _ in range(5):
        with pytest.raises(Problem):
            await log_in(accounts, "Ada", "wrong horse")
    with pytest.raises(Problem) as caught:
        await log_in(accounts, "Ada")  # even the right one
    assert code_of(caught) == "login_throttled"
    assert caught.value.params == {"seconds": 901}
    assert await log_in(accounts, "Ada", address="::2")
    clock.now += 901
    assert await log_in(accounts, "Ada")


async def test_guesses_at_the_same_time_count(accounts: Accounts) -> None:
    await set_up(accounts)
    tries = (log_in(accounts, "Ada", f"wrong horse {n}") for n in range(20))
    ends = await asyncio.gather(*tries, return_exceptions=True)
    codes = [end.code for end in ends if isinstance(end, Problem)]
    assert codes.count("login_failed") == 5
    assert codes.count("login_throttled") == 15


async def test_a_right_password_forgives_the_wrong_ones(accounts: Accounts) -> None:
    await set_up(accounts)
    for _ in range(3):
        for _ in range(4):
            with pytest.raises(Problem) as caught:
                await log_in(accounts, "Ada", "wrong horse")
            assert code_of(caught) == "login_failed"
        assert await log_in(accounts, "Ada")


async def test_many_names_from_one_address_end_too(accounts: Accounts) -> None:
    codes: list[str] = []
    for n in range(51):
        with pytest.raises(Problem) as caught:
            await log_in(accounts, f"user{n}")
        codes.append(code_of(caught))
    assert codes == ["login_failed"] * 50 + ["login_throttled"]


async def test_a_login_lasts_while_it_is_used(accounts: Accounts, clock: Clock) -> None:
    await set_up(accounts)
    token = await log_in(accounts, "Ada")
    for _ in range(4):
        clock.now += 20 * 86400
        assert await accounts.caller(token) is not None
    clock.now += 31 * 86400
    assert await accounts.caller(token) is None


async def test_logging_out_ends_one_login(accounts: Accounts) -> None:
    await set_up(accounts)
    one, two = await log_in(accounts, "Ada"), await log_in(accounts, "Ada")
    await accounts.logins.log_out(one)
    await accounts.logins.log_out("no such")
    assert await accounts.caller(one) is None
    assert await accounts.caller(two) is not None


async def test_a_password_that_changed_meanwhile_lets_nobody_in(
    accounts: Accounts, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    admin = await set_up(accounts)
    slow = accounts.logins._passwords.is_right

    async def is_right(password: str, kept: str | None) -> bool:
        right = await slow(password, kept)
        await accounts.people.set_password(admin.user_id, "another horse battery", by=admin)
        return right

    monkeypatch.setattr(accounts.logins._passwords, "is_right", is_right)
    with pytest.raises(Problem) as caught:
        await log_in(accounts, "Ada")
    assert code_of(caught) == "login_failed"
    assert await store.read(lambda tx: tx.sa.execute(sa.select(logins)).all()) == []


async def test_an_old_hash_is_made_anew_at_the_next_login(
    accounts: Accounts, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    await set_up(accounts)
    newer = PasswordHasher(time_cost=2, memory_cost=16, parallelism=1)
    monkeypatch.setattr(secrets, "_hasher", lambda: newer)
    await log_in(accounts, "Ada")
    kept = await store.read(lambda tx: tx.sa.execute(sa.select(users.c.password)).scalar_one())
    assert "m=16,t=2" in kept
    assert await log_in(accounts, "Ada")


async def test_what_costs_is_counted_for_each_user(accounts: Accounts, clock: Clock) -> None:
    """API-2, API-3: a rate limit by user, the same for all replicas."""
    ada = await set_up(accounts)
    bob = as_caller(await accounts.people.create("Bob", WORD, "member", by=ada))
    tries = (accounts.spend(ada, "start_run", 3) for _ in range(10))
    ends = await asyncio.gather(*tries, return_exceptions=True)
    refused = [end for end in ends if isinstance(end, Problem)]
    assert len(refused) == 7
    assert refused[0].params == {"seconds": 3601, "limit": 3}
    await accounts.spend(bob, "start_run", 3)
    await accounts.spend(ada, "steer_run", 3)
    clock.now += 3601
    await accounts.spend(ada, "start_run", 3)


# Changing people


async def test_who_is_disabled_is_out_at_once(accounts: Accounts) -> None:
    admin = await set_up(accounts)
    bob = await accounts.people.create("Bob", WORD, "member", by=admin)
    token = await log_in(accounts, "Bob")
    _, secret = await accounts.keys.create(as_caller(bob), "ci", ["read"], None)
    assert await accounts.caller(secret) is not None
    await accounts.people.change(bob.id, is_enabled=False, by=admin)
    assert await accounts.caller(token) is None
    assert await accounts.caller(secret) is None
    with pytest.raises(Problem):
        await log_in(accounts, "Bob")
    await accounts.people.change(bob.id, is_enabled=True, by=admin)
    assert await log_in(accounts, "Bob")
    assert await accounts.caller(token) is None  # the old login stays ended


@pytest.mark.parametrize("change", [{"role": "member"}, {"is_enabled": False}])
async def test_there_is_always_an_admin(accounts: Accounts, change: dict[str, object]) -> None:
    admin = await set_up(accounts)
    with pytest.raises(Problem) as caught:
        await accounts.people.change(admin.user_id, by=admin, **change)  # type: ignore[arg-type]
    assert code_of(caught) == "last_admin"
    assert (await accounts.people.named("Ada")).role == "admin"
    second = await accounts.people.create("Eve", WORD, "admin", by=admin)
    await accounts.people.change(admin.user_id, by=admin, **change)  # type: ignore[arg-type]
    with pytest.raises(Problem):
        await accounts.people.change(second.id, by=admin, **change)  # type: ignore[arg-type]


async def test_of_two_admins_who_disable_each_other_one_stays(accounts: Accounts) -> None:
    ada = await set_up(accounts)
    eve = as_caller(await accounts.people.create("Eve", WORD, "admin", by=ada))
    both = await asyncio.gather(
        accounts.people.change(eve.user_id, is_enabled=False, by=ada),
        accounts.people.change(ada.user_id, is_enabled=False, by=eve),
        return_exceptions=True,
    )
    assert sum(isinstance(each, Problem) for each in both) == 1
    assert sum(each.disabled_at is None for each in await accounts.people.all()) == 1


async def test_a_new_password_ends_other_logins(accounts: Accounts) -> None:
    admin = await set_up(accounts)
    here, there = await log_in(accounts, "Ada"), await log_in(accounts, "Ada")
    with pytest.raises(Problem) as caught:
        await accounts.people.change_password(admin.user_id, "wrong horse", "n" + WORD, keep=here)
    assert code_of(caught) == "password_wrong"
    await accounts.people.change_password(admin.user_id, WORD, "new " + WORD, keep=here)
    assert await accounts.caller(here) is not None
    assert await accounts.caller(there) is None
    assert await log_in(accounts, "Ada", "new " + WORD)


async def test_guessing_the_old_password_ends_too(accounts: Accounts) -> None:
    admin = await set_up(accounts)
    codes: list[str] = []
    for _ in range(6):
        with pytest.raises(Problem) as caught:
            await accounts.people.change_password(admin.user_id, "wrong", "new " + WORD, keep="")
        codes.append(code_of(caught))
    assert codes == ["password_wrong"] * 5 + ["login_throttled"]


async def test_a_password_set_by_an_admin_ends_logins_and_keys(accounts: Accounts) -> None:
    admin = await set_up(accounts)
    bob = await accounts.people.create("Bob", WORD, "member", by=admin)
    token = await log_in(accounts, "Bob")
    _, secret = await accounts.keys.create(as_caller(bob), "ci", ["read"], None)
    await accounts.people.set_password(bob.id, "another horse", by=admin)
    assert await accounts.caller(token) is None
    assert await accounts.caller(secret) is None
    assert await log_in(accounts, "Bob", "another horse")


async def test_unknown_people(accounts: Accounts) -> None:
    for asking in (
        accounts.people.named("nobody"),
        accounts.people.change("usr_x", role="admin", by=LOCAL),
        accounts.people.set_password("usr_x", WORD, by=LOCAL),
        accounts.people.change_password("usr_x", WORD, WORD, keep=""),
    ):
        with pytest.raises(Problem) as caught:
            await asking
        assert code_of(caught) == "user_not_found"


# Keys


async def test_keys_have_scopes_and_an_end(accounts: Accounts, clock: Clock) -> None:
    admin = await set_up(accounts)
    key, secret = await accounts.keys.create(admin, "ci", ["read", "write"], clock.now + 60)
    assert secret.startswith(key.prefix)
    assert len(secret) > len(key.prefix) + 20
    caller = await accounts.caller(secret)
    assert caller is not None
    assert (caller.scopes, caller.via) == (frozenset({"read", "write"}), "key")
    assert [each.seen_at for each in await accounts.keys.all(admin.user_id)] == [clock.now]
    clock.now += 61
    assert await accounts.caller(secret) is None


async def test_a_revoked_key_is_dead(accounts: Accounts) -> None:
    admin = await set_up(accounts)
    bob = as_caller(await accounts.people.create("Bob", WORD, "member", by=admin))
    key, secret = await accounts.keys.create(bob, "ci", ["read"], None)
    with pytest.raises(Problem) as caught:
        await accounts.keys.revoke(admin, key.id)  # someone else's
    assert code_of(caught) == "key_not_found"
    await accounts.keys.revoke(bob, key.id)
    assert await accounts.caller(secret) is None
    assert await accounts.keys.all(bob.user_id) == []


async def test_nobody_gives_what_they_do_not_have(accounts: Accounts, clock: Clock) -> None:
    admin = await set_up(accounts)
    bob = as_caller(await accounts.people.create("Bob", WORD, "member", by=admin))
    with pytest.raises(Problem) as caught:
        await accounts.keys.create(bob, "ci", ["admin"], None)
    assert code_of(caught) == "forbidden"
    for scopes, expires_at in (([], None), (["read"], clock.now - 1)):
        with pytest.raises(Problem) as caught:
            await accounts.keys.create(bob, "ci", scopes, expires_at)
        assert code_of(caught) == "invalid_request"


async def test_an_admin_key_of_a_former_admin_manages_nothing(accounts: Accounts) -> None:
    admin = await set_up(accounts)
    eve = as_caller(await accounts.people.create("Eve", WORD, "admin", by=admin))
    _, secret = await accounts.keys.create(eve, "ci", ["admin"], None)
    await accounts.people.change(eve.user_id, role="member", by=admin)
    caller = await accounts.caller(secret)
    assert caller is not None
    assert not caller.is_admin


async def test_keys_do_not_grow_without_end(accounts: Accounts) -> None:
    admin = await set_up(accounts)
    for n in range(50):
        await accounts.keys.create(admin, f"key {n}", ["read"], None)
    with pytest.raises(Problem) as caught:
        await accounts.keys.create(admin, "one more", ["read"], None)
    assert code_of(caught) == "too_many_keys"


@pytest.mark.parametrize("token", ["", "wf_", "wf_nonsense", "x" * 10_000, "\ud800"])
async def test_nonsense_is_nobody(accounts: Accounts, token: str) -> None:
    assert await accounts.caller(token) is None


# Members


async def test_who_may_do_what_in_a_project(accounts: Accounts, store: Store) -> None:
    ada = await set_up(accounts)
    bob = as_caller(await accounts.people.create("Bob", WORD, "member", by=ada))
    key = await project(store, "prj_1")
    rights, put = accounts.membership.rights, accounts.membership.put
    assert await rights(ada, key) == {"view", "edit", "own"}  # nobody's: the admins'
    assert await rights(bob, key) == frozenset()
    await store.write(lambda tx: accounts.membership.begin(tx, key, bob.user_id))
    assert await rights(bob, key) == {"view", "edit", "own"}
    assert await rights(ada, key) == frozenset()  # an admin manages people, not their texts
    await put(bob, key, ada.user_id, "viewer")
    assert await rights(ada, key) == {"view"}
    await put(bob, key, ada.user_id, "editor")
    assert await rights(ada, key) == {"view", "edit"}
    named = [(each.name, each.role) for each in await accounts.membership.all(key)]
    assert named == [("Bob", "owner"), ("Ada", "editor")]


async def test_what_a_list_shows(accounts: Accounts, store: Store) -> None:
    ada = await set_up(accounts)
    bob = as_caller(await accounts.people.create("Bob", WORD, "member", by=ada))
    for key in ("prj_nobody", "prj_bob", "prj_ada"):
        await project(store, key)
    for key, user in (("prj_bob", bob), ("prj_ada", ada)):
        await store.write(lambda tx: accounts.membership.begin(tx, key, user.user_id))  # noqa: B023
    seen = {
        who.name: [key for key in ("prj_nobody", "prj_bob", "prj_ada") if see(key)]
        for who, see in [(each, await accounts.membership.visible(each)) for each in (ada, bob)]
    }
    assert seen == {"Ada": ["prj_nobody", "prj_ada"], "Bob": ["prj_bob"]}


async def test_a_project_keeps_an_owner(accounts: Accounts, store: Store) -> None:
    ada = await set_up(accounts)
    bob = as_caller(await accounts.people.create("Bob", WORD, "member", by=ada))
    key, membership = await project(store, "prj_1"), accounts.membership
    await store.write(lambda tx: membership.begin(tx, key, bob.user_id))
    for losing in (
        membership.put(bob, key, bob.user_id, "viewer"),
        membership.remove(bob, key, bob.user_id),
    ):
        with pytest.raises(Problem) as caught:
            await losing
        assert code_of(caught) == "last_owner"
    await membership.put(bob, key, ada.user_id, "owner")
    ends = await asyncio.gather(
        membership.remove(bob, key, bob.user_id),
        membership.remove(ada, key, ada.user_id),
        return_exceptions=True,
    )
    assert sum(isinstance(end, Problem) for end in ends) == 1
    assert [each.role for each in await membership.all(key)] == ["owner"]


async def test_unknown_members_and_projects(accounts: Accounts, store: Store) -> None:
    ada, key = await set_up(accounts), await project(store, "prj_1")
    for asking, code in (
        (accounts.membership.put(ada, "prj_x", ada.user_id, "owner"), "project_not_found"),
        (accounts.membership.put(ada, key, "usr_x", "owner"), "user_not_found"),
        (accounts.membership.remove(ada, key, "usr_x"), "member_not_found"),
    ):
        with pytest.raises(Problem) as caught:
            await asking
        assert code_of(caught) == code


# The audit log


async def test_the_audit_log_tells_who_did_what(accounts: Accounts, store: Store) -> None:
    ada, key = await set_up(accounts), await project(store, "prj_1")
    bob = as_caller(await accounts.people.create("Bob", WORD, "member", by=ada))
    await log_in(accounts, "Bob", address="192.0.2.1")
    with pytest.raises(Problem):
        await log_in(accounts, "Bob", "wrong horse", address="192.0.2.2")
    await accounts.membership.put(ada, key, ada.user_id, "owner")
    await accounts.membership.put(ada, key, bob.user_id, "viewer")
    await accounts.people.change(bob.user_id, is_enabled=False, by=ada)
    await accounts.note(ada, "settings.changed", "model", "192.0.2.3")
    told = [(each.user, each.action, each.address) for each in await accounts.audit()]
    assert told == [
        ("Ada", "settings.changed", "192.0.2.3"),
        ("Ada", "user.disabled", ""),
        ("Ada", "member.put", ""),
        ("Ada", "member.put", ""),
        ("", "login.failed", "192.0.2.2"),
        ("Bob", "login", "192.0.2.1"),
        ("Ada", "user.created", ""),
        ("Ada", "user.created", ""),
    ]
    newest = (await accounts.audit())[0]
    older = await accounts.audit(before=newest.n)
    assert [each.n for each in older] == list(range(newest.n - 1, newest.n - 8, -1))
