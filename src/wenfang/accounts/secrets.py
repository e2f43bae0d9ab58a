"""Secrets: passwords are hashed slowly (argon2id), long random tokens fast."""

from __future__ import annotations

import asyncio
import hashlib
import secrets as random
from functools import cache
from typing import TYPE_CHECKING

from wenfang.problems import Problem

if TYPE_CHECKING:
    from argon2 import PasswordHasher

SHORTEST, LONGEST = 10, 1000  # characters; long ones only so that nobody sends a book
_AT_ONCE = 2  # a hash takes 64 MiB and a core


@cache
def _hasher() -> PasswordHasher:
    from argon2 import PasswordHasher  # an idle server without accounts has none

    return PasswordHasher()


class Passwords:
    """Hashing in threads, a few at once, so that logins cannot eat the machine."""

    def __init__(self) -> None:
        self._turn = asyncio.Semaphore(_AT_ONCE)
        self._of_nobody = ""

    async def hash(self, password: str, name: str) -> str:
        """What to keep of a new password. Raises Problem `password_weak`."""
        if len(password) < SHORTEST or len(password) > LONGEST:
            raise Problem("password_weak", shortest=SHORTEST, longest=LONGEST)
        if password.strip().casefold() == name.casefold() or len(set(password)) < 3:
            raise Problem("password_weak", shortest=SHORTEST, longest=LONGEST)
        async with self._turn:
            return await asyncio.to_thread(_hasher().hash, password)

    async def is_right(self, password: str, kept: str | None) -> bool:
        """Whether `password` is the one. Nobody's takes as long as a wrong one."""
        async with self._turn:
            return await asyncio.to_thread(self._verify, password, kept)

    def is_outdated(self, kept: str) -> bool:
        """Whether the parameters are older than those in use."""
        return _hasher().check_needs_rehash(kept)

    def _verify(self, password: str, kept: str | None) -> bool:
        from argon2.exceptions import Argon2Error, InvalidHashError

        if kept is None:
            self._of_nobody = self._of_nobody or _hasher().hash(random.token_urlsafe())
        try:
            _hasher().verify(self._of_nobody if kept is None else kept, password[: LONGEST + 1])
        except (Argon2Error, InvalidHashError):
            return False
        return kept is not None


def new_setup_code() -> str:
    """80 bits that a person can copy from a terminal."""
    word = random.token_hex(10)
    return "-".join(word[at : at + 5] for at in range(0, len(word), 5))


def new_token() -> str:
    """256 random bits."""
    return random.token_urlsafe(32)


def token_hash(token: str) -> str:
    """What is kept of a token. Fast is enough: nobody guesses 256 bits."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()
