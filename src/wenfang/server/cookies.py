"""The cookie of a login."""

from __future__ import annotations

from dataclasses import dataclass

from starlette.responses import Response

_MAX_AGE_S = 30 * 86400


@dataclass(frozen=True, slots=True)
class LoginCookie:
    """Scripts cannot read it and other sites cannot make a browser send it. Where the server is reached
    over https, no connection without it carries it, and no other host name of the domain can set it."""

    is_secure: bool

    @property
    def name(self) -> str:
        return "__Host-wenfang" if self.is_secure else "wenfang"

    def put(self, response: Response, token: str) -> None:
        response.set_cookie(
            self.name,
            token,
            max_age=_MAX_AGE_S,
            path="/",
            secure=self.is_secure,
            httponly=True,
            samesite="strict",
        )

    def drop(self, response: Response) -> None:
        response.delete_cookie(
            self.name, path="/", secure=self.is_secure, httponly=True, samesite="strict"
        )
