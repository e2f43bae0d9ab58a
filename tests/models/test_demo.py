"""The scripted demo: real calls, real streams, and a label on every answer."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.models.fake import ask

from wenfang.core import Agent, Assistant, Delta, ModelRequest, Tool
from wenfang.models import DemoModel
from wenfang.tools import calculator, make_file_tools
from wenfang.workspace import FolderFiles, Workspace

pytestmark = pytest.mark.anyio
FAQ = "How much is a seat?\nA seat costs 18 dollars a month.\n"
PRICES = "打印机 1350 元/台\n办公椅 268 元/把\n"


async def no_sleep(seconds: float) -> None:
    del seconds


@pytest.fixture
def tools(tmp_path: Path) -> list[Tool]:
    """The product's own tools on a small project."""
    for path, text in {
        "docs/faq.txt": FAQ,
        "docs/报价.txt": PRICES,
        "data/a.csv": "",
        "data/b.csv": "",
    }.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text, "utf-8")
    return [*make_file_tools(FolderFiles(Workspace(tmp_path))), calculator]


@pytest.mark.parametrize(
    ("text", "used", "answer"),
    [
        ("data 目录里有几个文件？把这个数乘以 25。", ["list_files", "calculator"], "等于 50"),
        ("data 文件夹里有多少个文件", ["list_files"], "有 2 个文件"),
        ("How many files are in the data folder?", ["list_files"], "There are 2 files in data"),
        ("How many files are in data? Multiply it by 25", ["list_files", "calculator"], "that is 50"),
        ("Read docs/faq.txt and compute the price of 15 seats.", ["read_file", "calculator"], "The price of 15 seats is 270"),
        ("按 docs/报价.txt，买 3 台打印机一共要多少钱？", ["read_file", "calculator"], "共 4050"),
        ("Read docs/faq.txt and compute the price of 15 boats.", ["read_file"], "names no price"),
        ("按 docs/报价.txt，买 3 台电视一共要多少钱？", ["read_file"], "没有找到"),
        ("read docs/faq.txt", ["read_file"], "A seat costs 18"),
        ("读 docs/报价.txt", ["read_file"], "打印机 1350"),
        ("12*(3+4)", ["calculator"], "12*(3+4) = 84"),
        ("Write notes/a.txt with the text: hello", ["write_file"], "notes/a.txt is written"),
        ("新建文件 notes/a.txt，内容是：你好", ["write_file"], "已写好 notes/a.txt"),
        ("read gone.txt", ["read_file"], "That step failed: There is no 'gone.txt'"),
        ("读 gone.txt", ["read_file"], "这一步没有成功"),
        ("How many files are in nowhere?", ["list_files"], "That step failed"),
        ("hello", [], "I only know a few demos"),
        ("你好", [], "我只会几种演示"),
    ],
)  # fmt: skip
async def test_requests(text: str, used: list[str], answer: str, tools: list[Tool]) -> None:
    agent = Agent(DemoModel(sleep=no_sleep), tools)
    end = await agent.run(text)
    calls = [c.name for m in agent.transcript if isinstance(m, Assistant) for c in m.calls]
    assert calls == used
    assert answer in end.answer
    assert "not AI" in end.answer or "不是人工智能" in end.answer
    assert end.status == "done"


async def test_it_writes_what_was_asked(tools: list[Tool], tmp_path: Path) -> None:
    await Agent(DemoModel(sleep=no_sleep), tools).run(
        'Write notes/a.txt with the text: "hello there"'
    )
    assert (tmp_path / "notes/a.txt").read_text().strip() == "hello there"


async def test_it_streams_what_it_says() -> None:
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    items = [item async for item in DemoModel(pace_s=0.5, sleep=sleep).stream(ask("你好 there"))]
    *deltas, reply = items
    assert isinstance(reply, Assistant)
    assert "".join(d.text for d in deltas if isinstance(d, Delta)) == reply.text
    assert len(deltas) > 10
    assert waits == [0.5] * len(deltas)
    assert reply.usage.estimated


async def test_whole_replies_do_not_wait() -> None:
    items = [item async for item in DemoModel(pace_s=99).stream(ask("hello", stream=False))]
    assert len(items) == 1


async def test_without_tools_it_says_what_it_can_do() -> None:
    items = [i async for i in DemoModel(sleep=no_sleep).stream(ask("read docs/faq.txt"))]
    assert "I only know a few demos" in items[-1].text


async def test_words_added_later_are_what_counts(tools: list[Tool]) -> None:
    agent = Agent(DemoModel(sleep=no_sleep), tools)
    agent.steer("12*(3+4)")
    end = await agent.run("hello")
    assert "84" in end.answer


async def test_a_request_without_words() -> None:
    items = [i async for i in DemoModel(sleep=no_sleep).stream(ModelRequest(messages=()))]
    assert items[-1].text


async def test_a_long_request_takes_no_time(tools: list[Tool]) -> None:
    for text in ("1" * 200_000, "写" * 200_000, "data 目录" * 50_000):
        assert (await Agent(DemoModel(sleep=no_sleep), tools).run(text)).status == "done"
