"""A project, a folder or a file as one book, or as a zip (writing.md UI-11)."""

from __future__ import annotations

import asyncio
import io
import zipfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wenfang.lang import PACKS
from wenfang.problems import Problem
from wenfang.workspace import (
    MEDIA_TYPES,
    Export,
    ExportFormat,
    FolderFiles,
    Imported,
    Workspace,
    WorkspaceError,
    exporting,
)
from wenfang.workspace import export_project as export_files
from wenfang.workspace import import_document as import_files
from wenfang.workspace.documents import read_document

BOOKS: list[ExportFormat] = ["txt", "md", "docx", "epub"]
ALL: list[ExportFormat] = [*BOOKS, "zip"]


def write(project: Path, files: dict[str, str | bytes]) -> Workspace:
    for path, content in files.items():
        file = project / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode() if isinstance(content, str) else content)
    return Workspace(project)


def export_project(files: Workspace, to: ExportFormat, *, title: str, path: str = "") -> Export:
    return asyncio.run(export_files(FolderFiles(files), to, title=title, path=path))


def import_document(files: Workspace, name: str, data: bytes) -> Imported:
    return asyncio.run(import_files(FolderFiles(files), name, data))


def data_of(export: Export) -> bytes:
    async def draw() -> bytes:
        return b"".join([piece async for piece in export.pieces])

    return asyncio.run(draw())


def text_of(files: Workspace, path: str = "", title: str = "书") -> str:
    return data_of(export_project(files, "txt", title=title, path=path)).decode("utf-8-sig")


# Files, and the book as txt (its title above).
ORDERS: dict[str, tuple[dict[str, str | bytes], list[str]]] = {
    "numbers before words": ({"b.md": "乙", "10 c.md": "丙", "2 d.md": "丁"}, ["d\n\n丁", "c\n\n丙", "b\n\n乙"]),
    "a heading is the title": ({"01 x.md": "# 雨夜 \n\n下雨。\n"}, ["雨夜\n\n下雨。"]),
    "a heading behind blank lines": ({"01 x.md": "\n \n# 雨夜\n下雨。"}, ["雨夜\n\n下雨。"]),
    "only the first heading": ({"x.md": "# 雨\n\n一\n\n# 雪\n\n二"}, ["雨\n\n一\n\n# 雪\n\n二"]),
    "a heading below a line is text": ({"x.md": "一\n# 雨"}, ["x\n\n一\n# 雨"]),
    "a heading is none in txt": ({"x.txt": "# 雨\n一"}, ["x\n\n# 雨\n一"]),
    "only a heading": ({"x.md": "# 雨"}, ["雨"]),
    "marks of a heading": ({"x.md": "# 雨\\*夜 ##\n一"}, ["雨*夜\n\n一"]),
    "prefixes": (
        {"01 a.md": "1", "02. b.md": "2", "03_c.md": "3", "4、d.md": "4", "5-e.md": "5", "6年.md": "6", "7.md": "7"},
        ["a\n\n1", "b\n\n2", "c\n\n3", "d\n\n4", "e\n\n5", "6年\n\n6", "7\n\n7"],
    ),
    "chapters by their numbers": (
        {"第十章 末.md": "十", "第二章 中.md": "二", "第一章 始.md": "一"},
        ["第一章 始\n\n一", "第二章 中\n\n二", "第十章 末\n\n十"],
    ),
    "folders are volumes": (
        {"02 风/01 第一章.md": "三", "01 雨/02 第二章.md": "二", "01 雨/01 第一章.md": "一"},
        ["雨", "第一章\n\n一", "第二章\n\n二", "风", "第一章\n\n三"],
    ),
    "a volume's own page": (
        {"01 雨/00.md": "# 雨\n\n卷首", "01 雨/01 第一章.md": "一", "02 风/01 第一章.md": "二"},
        ["雨\n\n卷首", "第一章\n\n一", "风", "第一章\n\n二"],
    ),
    "volumes by their headings": (
        {"01.md": "# 第一卷\n", "02.md": "# 第二章\n二", "03.md": "# 第二卷\n", "04.md": "# 第一章\n一"},
        ["第一卷", "第二章\n\n二", "第二卷", "第一章\n\n一"],
    ),
    "a folder that holds all is none": ({"正文/1.md": "# a\n1", "正文/2.md": "# b\n2"}, ["a\n\n1", "b\n\n2"]),
    "a page named like the book": ({"00.md": "# 书\n\n雨。", "01.md": "# 一\n1"}, ["雨。", "一\n\n1"]),
    "a chapter named like the book": ({"01.md": "# 一\n1", "02.md": "# 书\n2"}, ["一\n\n1", "书\n\n2"]),
    "a volume named like the book": ({"书/1.md": "# a\n1", "风/1.md": "# b\n2"}, ["书", "a\n\n1", "风", "b\n\n2"]),
    "other files are left out": ({"a.md": "1", "b.png": b"\x89PNG", "c.json": "{}", "D.TXT": "2"}, ["a\n\n1", "D\n\n2"]),
    "blank files are left out": ({"a.md": "1", "b.md": " \n\u3000\n", "c.md": ""}, ["a\n\n1"]),
    "our own folder is left out": ({"a.md": "1", ".wenfang/trash/x/item.md": "2"}, ["a\n\n1"]),
    "line ends and byte order marks": ({"a.md": "\ufeff# 雨\r\n\r\n一\r\n二\r"}, ["雨\n\n一\n二"]),
}  # fmt: skip


