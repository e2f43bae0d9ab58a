"""C18: what a failure means, from its status and words."""

from typing import Any

import pytest

from wenfang.models.errors import Redactor, classify, provider_error, retry_after_s

_TEXTS: list[tuple[str, int | None, str]] = [
    # overflow of the context, as providers and servers word it
    ("context_length_exceeded invalid_request_error This model's maximum context length is 128000 tokens.", 400, "overflow"),
    ("prompt is too long: 213462 tokens > 200000 maximum", 400, "overflow"),
    ("Input is too long for requested model.", 400, "overflow"),
    ("The input token count (1196265) exceeds the maximum number of tokens allowed (1048576).", 400, "overflow"),
    ("This model's maximum prompt length is 131072 but the request contains 537812 tokens.", 400, "overflow"),
    ("Please reduce the length of the messages or completion.", 400, "overflow"),
    ("the request exceeds the available context size (4096 tokens), try increasing it", 400, "overflow"),
    ("exceed_context_size_error request (5000 tokens) exceeds the available context size", 400, "overflow"),
    ("Requested token count exceeds the model's maximum context length of 32768 tokens.", 400, "overflow"),
    ("request_too_large Request exceeds the maximum size", 413, "overflow"),
    ("", 413, "overflow"),
    ("", 400, "overflow"),
    ("输入长度超过模型的最大长度", 400, "overflow"),
    # and what looks like one but is not
    ("Rate limit reached: too many tokens per min (TPM): Limit 30000, Requested 31000.", 429, "rate"),
    ("ThrottlingException: Too many tokens, please wait before trying again.", 429, "rate"),
    ("Your request used 1,500 tokens", 400, "fatal"),
    ("max_tokens must be at most 8192, got 500", 400, "fatal"),
    # money
    ("insufficient_quota You exceeded your current quota, please check your plan and billing details.", 429, "quota"),
    ("Insufficient Balance", 402, "quota"),
    ("Your credit balance is too low to access the API.", 400, "quota"),
    ("您的账户余额不足，请充值", 429, "quota"),
    ("Access denied, please make sure your account is in good standing. Arrearage", 400, "quota"),
    ("", 402, "quota"),
    # keys
    ("invalid_api_key Incorrect API key provided", 401, "auth"),
    ("Unauthorized", None, "auth"),
    ("API key not valid. Please pass a valid API key.", 400, "auth"),
    ("permission_denied", 403, "auth"),
    ("", 403, "auth"),
    # the words themselves are refused
    ("content_policy_violation Your request was rejected by our safety system.", 400, "refused"),
    ("data_inspection_failed Output data may contain inappropriate content.", 400, "refused"),
    ("输入内容包含敏感信息", 400, "refused"),
    # too much at once
    ("Too Many Requests", 429, "rate"),
    ("rate_limit_exceeded", None, "rate"),
    ("请求过于频繁", 400, "rate"),
    ("429 Too Many", None, "rate"),
    # the provider's trouble
    ("overloaded_error Overloaded", 529, "overload"),
    ("The server is busy, please try again later.", 503, "overload"),
    ("Internal server error", 500, "overload"),
    ("upstream connect error or disconnect/reset before headers", 503, "overload"),
    ("", 502, "overload"),
    ("", 524, "overload"),
    ("", 599, "overload"),
    ("error code: 502", None, "overload"),
    ("模型繁忙，请稍后重试", 400, "overload"),
    ("Connection reset by peer: connection error", None, "network"),
    ("Request timed out.", None, "network"),
    # nothing a second try would mend
    ("The model `gpt-9` does not exist or you do not have access to it.", 404, "fatal"),
    ("model 'qwen9' not found, try pulling it first", 404, "fatal"),
    ("invalid_request_error Unrecognized request argument supplied: foo", 400, "fatal"),
    ("no explanation", 404, "fatal"),
    ("build 1502 of version 5.0.3 says no", None, "fatal"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "status", "kind"), _TEXTS)
def test_kind(text: str, status: int | None, kind: str) -> None:
    assert classify(text, status) == kind


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
        ({"retry-after": "Thu, 01 Jan 1970 00:02:00 GMT"}, 20.0),
        ({"retry-after": "Thu, 01 Jan 1970 00:02:00"}, 20.0),
        ({"retry-after": "Thu, 01 Jan 1970 00:00:00 GMT"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-3"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "1e9"}, None),
        ({"retry-after": ""}, None),
        ({}, None),
    ],
)
def test_retry_after(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after_s(headers, now=lambda: 100.0) == seconds


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("Incorrect API key provided: secret-key-1", "Incorrect API key provided: <key>"),
        ("bad sk-proj-abcdef123456 used", "bad <key> used"),
        ("header Authorization: Bearer abc.def", "header Authorization: Bearer <key>"),
        ("key sk-ab***********yz", "key <key>"),
        ("nothing secret", "nothing secret"),
    ],
)
def test_secrets_are_taken_out(said: str, shown: str) -> None:
    assert Redactor(key="secret-key-1")(said) == shown


def test_long_texts_are_cut() -> None:
    assert len(Redactor()("x" * 10_000)) < 600


@pytest.mark.parametrize(
    ("error", "status", "kind", "words"),
    [
        ({"message": "Overloaded", "code": 529}, None, "overload", "answered 529: Overloaded"),
        ({"error": {"message": "no", "type": "t", "code": "c"}}, 400, "fatal", "400: c t no"),
        ({"object": "error", "message": "bad", "code": 400}, None, "fatal", "400: bad"),
        ({"detail": "Not Found"}, 404, "fatal", "404: Not Found"),
        ({"error": "plain words"}, 503, "overload", "503: plain words"),
        ({}, 500, "overload", "500: no explanation"),
        ("", 500, "overload", "no explanation"),
        ("<html>502</html>", 502, "overload", "502"),
        (["odd"], None, "fatal", "['odd']"),
        ({"message": "x", "code": 429}, 200, "rate", "answered 429"),
    ],
)
def test_error_objects(error: Any, status: int | None, kind: str, words: str) -> None:
    failure = provider_error(error, status=status, redact=Redactor()).failure
    assert failure.kind == kind
    assert words in failure.message
