"""People: oneself, the others, and who takes part in a project."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query, Request, Response

from wenfang.accounts import Accounts, Caller
from wenfang.accounts import ApiKey as StoredKey
from wenfang.accounts import User as StoredUser
from wenfang.problems import Problem

from ..access import Admitted, Router, address_of, token_of
from ..errors import documented
from ..services import Served, Services
from ..shapes import (
    Account,
    ApiKey,
    AuditEntry,
    KeyIn,
    LoginIn,
    Me,
    Member,
    MemberIn,
    NewKey,
    NewUserIn,
    PasswordIn,
    PasswordsIn,
    SetUpIn,
    User,
    UserIn,
)

router = Router(prefix="/api", tags=["accounts"])


def _accounts(services: Services) -> Accounts:
    if services.accounts is None:
        raise Problem("accounts_off")
    return services.accounts


# Oneself


@router.get("/account")
async def read_account(services: Served, caller: Admitted) -> Account:
    """Whether one has to log in here, and who has. Open to everyone."""
    if services.accounts is None:
        return Account(mode="local", needs_setup=False)
    user = _me(caller) if caller.user_id else None
    needs_setup = user is None and not await services.accounts.people.any()
    return Account(mode="accounts", needs_setup=needs_setup, user=user)


@router.post(
    "/account/setup",
    responses=documented("accounts_off", "setup_done", "setup_code_wrong", "password_weak"),
)
async def set_up(body: SetUpIn, services: Served, request: Request, response: Response) -> Me:
    """Make the first admin, with the code that the server printed when it started."""
    people = _accounts(services).people
    await people.set_up(
        body.name,
        body.password.get_secret_value(),
        code=body.code.get_secret_value(),
        expected=services.setup_code,
    )
    return await log_in(
        LoginIn(name=body.name, password=body.password), services, request, response
    )


@router.post(
    "/account/login", responses=documented("accounts_off", "login_failed", "login_throttled")
)
async def log_in(body: LoginIn, services: Served, request: Request, response: Response) -> Me:
    """Log in; the answer sets a cookie that scripts cannot read."""
    made = await _accounts(services).logins.log_in(
        body.name,
        body.password.get_secret_value(),
        address=address_of(request),
        agent=request.headers.get("user-agent", ""),
    )
    request.app.state.cookie.put(response, made.token)
    return Me(id=made.user.id, name=made.user.name, role=made.user.role)


@router.post("/account/logout", status_code=204)
async def log_out(services: Served, request: Request, response: Response) -> None:
    """Also fine for one who is not logged in."""
    token = token_of(request)
    if token and services.accounts is not None:
        await services.accounts.logins.log_out(token)
    request.app.state.cookie.drop(response)


@router.put(
    "/account/password",
    status_code=204,
    responses=documented("accounts_off", "password_wrong", "password_weak", "login_required"),
)
async def change_password(
    body: PasswordsIn, services: Served, request: Request, caller: Admitted
) -> None:
    """Change one's own; all other logins end."""
    await _accounts(services).people.change_password(
        caller.user_id,
        body.old.get_secret_value(),
        body.new.get_secret_value(),
        keep=token_of(request),
    )


@router.get("/account/keys", responses=documented("accounts_off", "login_required"))
async def list_keys(services: Served, caller: Admitted) -> list[ApiKey]:
    return [_key(each) for each in await _accounts(services).keys.all(caller.user_id)]


@router.post(
    "/account/keys",
    status_code=201,
    responses=documented("accounts_off", "forbidden", "too_many_keys", "login_required"),
)
async def create_key(body: KeyIn, services: Served, caller: Admitted) -> NewKey:
    """The secret is shown in this answer only."""
    key, secret = await _accounts(services).keys.create(
        caller, body.name, body.scopes, body.expires_at
    )
    return NewKey(**_key(key).model_dump(), secret=secret)


@router.delete(
    "/account/keys/{kid}",
    status_code=204,
    responses=documented("accounts_off", "key_not_found", "login_required"),
)
async def revoke_key(kid: str, services: Served, caller: Admitted) -> None:
    await _accounts(services).keys.revoke(caller, kid)


