"""Documents into a project and out of it (studio.md §10, test 5), by mouse, keyboard and on a phone."""

from __future__ import annotations

import re
import zipfile
from base64 import b64encode
from collections.abc import Callable, Mapping
from io import BytesIO
from pathlib import Path, PurePosixPath

import pytest
from playwright.sync_api import BrowserContext, FilePayload, Locator, Page, expect
from tests.browser.rig import Desk, Studio, forgive
from tests.browser.test_looks import check, check_phone, phone  # noqa: F401

from wenfang.problems import PROBLEMS
from wenfang.workspace.documents import (
    WARNINGS,
    Book,
    Part,
    Zip,
    read_document,
    to_docx,
    to_epub,
)

pytestmark = pytest.mark.alone

CHAPTERS = ("第一章 雨夜", "第二章 归人")
BODY = "　　夜色渐深，他推开了那扇沉重的门。\n　　没有人。"
BOOK = Book(title="雨夜归人", parts=tuple(Part(title=title, text=BODY) for title in CHAPTERS))
TEXT = "\n\n".join(f"{title}\n\n{BODY}" for title in CHAPTERS)
PDF = b"%PDF-1.7\n1 0 obj\n<<>>\nendobj\n%%EOF\n"


def zip_of(files: Mapping[str, bytes]) -> bytes:
    with Zip() as package:
        return b"".join([*(package.add(*each) for each in files.items()), package.end()])


SOURCES: dict[str, bytes] = {
    "雨夜.txt": TEXT.encode("gb18030"),
    "雨夜.docx": to_docx(BOOK),
    "雨夜.epub": to_epub(BOOK),
    "雨夜.zip": zip_of({"甲.txt": TEXT.encode(), "乙.pdf": PDF}),
}


def payload(name: str, data: bytes) -> FilePayload:
    return {"name": name, "mimeType": "application/octet-stream", "buffer": data}


def choose(page: Page, *names: str, files: Mapping[str, bytes] = SOURCES) -> None:
    with page.expect_file_chooser() as waiting:
        page.get_by_role("button", name="导入文档").first.click()
    waiting.value.set_files([payload(name, files[name]) for name in names])


def note(page: Page, name: str) -> Locator:
    return page.get_by_role("list", name="导入的文档").get_by_role("listitem").filter(has_text=name)


@pytest.mark.parametrize("name", SOURCES)
def test_05_import(desk: Callable[..., Desk], name: str) -> None:
    at = desk()
    page = at.page
    choose(page, name)
    expect(note(page, name)).to_have_attribute("data-phase", "done")
    expect(note(page, name)).to_contain_text("已新建 2 个文件")
    made = at.project.paths()
    assert [re.sub(r"^\d+ ", "", PurePosixPath(path).stem) for path in made] == list(CHAPTERS)
    for path in made:
        expect(page.get_by_role("treeitem", name=path.split("/")[-1], exact=True)).to_be_visible()
        assert "他推开了那扇沉重的门" in at.read(path).decode()
    expect(at.editor).to_contain_text("他推开了那扇沉重的门")  # the first is open
    expect(page.get_by_role("treeitem", name=made[0].split("/")[-1])).to_have_attribute(
        "aria-current", "true"
    )
    if name.endswith("zip"):
        expect(note(page, name)).to_contain_text("乙.pdf 是")  # the one that was refused


def test_05_a_refused_document_says_why(desk: Callable[..., Desk], errors: list[str]) -> None:
    at = desk(files={"正文/旧.md": "旧的\n"})
    page = at.page
    files = {
        "甲.pdf": PDF,
        "空.txt": b"",
        "乙.docx": SOURCES["雨夜.docx"][:900],
        "好.txt": TEXT.encode(),
    }
    choose(page, *files, files=files)
    expect(note(page, "甲.pdf")).to_contain_text("甲.pdf 是 PDF 文件，不能导入")
    expect(note(page, "空.txt")).to_contain_text("空.txt 里没有文字")
    expect(note(page, "乙.docx")).to_contain_text("乙.docx 已损坏或不完整")
    expect(note(page, "好.txt")).to_contain_text("已新建 2 个文件")
    assert len(at.project.paths()) == 3
    page.emulate_media(color_scheme="dark")
    check(page, "import notes, dark")
    page.emulate_media(color_scheme="light")
    check(page, "import notes, light")
    page.get_by_role("button", name="关闭“甲.pdf”的提示").press("Enter")
    expect(note(page, "甲.pdf")).to_have_count(0)
    forgive(errors, 415, 422)


def test_05_dropped_on_a_folder(desk: Callable[..., Desk]) -> None:
    at = desk(files={"正文/旧.md": "旧的\n"})
    page = at.page
    drop(page.get_by_role("treeitem", name="旧.md"), "新.txt", "只有一段。\n".encode())
    expect(note(page, "新.txt")).to_contain_text("已新建 正文/新.md")
    drop(page.get_by_role("region", name="文件"), "外.txt", "只有一段。\n".encode())
    expect(note(page, "外.txt")).to_contain_text("已新建 外.md")
    drop(page.get_by_role("log"), "别处.txt", b"elsewhere")  # and the page stays
    expect(page.get_by_role("treeitem", name="外.md")).to_be_visible()
    assert sorted(at.project.paths()) == ["外.md", "正文/新.md", "正文/旧.md"]


