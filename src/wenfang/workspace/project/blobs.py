"""Contents by their hash (design M8), compressed: whole, or as what differs from a whole one.

A difference always refers to a whole content, never to another difference, so that any revision is two
reads away, and it is stored only while it is much smaller than the content itself: a text that drifts
away from its base gets a new one.

Many files may share a content, also of several projects, so those who begin to use one and those who drop
one meet at its row: a user shares it with other users until its transaction ends, and who drops it never
waits (docs/notes/locks-on-files.md).
"""

from __future__ import annotations

import hashlib
import sys
from collections import OrderedDict
from collections.abc import Iterable
from threading import Lock

import sqlalchemy as sa

from wenfang.storage import Tx, blobs, files, mirrored, revisions

from ..errors import WorkspaceError

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

_LARGEST_SHARE = 0.25  # of the whole content's size, that a difference may have
_SMALLEST_BASE = 256  # bytes; less says nothing about how well a text compresses
_LONG = 128 * 1024  # from here on, matches are looked for beyond the usual window
_WINDOWS = range(10, 28)  # log2 of bytes; 27 is what every decoder accepts

_AT_ONCE = 500  # names in one question to the database
_RECENT_BYTES = 16 * 1024 * 1024

_ROW = sa.select(blobs.c.base, blobs.c.data).where(blobs.c.hash == sa.bindparam("hash"))
_MANY = sa.select(blobs.c.hash, blobs.c.base, blobs.c.data)
_KNOWN = sa.select(blobs.c.base, blobs.c.size_bytes, sa.func.length(blobs.c.data)).where(
    blobs.c.hash == sa.bindparam("hash")
)
_HOLD = (
    sa.select(blobs.c.hash)
    .where(blobs.c.hash == sa.bindparam("hash"))
    .with_for_update(read=True, key_share=True)
)
_TAKE = (
    sa.select(blobs.c.hash)
    .where(blobs.c.hash == sa.bindparam("hash"))
    .with_for_update(skip_locked=True)
)
# SQLAlchemy has a word for this in each dialect only; the databases have the same.
_ADD = sa.text(
    "INSERT INTO blobs (hash, base, size_bytes, data) VALUES (:hash, :base, :size_bytes, :data)"
    " ON CONFLICT (hash) DO NOTHING RETURNING hash"
).bindparams(sa.bindparam("data", type_=sa.LargeBinary))
_USES = sa.union_all(
    sa.select(files.c.hash).where(files.c.hash == sa.bindparam("hash")),
    sa.select(revisions.c.hash).where(revisions.c.hash == sa.bindparam("hash")),
    sa.select(blobs.c.base).where(blobs.c.base == sa.bindparam("hash")),
    sa.select(mirrored.c.hash).where(mirrored.c.hash == sa.bindparam("hash")),
).limit(1)


def hash_of(data: bytes) -> str:
    """The name of a content, and the revision token that writers compare."""
    return hashlib.sha256(data).hexdigest()


_BLANK = hash_of(b"")  # every new file begins with it, so that dropping it would make them wait


def put(tx: Tx, data: bytes, *, like: str | None = None) -> str:
    """Keep a content; returns its hash. `like` is the hash of one that it was probably made from.

    Until the transaction ends nobody drops it.
    """
    name = hash_of(data)
    if _is_held(tx, name):
        return name
    base = None
    packed = _difference(tx, data, like) if like is not None else None
    if packed is not None:
        base, stored = packed
    else:
        stored = _compressed(data, None)
    row = {"hash": name, "base": base, "size_bytes": len(data), "data": stored}
    # Another may add it first, and yet another drop it again before we hold it.
    while tx.sa.execute(_ADD, row).one_or_none() is None and not _is_held(tx, name):
        pass
    _recent.add(name, data)
    return name


def put_all(tx: Tx, contents: Iterable[bytes]) -> None:
    """Keep many contents, in an order that all keep, so that two who add the same do not wait for each
    other. A transaction that is going to `put` more than one new content begins with it."""
    put(tx, b"")
    for _, data in sorted((hash_of(data), data) for data in contents):
        put(tx, data)


def _is_held(tx: Tx, name: str) -> bool:
    return tx.sa.execute(_HOLD, {"hash": name}).one_or_none() is not None