@pytest.mark.parametrize("row", ORDERS)
def test_UI_11_parts_in_reading_order(tmp_path: Path, row: str) -> None:
    files, parts = ORDERS[row]
    assert text_of(write(tmp_path, files)) == "书\n\n" + "\n\n---\n\n".join(parts) + "\n"


PLACES: dict[str, tuple[str, str, str]] = {
    "the project": ("", "书", "书.txt"),
    "a folder": ("01 雨", "雨", "雨.txt"),
    "a folder by another spelling": ("01 雨/", "雨", "雨.txt"),
    "a file": ("01 雨/02 夜.md", "夜", "夜.txt"),
}


@pytest.mark.parametrize("row", PLACES)
def test_UI_11_a_book_is_named_like_its_place(tmp_path: Path, row: str) -> None:
    path, title, name = PLACES[row]
    files = write(tmp_path, {"01 雨/02 夜.md": "黑。", "x.md": "别的"})
    export = export_project(files, "txt", title="书", path=path)
    text = data_of(export).decode("utf-8-sig")
    assert text.startswith(f"{title}\n")
    assert ("别的" in text) == (path == "")
    assert (export.name, export.media_type) == (name, MEDIA_TYPES["txt"])


@pytest.mark.parametrize(
    ("title", "name"), [("a/b: c?", "a_b_ c_.md"), ("..", "_.md"), ("雨" * 200, "雨" * 65 + ".md")]
)
def test_a_file_s_name_can_be_kept_everywhere(tmp_path: Path, title: str, name: str) -> None:
    files = write(tmp_path, {"a.md": "x"})
    assert len(name.encode()) <= 200
    export = export_project(files, "md", title=title)
    assert export.name == name or (len(title) == 200 and set(export.name) == set("雨.md"))
    assert data_of(export).decode().startswith("# ")


@pytest.mark.parametrize("to", BOOKS)
def test_marks_of_a_txt_file_are_its_text(tmp_path: Path, to: ExportFormat) -> None:
    files = write(tmp_path, {"a.txt": "*他*说 1_2_3\n# 没有\n- 一"})
    data = data_of(export_project(files, to, title="书", path=""))
    (section,) = read_document(f"x.{to}", data).sections
    plain = section.text if to == "txt" else section.text.replace("\\", "")
    assert [line for line in plain.split("\n") if line] == ["*他*说 1_2_3", "# 没有", "- 一"] or (
        to == "txt"  # the title of its only part is no heading there
        and plain.endswith("*他*说 1_2_3\n# 没有\n- 一")
    )


NOTHING: dict[str, tuple[dict[str, str | bytes], list[ExportFormat]]] = {
    "an empty project": ({}, ALL),
    "blank texts": ({"a.md": "\n"}, BOOKS),
    "no texts": ({"a.png": b"\x89PNG"}, BOOKS),
}


@pytest.mark.parametrize("row", NOTHING)
def test_nothing_to_export(tmp_path: Path, row: str) -> None:
    content, formats = NOTHING[row]
    files = write(tmp_path, content)
    for to in formats:
        with pytest.raises(Problem) as failure:
            export_project(files, to, title="书")
        assert (failure.value.code, failure.value.params) == ("nothing_to_export", {"name": "书"})


REFUSED: dict[str, tuple[str, str]] = {
    "missing": ("no.md", "file_not_found"),
    "below a file": ("a.md/b", "path_invalid"),
    "outside": ("../x", "path_invalid"),
    "ours": (".wenfang", "path_invalid"),
    "no utf-8": ("gbk.txt", "file_not_text"),
}


@pytest.mark.parametrize("row", REFUSED)
def test_what_cannot_be_exported(tmp_path: Path, row: str) -> None:
    path, code = REFUSED[row]
    files = write(tmp_path / "project", {"a.md": "x", "gbk.txt": "雨夜".encode("gbk")})
    with pytest.raises(WorkspaceError) as failure:
        export_project(files, "txt", title="书", path=path)
    assert failure.value.code == code
    assert str(tmp_path) not in str(failure.value)


@pytest.mark.parametrize("to", ALL)
def test_a_link_is_not_followed(tmp_path: Path, to: ExportFormat) -> None:
    files = write(tmp_path / "project", {"a.md": "x"})
    (tmp_path / "b.md").write_text("secret")
    (tmp_path / "project" / "b.md").symlink_to(tmp_path / "b.md")
    (tmp_path / "project" / "c").symlink_to(tmp_path)
    assert b"secret" not in data_of(export_project(files, to, title="书"))
    for path in ("b.md", "c", "c/b.md"):
        with pytest.raises((WorkspaceError, Problem)) as failure:
            data_of(export_project(files, to, title="书", path=path))
        assert failure.value.code in ("path_invalid", "nothing_to_export")


