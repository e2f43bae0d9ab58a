"""Who may use which route: one table, and the class of all routes that reads it.

Without accounts every request is from this machine's one user. With accounts a request has a login's
cookie or an API key, and each route says what it needs. Whoever may not see a project is told that
there is none.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from functools import partial
from types import MappingProxyType
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request, Response
from fastapi.routing import APIRoute

from wenfang.accounts import LOCAL, Accounts, Caller, Right, Scope
from wenfang.problems import Problem

from .services import Services
from .streams import Check

_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """`scope` is that of an API key. `right` is one in the project that the path names, by itself or by a
    session or run in it. `is_open`: nobody is asked; `admin`: the role; `in_person`: no key will do.
    `per_hour` is how often a user may do it, 0: as often as one likes; what asks a model has a number."""

    scope: Scope = "read"
    right: Right | None = None
    is_open: bool = False
    admin: bool = False
    in_person: bool = False
    per_hour: int = 0


_OPEN = Need(is_open=True)
_LOOK, _CHANGE = Need(), Need(scope="write")
_VIEW, _EDIT = Need(right="view"), Need(right="edit", scope="write")
_OWN = Need(right="own", scope="write")
_ADMIN = Need(admin=True, scope="admin")
_MYSELF = Need(in_person=True)

NEEDS: Mapping[str, Need] = MappingProxyType(
    {
        "health": _OPEN,
        "ready": _OPEN,
        "info": _LOOK,
        # Oneself
        "read_account": _OPEN,
        "set_up": _OPEN,
        "log_in": _OPEN,
        "log_out": _OPEN,
        "change_password": _MYSELF,
        "list_keys": _MYSELF,
        "create_key": _MYSELF,
        "revoke_key": _MYSELF,
        # Others
        "list_users": _ADMIN,
        "create_user": _ADMIN,
        "change_user": _ADMIN,
        "set_user_password": replace(_ADMIN, in_person=True),
        "read_audit": _ADMIN,
        "list_members": _VIEW,
        "put_member": _OWN,
        "remove_member": _VIEW,  # oneself; others need more, see the route
        # Projects
        "list_projects": _LOOK,
        "create_project": _CHANGE,
        "rename_project": _OWN,
        "delete_project": _OWN,
        "restore_project": _OWN,
        "list_templates": _LOOK,
        # Files
        "list_files": _VIEW,
        "read_file": _VIEW,
        "save_file": _EDIT,
        "delete_file": _EDIT,
        "restore_file": _EDIT,
        "create_folder": _EDIT,
        "rename": _EDIT,
        "list_versions": _VIEW,
        "read_version": _VIEW,
        "restore_version": _EDIT,
        "find": _VIEW,
        "arrange": _EDIT,
        "import_file": _EDIT,
        "export_file": _VIEW,
        # Sessions and runs
        "list_sessions": _VIEW,
        "create_session": _EDIT,
        "rename_session": _EDIT,
        "delete_session": _EDIT,
        "snapshot": _VIEW,
        "project_events": _VIEW,
        "start_run": replace(_EDIT, per_hour=60),
        "read_run": _VIEW,
        "stop_run": replace(_EDIT, per_hour=240),
        "steer_run": replace(_EDIT, per_hour=120),
        "run_events": _VIEW,
        # The server's own
        "read_settings": _ADMIN,
        "save_settings": _ADMIN,
        "try_settings": replace(_ADMIN, per_hour=120),
        "read_probe": _ADMIN,
        "find_dialect": replace(_ADMIN, per_hour=30),
        "cancel_probe": _ADMIN,
        "read_model": _LOOK,
        "pull_model": _ADMIN,
        "cancel_pull": _ADMIN,
    }
)


async def admit(request: Request, route: str) -> Caller:
    """Who the request is from. Raises Problem `login_required`, `origin_refused`, `forbidden`,
    `rate_limited`, or that what the path names is not there."""
    services: Services = request.app.state.services
    if services.accounts is None:
        return LOCAL
    need = NEEDS[route]
    caller = await _caller(request, services.accounts)
    if need.is_open:
        return caller or _NOBODY
    if caller is None:
        raise Problem("login_required")
    if (
        (need.admin and not caller.is_admin)
        or need.scope not in caller.scopes
        or (need.in_person and caller.via != "login")
    ):
        raise Problem("forbidden")
    if need.right is not None:
        await _check_right(services, services.accounts, caller, need.right, request.path_params)
    if need.per_hour:
        await services.accounts.spend(caller, route, need.per_hour)
    return caller


class AdmittedRoute(APIRoute):
    """A route that reads nothing of a request's body before the caller is admitted."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()

        async def admitted(request: Request) -> Response:
            request.state.caller = await admit(request, self.name)
            return await handle(request)

        return admitted


class Router(APIRouter):
    """The routes of one thing, which `NEEDS` guards."""

    def __init__(self, *, tags: list[str | Enum], prefix: str = "") -> None:
        super().__init__(prefix=prefix, tags=tags, route_class=AdmittedRoute)


async def _caller_of(request: Request) -> Caller:
    caller: Caller = request.state.caller
    return caller


async def _check_of(request: Request) -> Check | None:
    services: Services = request.app.state.services
    if services.accounts is None:
        return None
    return partial(admit, request, request.scope["route"].name)


Admitted = Annotated[Caller, Depends(_caller_of)]

Checked = Annotated[Check | None, Depends(_check_of)]
"""For answers that last: asks again whether the request would be admitted. None: everyone is."""

_NOBODY = Caller(user_id="", name="", role="member", scopes=frozenset())


def token_of(request: Request) -> str:
    """The login's token, empty if there is none."""
    return request.cookies.get(request.app.state.cookie.name, "")


def address_of(request: Request) -> str:
    """Where the request comes from, as the proxy in front of the server tells."""
    return request.client.host if request.client else ""


async def note(services: Services, caller: Caller, request: Request, target: str = "") -> None:
    """Write into the audit log that the route of this request was used."""
    if services.accounts is not None:
        action = request.scope["route"].name
        await services.accounts.note(caller, action, target, address_of(request))


async def _caller(request: Request, accounts: Accounts) -> Caller | None:
    scheme, _, key = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer" and key:
        return await accounts.caller(key.strip())
    token = token_of(request)
    caller = await accounts.caller(token) if token else None
    if caller is not None and request.method not in _SAFE and not _is_own_page(request):
        raise Problem("origin_refused", origin="")
    return caller


def _is_own_page(request: Request) -> bool:
    """A browser says from where a request comes; the guard has refused other origins already. A cookie
    from something that does not say it proves nothing."""
    return "origin" in request.headers or request.headers.get("sec-fetch-site") == "same-origin"


async def _check_right(
    services: Services, accounts: Accounts, caller: Caller, right: Right, named: Mapping[str, str]
) -> None:
    """Raises Problem `forbidden`, or the same as for what does not exist."""
    if "rid" in named:
        project_id = (await services.runs.info(named["rid"])).project_id
        hidden = Problem("run_not_found", id=named["rid"])
    elif "sid" in named:
        project_id = (await services.runs.session(named["sid"])).project_id
        hidden = Problem("session_not_found", id=named["sid"])
    else:
        project_id = named["pid"]
        hidden = Problem("project_not_found", id=project_id)
    rights = await accounts.membership.rights(caller, project_id)
    if not rights:
        raise hidden
    if right not in rights:
        raise Problem("forbidden")
