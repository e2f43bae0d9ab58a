"""What a provider's failure means: tables over status, code and words (engine A4, C18).

The order is part of the rule: the first table that knows the failure names its kind. Digits count only
when they stand alone, so "1,500 tokens" is no status 500.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC
from functools import cached_property
from typing import Any, cast

from wenfang.core import ErrorKind, ModelError, Usage

_MAX_MESSAGE = 500


class _Words:
    """Patterns without regard to case, compiled at the first failure: most processes never see one."""

    def __init__(self, *patterns: str) -> None:
        self._patterns = patterns

    @cached_property
    def _compiled(self) -> re.Pattern[str]:
        return re.compile("|".join(self._patterns), re.IGNORECASE)

    def are_in(self, text: str) -> bool:
        return self._compiled.search(text) is not None


# Never an overflow of the context, whatever else the text says.
_THROTTLED = _Words(
    r"throttl", r"rate.?limit", r"too many requests", r"tokens per (minute|min|day)", r"\btpm\b",
)  # fmt: skip
_OVERFLOW = _Words(
    r"context.?length.?exceeded", r"context_length", r"maximum context length", r"context window",
    r"prompt is too long", r"input is too long", r"too many tokens", r"token limit exceeded",
    r"exceed(s|ed)?\b.{0,60}\b(context|maximum (number of )?(input )?tokens|token limit)",
    r"(input|prompt|request).{0,40}\b(exceeds?|longer than|larger than)\b.{0,60}\b(tokens?|context|limit)",
    r"maximum prompt length", r"reduce the length of the (messages|prompt|input)", r"exceeded.{0,20}n_ctx",
    r"request_too_large", r"model_max_prompt_tokens", r"max(imum)? (input )?tokens? (allowed|is|of)",
    r"(上下文|输入|请求).{0,12}(超出|超过|过长|太长)", r"(超出|超过).{0,16}(上下文|最大长度|token)",
)  # fmt: skip
_QUOTA = _Words(
    r"insufficient.?(quota|balance|funds|credits?)", r"exceeded your current quota", r"billing",
    r"credit balance", r"out of credits", r"payment required", r"quota.{0,20}exhausted", r"arrearage",
    r"available balance", r"余额不足", r"欠费", r"额度(已)?(用尽|不足|耗尽)",
)  # fmt: skip
_REFUSED = _Words(
    r"content.?(policy|filter|management)", r"data_inspection_failed", r"content_policy_violation",
    r"safety (system|settings|filter)", r"flagged as potentially", r"sensitive content",
    r"content exists risk", r"inappropriate content", r"敏感(内容|词|信息)", r"不安全的?内容",
)  # fmt: skip
_AUTH = _Words(
    r"invalid.{0,4}api.?key", r"incorrect api key", r"api.?key.{0,20}(invalid|missing|not valid|expired)",
    r"invalid_api_key", r"authentication", r"unauthorized", r"permission.?denied", r"access denied",
    r"not authorized", r"令牌.{0,8}(无效|过期)", r"身份验证",
)  # fmt: skip
_RATE = _Words(
    r"rate.?limit", r"too many requests", r"throttl", r"requests per (minute|min|second|day)",
    r"tokens per (minute|min|day)", r"concurrency limit", r"\btpm\b|\brpm\b",
    r"请求(过于频繁|过多|频率)", r"限流", r"并发.{0,6}(超|限)",
)  # fmt: skip
_OVERLOAD = _Words(
    r"overload", r"server.?(is )?busy", r"service.?unavailable", r"temporarily unavailable",
    r"internal.?(server.?)?error", r"bad gateway", r"gateway time-?out", r"capacity", r"try again later",
    r"upstream (connect|error|request)", r"insufficient_system_resource", r"engine.{0,20}not ready",
    r"model is (currently )?loading", r"(繁忙|过载|稍后(再试|重试))",
)  # fmt: skip
_NETWORK = _Words(
    r"connection (error|reset|refused|closed|aborted)", r"timed? ?out", r"network error", r"socket hang up",
    r"other side closed", r"econnreset", r"fetch failed",
)  # fmt: skip
_FATAL = _Words(
    r"(model|deployment|endpoint).{0,80}(not (found|exist)|does ?n.t exist|unknown)", r"model_not_found",
    r"no such model", r"模型.{0,20}(不存在|未找到)", r"invalid_request_error",
)  # fmt: skip

_TEXTS: tuple[tuple[_Words, ErrorKind], ...] = (
    (_QUOTA, "quota"),
    (_REFUSED, "refused"),
    (_RATE, "rate"),
    (_AUTH, "auth"),
    (_OVERLOAD, "overload"),
    (_NETWORK, "network"),
    (_FATAL, "fatal"),
)
_STATUSES: dict[int, ErrorKind] = {
    401: "auth", 402: "quota", 403: "auth", 407: "auth", 408: "overload", 409: "overload",
    413: "overflow", 425: "overload", 429: "rate", 499: "network",
    **dict.fromkeys((500, 502, 503, 504, *range(520, 528), 529, 530), "overload"),
}  # fmt: skip
# Statuses that say more than the words that come with them.
_CERTAIN = frozenset({401, 402, 407, 429})
_BARE_STATUS = re.compile(r"(?<![\w.,])(408|429|5[0-3]\d)(?![\w.,]?\w)")


def classify(text: str, status: int | None = None) -> ErrorKind:
    """The kind of a failure. `text` holds everything the provider said: code, type and message."""
    if not _THROTTLED.are_in(text) and _OVERFLOW.are_in(text):
        return "overflow"
    if status in (400, 413) and not text.strip():
        return "overflow"  # some servers answer an overflow without a word
    if _QUOTA.are_in(text):
        return "quota"
    if status in _CERTAIN:
        return _STATUSES[status]
    for words, kind in _TEXTS:
        if words.are_in(text) and not (kind == "fatal" and status in _STATUSES):
            return kind
    if status is None and (bare := _BARE_STATUS.search(text)):
        status = int(bare[1])
    return _STATUSES.get(status or 0, "overload" if status and status >= 500 else "fatal")


def retry_after_s(headers: Mapping[str, str], now: Callable[[], float]) -> float | None:
    """How long the provider asks to wait: `retry-after-ms`, or `retry-after` in seconds or as a date.
    None if it says nothing that can be understood. `now` gives Unix seconds."""
    millis = _number(headers.get("retry-after-ms"))
    if millis is not None:
        return millis / 1000
    text = headers.get("retry-after")
    seconds = _number(text)
    if seconds is not None or not text:
        return seconds
    from email.utils import parsedate_to_datetime  # seldom needed, slow to import

    try:
        date = parsedate_to_datetime(text)
    except ValueError:
        return None
    return max(0.0, (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp() - now())


def _number(text: str | None) -> float | None:
    if text is None or not re.fullmatch(r"\s*\d+(\.\d+)?\s*", text, re.ASCII):
        return None
    return float(text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Redactor:
    """Takes secrets out of what a provider says: the key itself, and whatever looks like one."""

    key: str = ""

    _PATTERN = re.compile(r"(?i)(bearer\s+)\S+|\b(?:sk|pk|rk|gsk|xai)[-_][\w*.\-]{6,}")

    def __call__(self, text: str) -> str:
        if len(self.key) >= 4:
            text = text.replace(self.key, "<key>")
        text = self._PATTERN.sub(lambda m: f"{m[1] or ''}<key>", text)
        return text if len(text) <= _MAX_MESSAGE else text[:_MAX_MESSAGE] + "…"


def spoken(error: Any) -> tuple[str, int | None]:
    """The words of a provider's error object, its code and type in front, and a status if it has one."""
    if not isinstance(error, dict):
        return str(error), None
    fields = cast("dict[str, Any]", error)
    inner = fields.get("error")
    if isinstance(inner, dict):
        return spoken(cast("Any", inner))
    code = fields.get("code", fields.get("status"))
    status = int(str(code)) if re.fullmatch(r"[45]\d\d", str(code), re.ASCII) else None
    parts = [code if status is None else None, fields.get("type")]
    said = fields.get("message") or fields.get("detail") or fields.get("msg") or inner
    parts.append(said if said is not None else fields)
    return " ".join(str(part) for part in parts if part), status


def provider_error(
    error: Any, *, status: int | None, redact: Redactor, retry_after: float | None = None,
    usage: Usage | None = None,
) -> ModelError:  # fmt: skip
    """A `ModelError` from an error object, or from the plain text a server sent instead."""
    text, inner = spoken(error)
    status = inner if status is None or status < 400 else status
    said = redact(" ".join(text.split())) or "no explanation"
    lead = "The provider answered" if status is None else f"The provider answered {status}"
    return ModelError(
        classify(text, status), f"{lead}: {said}", retry_after_s=retry_after, usage=usage
    )