def test_a_text_that_cannot_be_read_is_named_not_left_out(tmp_path: Path) -> None:
    files = write(tmp_path, {"a.md": "x", "b/gbk.txt": "雨夜".encode("gbk")})
    with pytest.raises(WorkspaceError, match=r"b/gbk\.txt"):
        export_project(files, "epub", title="书")


def test_more_files_than_can_be_listed_are_refused_not_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = write(tmp_path, {f"{at}.md": "x" for at in range(4)})
    monkeypatch.setattr(exporting, "_MOST_ENTRIES", 3)
    for to in ALL:
        with pytest.raises(Problem, match="export_too_large"):
            export_project(files, to, title="书")


def test_a_zip_holds_all_files_as_they_are(tmp_path: Path) -> None:
    content: dict[str, str | bytes] = {
        "01 雨/a.md": "\ufeff一\r\n",
        "图.png": b"\x89PNG\x00\xff",
        "空.txt": "",
        ".wenfang/trash/x/item": "no",
        ".git/config": "no",
    }
    files = write(tmp_path, content)
    export = export_project(files, "zip", title="书")
    with zipfile.ZipFile(io.BytesIO(data_of(export))) as package:
        held = {name: package.read(name) for name in package.namelist()}
    assert held == {
        path: content[path].encode() if isinstance(content[path], str) else content[path]  # type: ignore[union-attr]
        for path in ("01 雨/a.md", "图.png", "空.txt")
    }
    assert (export.name, export.media_type) == ("书.zip", "application/zip")
    with zipfile.ZipFile(io.BytesIO(data_of(export_project(files, "zip", title="书", path="01 雨")))) as below:  # fmt: skip
        assert below.namelist() == ["a.md"]


def test_a_zip_is_made_while_it_is_taken(tmp_path: Path) -> None:
    files = write(tmp_path, {"1.md": "雨", "2.md": "雪", "3.md": "风"})
    pieces = export_project(files, "zip", title="书").pieces
    with asyncio.Runner() as runner:

        async def draw() -> bytes | None:
            return await anext(pieces, None)

        first = runner.run(draw())
        assert first is not None
        assert b"1.md" in first
        assert b"2.md" not in first
        (tmp_path / "2.md").unlink()  # deleted since it was listed
        drawn = [first]
        while (piece := runner.run(draw())) is not None:
            drawn.append(piece)
    with zipfile.ZipFile(io.BytesIO(b"".join(drawn))) as package:
        assert package.namelist() == ["1.md", "3.md"]


@settings(max_examples=15, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.text(alphabet="雨夜归人 abc", max_size=8).map(lambda text: " ".join(text.split())),
            st.text(alphabet="雨夜归人他说：“走吧。”，… abc", min_size=1, max_size=20).map(
                lambda line: f"雨{' '.join(line.split())}。"
            ),
        ),
        min_size=2,
        max_size=12,
    ),
    st.sampled_from(["", "雨落下来。\n", "雨落下来。\n\n风也来了。\n"]),
    st.sampled_from(["", "作者：某某\n"]),
    st.sampled_from(BOOKS),
)
def test_AR_5_a_book_that_is_exported_comes_back_as_the_same_files(
    tmp_path_factory: pytest.TempPathFactory,
    chapters: list[tuple[str, str]],
    front: str,
    author: str,
    to: ExportFormat,
) -> None:
    made, back = (Workspace(tmp_path_factory.mktemp("project")) for _ in range(2))
    pack = PACKS["zh"]
    book = "".join(
        f"第{pack.write_number(at)}章 {title or '雨'}\n\n{text}\n\n"
        for at, (title, text) in enumerate(chapters, 1)
    )
    source = f"雨夜归人\n{author}\n{front}\n{book}".encode()
    first = import_document(made, "x.txt", source)
    export = export_project(made, to, title="别的", path="雨夜归人")
    assert first.files[0].path.startswith("雨夜归人/")
    again = import_document(back, export.name, data_of(export))
    assert [each.path for each in again.files] == [each.path for each in first.files]
    assert [back.read_text(each.path).text for each in again.files] == [
        made.read_text(each.path).text for each in first.files
    ]


def test_a_zip_that_is_exported_comes_back_as_the_same_files(tmp_path: Path) -> None:
    files = write(
        tmp_path / "a", {"01 雨/01 第一章.md": "# 第一章\n\n一\n", "02 后记.md": "完。\n"}
    )
    back = Workspace(tmp_path / "b")
    (tmp_path / "b").mkdir()
    import_document(back, "x.zip", data_of(export_project(files, "zip", title="书")))
    assert {
        each.path: back.read_text(each.path).text
        for each in back.list(recursive=True).entries
        if each.kind == "file"
    } == {"01 雨/01 第一章.md": "# 第一章\n\n一\n", "02 后记.md": "完。\n"}