# Others


@router.get("/users", responses=documented("accounts_off", "forbidden"))
async def list_users(services: Served) -> list[User]:
    """All people, oldest account first."""
    return [_user(each) for each in await _accounts(services).people.all()]


@router.post(
    "/users",
    status_code=201,
    responses=documented("accounts_off", "forbidden", "user_exists", "password_weak"),
)
async def create_user(body: NewUserIn, services: Served, caller: Admitted) -> User:
    password = body.password.get_secret_value()
    people = _accounts(services).people
    return _user(await people.create(body.name, password, body.role, by=caller))


@router.patch(
    "/users/{uid}",
    responses=documented("accounts_off", "forbidden", "user_not_found", "last_admin"),
)
async def change_user(uid: str, body: UserIn, services: Served, caller: Admitted) -> User:
    """Change what is given. Who is disabled is logged out everywhere."""
    people = _accounts(services).people
    return _user(await people.change(uid, role=body.role, is_enabled=body.enabled, by=caller))


@router.put(
    "/users/{uid}/password",
    status_code=204,
    responses=documented("accounts_off", "forbidden", "user_not_found", "password_weak"),
)
async def set_user_password(uid: str, body: PasswordIn, services: Served, caller: Admitted) -> None:
    """For one who forgot it; ends all logins and keys of that user."""
    password = body.password.get_secret_value()
    await _accounts(services).people.set_password(uid, password, by=caller)


@router.get("/audit", responses=documented("accounts_off", "forbidden"))
async def read_audit(
    services: Served, before: Annotated[int | None, Query(ge=1, le=2**53)] = None
) -> list[AuditEntry]:
    """What was done to accounts, members and settings; newest first, a hundred at a time."""
    return [
        AuditEntry(
            n=each.n,
            at=each.at,
            user=each.user or each.user_id,
            action=each.action,
            target=each.target,
            detail=each.detail,
            address=each.address,
        )
        for each in await _accounts(services).audit(before)
    ]


# Members of a project


@router.get("/projects/{pid}/members", responses=documented("accounts_off", "project_not_found"))
async def list_members(pid: str, services: Served) -> list[Member]:
    return [
        Member(user_id=each.user_id, name=each.name, role=each.role)
        for each in await _accounts(services).membership.all(pid)
    ]


@router.put(
    "/projects/{pid}/members",
    status_code=204,
    responses=documented(
        "accounts_off", "project_not_found", "user_not_found", "last_owner", "forbidden"
    ),
)
async def put_member(pid: str, body: MemberIn, services: Served, caller: Admitted) -> None:
    """Let someone take part, by name, or change how."""
    accounts = _accounts(services)
    user = await accounts.people.named(body.name)
    await accounts.membership.put(caller, pid, user.id, body.role)


@router.delete(
    "/projects/{pid}/members/{uid}",
    status_code=204,
    responses=documented(
        "accounts_off", "project_not_found", "member_not_found", "last_owner", "forbidden"
    ),
)
async def remove_member(pid: str, uid: str, services: Served, caller: Admitted) -> None:
    """Anyone can leave; only an owner can make others leave."""
    membership = _accounts(services).membership
    if uid != caller.user_id and "own" not in await membership.rights(caller, pid):
        raise Problem("forbidden")
    await membership.remove(caller, pid, uid)


def _me(caller: Caller) -> Me:
    return Me(id=caller.user_id, name=caller.name, role=caller.role)


def _user(user: StoredUser) -> User:
    return User(
        id=user.id,
        name=user.name,
        role=user.role,
        created_at=user.created_at,
        enabled=user.disabled_at is None,
    )


def _key(key: StoredKey) -> ApiKey:
    return ApiKey(
        id=key.id,
        name=key.name,
        prefix=key.prefix,
        scopes=sorted(key.scopes),
        created_at=key.created_at,
        expires_at=key.expires_at,
        seen_at=key.seen_at,
    )
