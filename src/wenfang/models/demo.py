"""The scripted demo: answers a few kinds of requests by fixed rules, with real tool calls.

It lets a fresh installation show what a run looks like without any model (local-models §1.8). It is no
AI and says so at the end of every answer.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from functools import cache
from typing import NamedTuple, TypeAlias

from wenfang.core import (
    Assistant,
    Delta,
    Message,
    ModelEvent,
    ModelRequest,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Usage,
    User,
    estimate_request,
    estimate_tokens,
    new_id,
)


class _Use(NamedTuple):
    """The next step is a call; `why` is shown as its thought."""

    tool: str
    arguments: dict[str, str]
    why: str


_Step: TypeAlias = _Use | str  # a call, or the answer


class _Rule(NamedTuple):
    """`step` gets what the pattern found, the language, and the results of the steps before."""

    pattern: re.Pattern[str]
    step: Callable[[re.Match[str], bool, Sequence[str]], _Step]


_LABEL = ("〔脚本演示：按固定规则作答，不是人工智能〕", "[Scripted demo: fixed rules, not AI]")
_HELP = (
    "我只会几种演示：数一个目录里的文件（可再乘以一个数）、读一个文件、按文件里的单价算总价、算一个算式、"
    "写一个文件。例如：“data 目录里有几个文件？把这个数乘以 25。”要真正做事，请下载内置模型或连接服务商。",
    "I only know a few demos: count the files of a folder (and multiply), read a file, compute a price "
    'from a file, work out an expression, write a file. For example: "Read docs/faq.txt and compute the '
    'price of 15 seats." For real work, pull the built-in model or connect a provider.',
)
_PATH = r"([\w\-./\u4e00-\u9fff]*[\w\-\u4e00-\u9fff]\.\w{1,5})"
_NUMBER = re.compile(r"-?\d[\d,]*(?:\.\d+)?")
_FILES = re.compile(r"(\d+) files?\b")
_SHOWN = 400  # characters of a file that an answer quotes
_READ = 500  # characters of a request that the rules look at; patterns are slow on long texts


def _say(zh: bool, chinese: str, english: str) -> str:
    return chinese if zh else english


def _last_number(text: str) -> str:
    found = _NUMBER.findall(text)
    return found[-1].replace(",", "") if found else text.strip()


def _count(match: re.Match[str], zh: bool, results: Sequence[str]) -> _Step:
    folder, factor = next(group for group in match.groups()[:-1] if group), match["factor"]
    if not results:
        return _Use(
            "list_files", {"path": folder}, _say(zh, f"先列出 {folder}。", f"List {folder}.")
        )
    listed = _FILES.search(results[0])
    count = int(listed[1]) if listed else 0
    if not factor:
        return _say(zh, f"{folder} 里有 {count} 个文件。", f"There are {count} files in {folder}.")
    if len(results) == 1:
        why = _say(
            zh, f"有 {count} 个文件，再乘以 {factor}。", f"{count} files; now times {factor}."
        )
        return _Use("calculator", {"expression": f"{count}*{factor}"}, why)
    product = _last_number(results[1])
    return _say(
        zh,
        f"{folder} 里有 {count} 个文件，乘以 {factor} 等于 {product}。",
        f"There are {count} files in {folder}; times {factor} that is {product}.",
    )


def _price(match: re.Match[str], zh: bool, results: Sequence[str]) -> _Step:
    path = match["path"]
    amount, thing = (match["zn"], match["zt"]) if match["zn"] else (match["en"], match["et"])
    if not results:
        why = _say(zh, f"单价在 {path} 里，先读它。", f"The price is in {path}; read it.")
        return _Use("read_file", {"path": path}, why)
    stem = thing if zh else thing.removesuffix("s")
    named = re.compile(rf"{re.escape(stem)}\D{{0,20}}?(\d+(?:\.\d+)?)", re.IGNORECASE)
    price = named.search(results[0])
    if price is None:
        return _say(
            zh, f"{path} 里没有找到“{thing}”的价格。", f"{path} names no price for {thing!r}."
        )
    if len(results) == 1:
        why = _say(
            zh, f"单价 {price[1]}，数量 {amount}。", f"One costs {price[1]}; {amount} are wanted."
        )
        return _Use("calculator", {"expression": f"{amount}*{price[1]}"}, why)
    total = _last_number(results[1])
    return _say(
        zh,
        f"{amount} × {price[1]} = {total}，共 {total}（单价见 {path}）。",
        f"{amount} × {price[1]} = {total}. The price of {amount} {thing} is {total} (see {path}).",
    )


def _write(match: re.Match[str], zh: bool, results: Sequence[str]) -> _Step:
    path, text = match["path"], match["text"].strip()
    if not results:
        return _Use(
            "write_file",
            {"path": path, "content": text},
            _say(zh, f"写入 {path}。", f"Write {path}."),
        )
    return _say(zh, f"已写好 {path}。", f"{path} is written.")


def _read(match: re.Match[str], zh: bool, results: Sequence[str]) -> _Step:
    path = match["path"]
    if not results:
        return _Use("read_file", {"path": path}, _say(zh, f"读 {path}。", f"Read {path}."))
    shown = results[0][:_SHOWN].strip()
    return _say(zh, f"{path} 的开头是：\n\n{shown}", f"{path} begins with:\n\n{shown}")


def _compute(match: re.Match[str], zh: bool, results: Sequence[str]) -> _Step:
    expression = match["expression"].strip()
    if not results:
        why = _say(zh, "用计算器算。", "Use the calculator.")
        return _Use("calculator", {"expression": expression}, why)
    return f"{expression} = {_last_number(results[0])}"


@cache
def _rules() -> tuple[_Rule, ...]:
    """Compiled when the demo is used; few processes use it."""
    return (
        _Rule(
            re.compile(
                r"(?:([\w\-./]+)\s*(?:目录|文件夹).*?(?:几|多少)\s*个?.*?文件"
                r"|how many files.*?\b(?:in|of)\s+(?:the\s+)?([\w\-./]+?)(?:\s+(?:folder|directory)|\?|$))"
                r"(?:.*?(?:乘以|乘|times|multipl\w+.*? by)\s*(?P<factor>\d+))?",
                re.IGNORECASE | re.DOTALL,
            ),
            _count,
        ),
        _Rule(
            re.compile(rf"(?:写|新建|创建|write|create)\D*?{_PATH.replace('(', '(?P<path>', 1)}"
                       r".*?(?:内容是|内容为|内容|写上|saying|with(?: the text)?|:|：)\s*[:：]?\s*[\"“]?(?P<text>[^\"”]+)",
                       re.IGNORECASE | re.DOTALL),
            _write,
        ),
        _Rule(
            re.compile(rf"{_PATH.replace('(', '(?P<path>', 1)}.*?(?:"
                       r"(?P<zn>\d+)\s*[台把块个件张本名位]?\s*(?P<zt>[\u4e00-\u9fff]{1,6}?)(?:一共|共|要|的|总)"
                       r"|price of (?P<en>\d+) (?P<et>[a-z]+))",
                       re.IGNORECASE | re.DOTALL),
            _price,
        ),
        _Rule(
            re.compile(rf"(?:读|看|查|打开|read|show|open)\D*?{_PATH.replace('(', '(?P<path>', 1)}",
                       re.IGNORECASE),
            _read,
        ),
        _Rule(re.compile(r"(?P<expression>[\d(][\d\s.()]*(?:[-+*/×÷^%][\d\s.()]*)+\d\)*)"), _compute),
    )  # fmt: skip


class DemoModel:
    """A `ModelClient` without a model. `pace_s` is the wait between two pieces of a streamed reply,
    so that it reads like one; `sleep` and `new_id` are handed in by tests."""

    name = "scripted-demo"

    def __init__(
        self,
        *,
        pace_s: float = 0.015,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        new_id: Callable[[str], str] = new_id,
    ) -> None:
        self._pace_s = pace_s
        self._sleep = sleep
        self._new_id = new_id

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """See `ModelClient`. The same request always gives the same reply, but for ids."""
        step = _next_step(request)
        if isinstance(step, _Use):
            blocks: tuple[Text | Thinking | ToolCall, ...] = (
                Thinking(text=step.why),
                ToolCall(id=self._new_id("call"), name=step.tool, arguments=dict(step.arguments)),
            )
        else:
            blocks = (Text(text=step),)
        if request.stream:
            for index, block in enumerate(blocks):
                for delta in _deltas(index, block):
                    await self._sleep(self._pace_s)
                    yield delta
        yield Assistant(
            content=blocks,
            stop="tool_use" if isinstance(step, _Use) else "stop",
            usage=Usage(
                input=estimate_request(request), output=estimate_tokens(str(step)), estimated=True
            ),
            model=self.name,
        )


def _next_step(request: ModelRequest) -> _Step:
    text, results = _current(request.messages)
    zh = any("\u4e00" <= char <= "\u9fff" for char in text)
    label = _say(zh, *_LABEL)
    step: _Step = _say(zh, *_HELP)
    found = next(((r, m) for r in _rules() if (m := r.pattern.search(text))), None)
    if results and results[-1].is_error:
        step = _say(
            zh, f"这一步没有成功：{results[-1].text}", f"That step failed: {results[-1].text}"
        )
    elif found is not None:
        rule, match = found
        step = rule.step(match, zh, [result.text for result in results])
    if isinstance(step, str):
        return f"{step}\n\n{label}"
    usable = request.tool_choice != "none" and step.tool in {spec.name for spec in request.tools}
    return step if usable else f"{_say(zh, *_HELP)}\n\n{label}"


def _current(messages: Sequence[Message]) -> tuple[str, list[ToolResult]]:
    """The person's last words and the results of the calls after them."""
    results: list[ToolResult] = []
    for message in reversed(messages):
        if isinstance(message, ToolResult):
            results.append(message)
        elif isinstance(message, User) and message.source in ("user", "steer", "follow_up"):
            return message.text[:_READ], results[::-1]
    return "", []


def _deltas(index: int, block: Text | Thinking | ToolCall) -> list[Delta]:
    if isinstance(block, ToolCall):
        written = json.dumps(dict(block.arguments), ensure_ascii=False)
        return [Delta(kind="call", text=written, index=index, name=block.name)]
    kind = "text" if isinstance(block, Text) else "thinking"
    pieces = re.findall(r"[\u4e00-\u9fff]{1,3}|\s*[^\s\u4e00-\u9fff]+|\s+", block.text)
    return [Delta(kind=kind, text=piece, index=index) for piece in pieces]
