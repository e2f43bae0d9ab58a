"""Every answer that is no success: one envelope, stable codes (docs/wire.md)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ConfigDict
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse

from wenfang.problems import PROBLEMS, Param, Problem
from wenfang.workspace import WorkspaceError

# On every answer; the guard adds them to all but the last resort below, which stands outside of it.
HEADERS = {
    "content-security-policy": (
        "default-src 'self'; img-src 'self' data: blob:; style-src 'self' 'unsafe-inline'; "
        "font-src 'self' data:; object-src 'none'; base-uri 'none'; form-action 'self'; "
        "frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}


class ErrorBody(BaseModel):
    """`code` is stable; `message` is English for developers; the studio has its own words."""

    model_config = ConfigDict(title="Error")

    code: str
    message: str
    params: dict[str, str | int | float | bool | None]


def envelope(problem: Problem) -> JSONResponse:
    body = {"code": problem.code, "message": problem.text("en"), "params": problem.params}
    headers = {"retry-after": str(problem.params["seconds"])} if problem.status == 429 else None
    return JSONResponse(body, problem.status, headers)


async def _problem(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, Problem)
    return envelope(error)


async def _workspace(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, WorkspaceError)
    return envelope(Problem(error.code, **error.params))


async def _invalid(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    field = ".".join(str(part) for part in first["loc"][1:]) or str(first["loc"][0])
    message = str(first["msg"]).removeprefix("Value error, ")
    return envelope(Problem("invalid_request", field=field, problem=message))


async def _http(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    if isinstance(error.__cause__, Problem):  # raised while FastAPI was reading the body
        return envelope(error.__cause__)
    params: dict[int, tuple[str, dict[str, Param]]] = {
        404: ("not_found", {"path": request.url.path}),
        405: ("method_not_allowed", {"method": request.method}),
    }
    fallback: tuple[str, dict[str, Param]] = (
        "invalid_request",
        {"field": "body", "problem": str(error.detail)},
    )
    code, values = params.get(error.status_code, fallback)
    answer = envelope(Problem(code, **values))
    answer.headers.update(error.headers or {})
    return answer


async def _internal(_: Request, _error: Exception) -> JSONResponse:
    answer = envelope(Problem("internal_error"))
    answer.headers.update(HEADERS)
    return answer  # Starlette raises the error again, for the log


def install(app: FastAPI) -> None:
    """Answer every failure of `app` with the envelope."""
    app.add_exception_handler(Problem, _problem)
    app.add_exception_handler(WorkspaceError, _workspace)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(Exception, _internal)


def documented(*codes: str) -> dict[int | str, dict[str, Any]]:
    """The `responses` of a route that can answer with these codes."""
    by_status: dict[int, list[str]] = {}
    for code in (*codes, "invalid_request"):
        by_status.setdefault(PROBLEMS[code].status, []).append(code)
    return {
        status: {"model": ErrorBody, "description": _listed(names)}
        for status, names in sorted(by_status.items())
    }


def _listed(codes: Sequence[str]) -> str:
    return ", ".join(dict.fromkeys(codes))