class _Recent:
    """Contents that were used last. A hash names one content for ever, in whatever database."""

    def __init__(self) -> None:
        self._known: OrderedDict[str, bytes] = OrderedDict()
        self._size = 0
        self._lock = Lock()

    def get(self, name: str) -> bytes | None:
        with self._lock:
            data = self._known.get(name)
            if data is not None:
                self._known.move_to_end(name)
            return data

    def clear(self) -> None:
        with self._lock:
            self._known.clear()
            self._size = 0

    def add(self, name: str, data: bytes) -> None:
        with self._lock:
            if name not in self._known:
                self._known[name] = data
                self._size += len(data)
                while self._size > _RECENT_BYTES:
                    self._size -= len(self._known.popitem(last=False)[1])


_recent = _Recent()


def get(tx: Tx, name: str) -> bytes:
    """A content by its hash. Raises `WorkspaceError` "content_damaged" if it is not what it was."""
    data = _recent.get(name)
    if data is None:
        data = _read(tx, name)
        _recent.add(name, data)
    return data


def _read(tx: Tx, name: str) -> bytes:
    base, data = tx.sa.execute(_ROW, {"hash": name}).one()
    return _unpacked(name, data, None if base is None else get(tx, base))


def _unpacked(name: str, data: bytes, base: bytes | None) -> bytes:
    try:
        return zstd.decompress(data, zstd_dict=_prefix(base))
    except zstd.ZstdError as error:
        raise WorkspaceError("content_damaged", id=name) from error


def get_all(tx: Tx, names: Iterable[str]) -> dict[str, bytes]:
    """Many contents at once; what is not among the recent ones does not become so."""
    found = {name: _recent.get(name) for name in names}
    missing = [name for name, data in found.items() if data is None]
    rows: dict[str, tuple[str | None, bytes]] = {}
    for at in range(0, len(missing), _AT_ONCE):
        some = _MANY.where(blobs.c.hash.in_(missing[at : at + _AT_ONCE]))
        rows |= {name: (base, data) for name, base, data in tx.sa.execute(some)}
    for name, (base, data) in rows.items():
        found[name] = _unpacked(name, data, None if base is None else get(tx, base))
    return {name: data for name, data in found.items() if data is not None}


def drop_unused(tx: Tx, name: str) -> None:
    """Remove a content that no file, no revision, no difference and no mirror refers to. It comes
    last in a transaction. One that somebody else begins to use or drops at this moment is left to them."""
    if name == _BLANK or tx.sa.execute(_TAKE, {"hash": name}).one_or_none() is None:
        return
    if tx.sa.execute(_USES, {"hash": name}).one_or_none() is None:
        tx.sa.execute(blobs.delete().where(blobs.c.hash == name))


def _difference(tx: Tx, data: bytes, like: str) -> tuple[str, bytes] | None:
    """What `data` differs in from the whole content behind `like`, if that is worth it."""
    known = tx.sa.execute(_KNOWN, {"hash": like}).one_or_none()
    if known is None:
        return None
    base = known[0] or like
    if known[0] is not None:
        known = tx.sa.execute(_KNOWN, {"hash": base}).one()
    _, base_bytes, base_stored = known
    if base_bytes < _SMALLEST_BASE:
        return None
    whole_bytes = base_stored * len(data) / base_bytes
    stored = _compressed(data, get(tx, base))
    return (base, stored) if len(stored) < whole_bytes * _LARGEST_SHARE else None


def _compressed(data: bytes, base: bytes | None) -> bytes:
    total = len(data) + len(base or b"")
    window = min(max(total.bit_length(), _WINDOWS[0]), _WINDOWS[-1])
    options: dict[int, int] = {
        zstd.CompressionParameter.compression_level: 1 if total > _LONG else 3,
        zstd.CompressionParameter.window_log: window,
        zstd.CompressionParameter.enable_long_distance_matching: int(total > _LONG),
        zstd.CompressionParameter.checksum_flag: 1,
    }
    return zstd.compress(data, options=options, zstd_dict=_prefix(base))


def _prefix(base: bytes | None):
    return zstd.ZstdDict(base, is_raw=True).as_prefix if base else None