def test_05_by_keyboard(desk: Callable[..., Desk]) -> None:
    at = desk(files={"正文/旧.md": "旧的\n"})
    page = at.page
    page.on("filechooser", lambda _: None)  # else Playwright may begin to listen after a quick key
    page.get_by_role("treeitem", name="旧.md").focus()
    for _ in range(2):  # a name that is taken gets a number
        with page.expect_file_chooser() as waiting:
            page.keyboard.press("Alt+i")
        waiting.value.set_files([payload("新.txt", "只有一段。\n".encode())])
        expect(note(page, "新.txt")).to_have_attribute("data-phase", "done")
        page.get_by_role("button", name="关闭“新.txt”的提示").press("Enter")
        page.get_by_role("treeitem", name="旧.md").focus()
    assert sorted(at.project.paths()) == ["正文/新 (2).md", "正文/新.md", "正文/旧.md"]


def test_05_on_a_phone(
    desk: Callable[..., Desk],
    studio: Studio,
    phone: BrowserContext,  # noqa: F811
) -> None:
    made = desk(files={"正文/旧.md": "旧的\n"})
    page = phone.new_page()
    page.goto(f"/p/{made.project.id}")
    page.get_by_role("tab", name="文件").tap()
    check_phone(page, "before")
    files = {"一个名字非常非常非常非常非常非常长的文件.txt": "只有一段。\n".encode(), "甲.pdf": PDF}
    choose(page, *files, files=files)
    expect(page.get_by_role("tab", name="编辑")).to_have_attribute("aria-selected", "true")
    page.get_by_role("tab", name="文件").tap()
    expect(note(page, "甲.pdf")).to_contain_text("不能导入")
    check_phone(page, "import notes")
    page.get_by_role("button", name="导出").tap()
    expect(page.get_by_role("menuitem")).to_have_count(5)
    check_phone(page, "export menu")


EXPORTS = {
    "纯文本（txt）": "txt",
    "Markdown（md）": "md",
    "Word（docx）": "docx",
    "电子书（epub）": "epub",
    "全部文件（zip）": "zip",
}


def test_05_export(desk: Callable[..., Desk]) -> None:
    files = {
        f"正文/{at} {title}.md": f"# {title}\n\n{BODY}\n" for at, title in enumerate(CHAPTERS, 1)
    }
    at = desk(files=files)
    page = at.page
    at.open("正文/1 第一章 雨夜.md")
    at.editor.press("Control+End")
    page.keyboard.insert_text("刚刚写下的一句。")
    for label, format_ in EXPORTS.items():
        page.get_by_role("button", name="导出").press("Enter")
        with page.expect_download() as waiting:
            page.get_by_role("menuitem", name=label).press("Enter")
        assert waiting.value.suggested_filename == f"试验.{format_}"
        data = Path(waiting.value.path()).read_bytes()
        if format_ == "zip":
            with zipfile.ZipFile(BytesIO(data)) as package:
                assert sorted(package.namelist()) == sorted(files)
                text = package.read("正文/1 第一章 雨夜.md").decode()
        else:
            document = read_document(f"试验.{format_}", data)
            text = "\n".join(f"{section.title}\n{section.text}" for section in document.sections)
            assert text.index(CHAPTERS[0]) < text.index(CHAPTERS[1])
        assert "刚刚写下的一句。" in text
    expect(page.get_by_text("已导出 试验.zip")).to_be_visible()


def test_05_nothing_to_export(desk: Callable[..., Desk], errors: list[str]) -> None:
    at = desk()
    at.page.get_by_role("button", name="导出").click()
    check(at.page, "export menu")
    at.page.get_by_role("menuitem", name="Word（docx）").click()
    expect(at.page.get_by_text("没有可以导出的文字")).to_be_visible()
    forgive(errors, 409)


@pytest.mark.parametrize("language", ["zh", "en"])
def test_05_every_code_has_words(root: Path, language: str) -> None:
    words = (root / f"web/src/i18n/{language}-documents.ts").read_text("utf-8")
    keys = set(re.findall(r'^ {2}"([^"]+)":', words, re.M))
    codes = [f"problem.{code}" for code in PROBLEMS if re.match("document_|.*export", code)]
    assert {*codes, *(f"warning.{code}" for code in WARNINGS)} - keys == set()


def drop(on: Locator, name: str, data: bytes) -> None:
    """As a person drops a file from the desktop; the page must not be left."""
    on.evaluate(
        """(node, { name, data }) => {
          const bytes = Uint8Array.from(atob(data), (each) => each.charCodeAt(0));
          const dataTransfer = new DataTransfer();
          dataTransfer.items.add(new File([bytes], name));
          for (const type of ["dragenter", "dragover", "drop"]) {
            const kept = !node.dispatchEvent(new DragEvent(type, { bubbles: true, cancelable: true, dataTransfer }));
            if (type === "drop" && !kept) throw new Error("the browser would open the file");
          }
        }""",
        {"name": name, "data": b64encode(data).decode()},
    )
