"""Documents into files of a project (writing.md UI-7, studio.md test 5)."""

from __future__ import annotations

import asyncio
import errno
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.workspace.documents_made import docx, epub, paragraph, zipped

from wenfang.problems import Problem
from wenfang.workspace import FolderFiles, Imported, Workspace, WorkspaceError, staging
from wenfang.workspace import import_document as import_files
from wenfang.workspace.documents import ImportLimits
from wenfang.workspace.paths import name_key, new_name, portable_name

BOOK = "第一章 雨夜\n\n　　下雨了。\n\n第二章 归人\n\n他回来了。\n"


def import_document(files: Workspace, name: str, data: bytes, **more: Any) -> Imported:
    return asyncio.run(import_files(FolderFiles(files), name, data, **more))


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return tmp_path


def texts(project: Path) -> dict[str, str]:
    """All files that are seen, by path."""
    files = Workspace(project)
    return {
        each.path: files.read_text(each.path).text
        for each in files.list(recursive=True).entries
        if each.kind == "file"
    }


def leftovers(project: Path) -> list[str]:
    """What is there and not seen."""
    return [path.name for path in project.rglob("*") if path.is_file() and ".wenfang" in path.parts]


CHAPTERS = {"01 第一章 雨夜.md": "# 第一章 雨夜\n\n　　下雨了。\n", "02 第二章 归人.md": "# 第二章 归人\n\n他回来了。\n"}  # fmt: skip
PAGES = {
    "01 第一章 雨夜.md": "# 第一章 雨夜\n\n下雨了。\n",
    "02 第二章 归人.md": "# 第二章 归人\n\n他回来了。\n",
}
BODY = (
    paragraph("第一章 雨夜", "Heading1") + paragraph("下雨了。") + paragraph("第二章 归人", "Heading1") + paragraph("他回来了。")
)  # fmt: skip
STYLES = '<w:style w:type="paragraph" w:styleId="Heading1"><w:name w:val="heading 1"/></w:style>'
PAGE_1 = "<h1>第一章 雨夜</h1><p>下雨了。</p>"
PAGE_2 = "<h1>第二章 归人</h1><p>他回来了。</p>"


def below(folder: str, files: dict[str, str]) -> dict[str, str]:
    return {f"{folder}/{name}": text for name, text in files.items()}


def with_author(files: dict[str, str]) -> dict[str, str]:
    """The files behind a first one that holds what no chapter does."""
    rest = {f"{int(name[:2]) + 1:02}{name[2:]}": text for name, text in files.items()}
    return {"01 雨夜归人.md": "# 雨夜归人\n\n作者：某某\n", **rest}


ROWS: dict[str, tuple[str, bytes, dict[str, str]]] = {
    "txt": ("雨夜归人.txt", BOOK.encode(), below("雨夜归人", CHAPTERS)),
    "gbk": ("雨夜归人.txt", BOOK.encode("gbk"), below("雨夜归人", CHAPTERS)),
    "utf-16": ("雨夜归人.txt", BOOK.encode("utf-16"), below("雨夜归人", CHAPTERS)),
    "windows lines": (
        "雨夜归人.txt",
        BOOK.replace("\n", "\r\n").encode(),
        below("雨夜归人", CHAPTERS),
    ),
    "md": (
        "x.md",
        "# 雨夜归人\n\n## 第一章 雨夜\n\n下雨了。\n\n## 第二章 归人\n\n他回来了。\n".encode(),
        below("雨夜归人", PAGES),
    ),
    "docx": ("雨夜归人.docx", docx(BODY, styles=STYLES), below("雨夜归人", PAGES)),
    "epub": ("x.epub", epub({"a": PAGE_1, "b": PAGE_2}, title="雨夜归人"), below("雨夜归人", with_author(PAGES))),
    "html": (
        "x.html",
        f"<html><title>雨夜归人</title><body>{PAGE_1}{PAGE_2}</body></html>".encode(),
        below("雨夜归人", PAGES),
    ),
    "one section": ("随笔.txt", "就一段。\n".encode(), {"随笔.md": "就一段。\n"}),
    "one section under a heading": ("a.md", b"# Rain\n\nIt fell.\n", {"a.md": "# Rain\n\nIt fell.\n"}),
    "a title page": (
        "x.txt",
        ("雨夜归人\n作者：某某\n\n" + BOOK).encode(),
        below("雨夜归人", with_author(CHAPTERS)),
    ),
    "a title that names no file": (
        "x.md",
        b"# Who? Me\n\n## A: b\n\n1\n\n## CON\n\n2\n",
        below(
            "Who_ Me",
            {"01 Who_ Me.md": "# Who? Me\n", "02 A_ b.md": "# A: b\n\n1\n", "03 CON.md": "# CON\n\n2\n"},
        ),
    ),
    "a name that is too long with its suffix": (
        f"{'雨' * 66}.txt", "一。".encode(), {f"{'雨' * 65}.md": f"# {'雨' * 66}\n\n一。\n"},
    ),
    "a name that is a device": ("con.txt", b"one\n", {"_con.md": "# con\n\none\n"}),
    "an archive": (
        "a.zip",
        zipped({"卷一/随笔.txt": "一。\n".encode("gbk"), "卷一/b.txt": "二。\n", "雨夜归人.txt": BOOK}),
        {"卷一/b.md": "二。\n", "卷一/随笔.md": "一。\n", **below("雨夜归人", CHAPTERS)},
    ),
}  # fmt: skip


@pytest.mark.parametrize("row", ROWS)
def test_UI_7_a_document_becomes_files(project: Path, row: str) -> None:
    name, data, expected = ROWS[row]
    imported = import_document(Workspace(project), name, data)
    assert texts(project) == expected
    assert sorted(each.path for each in imported.files) == sorted(expected)
    assert all(each.size_bytes == len(expected[each.path].encode()) for each in imported.files)
    assert all(
        each.hash == Workspace(project).read_text(each.path).revision for each in imported.files
    )
    assert imported.refused == ()
    assert leftovers(project) == []


def test_UI_7_files_come_in_reading_order_under_names_that_sort(project: Path) -> None:
    book = "".join(f"第{at}章 雨\n\n第{at}场雨。\n\n" for at in range(1, 121))
    imported = import_document(Workspace(project), "书.txt", book.encode())
    paths = [each.path for each in imported.files]
    assert paths == [f"书/{at:03} 第{at}章 雨.md" for at in range(1, 121)]
    assert sorted(paths) == paths


def test_UI_7_into_a_folder_that_need_not_exist(project: Path) -> None:
    import_document(Workspace(project), "随笔.txt", "雨。\n".encode(), folder="草稿/旧")
    assert texts(project) == {"草稿/旧/随笔.md": "雨。\n"}


def test_UI_7_what_exists_is_never_touched(project: Path) -> None:
    (project / "随笔.MD").write_text("我的。", "utf-8")
    (project / "雨夜归人 (2)").write_text("一个文件", "utf-8")
    (project / "雨夜归人").mkdir()
    files = Workspace(project)
    made = [
        [each.path for each in import_document(files, name, data).files]
        for name, data in [
            ("随笔.txt", "雨。\n".encode()),
            ("随笔.txt", "雪。\n".encode()),
            ("雨夜归人.txt", BOOK.encode()),
        ]
    ]
    assert made == [["随笔 (2).md"], ["随笔 (3).md"], list(below("雨夜归人 (3)", CHAPTERS))]
    assert (project / "随笔.MD").read_text("utf-8") == "我的。"
    assert list((project / "雨夜归人").iterdir()) == []


OUT_OF_PLACE: dict[str, tuple[str, str]] = {
    "outside": ("../x", "path_invalid"),
    "absolute": ("/etc", "path_invalid"),
    "ours": (".wenfang/trash", "path_invalid"),
    "a file": ("file.md", "path_invalid"),
    "below a file": ("file.md/x", "path_invalid"),
    "a link": ("link", "path_invalid"),
    "a name no system likes": ("a?", "path_invalid"),
}


@pytest.mark.parametrize("row", OUT_OF_PLACE)
def test_a_folder_that_cannot_be_used(tmp_path: Path, row: str) -> None:
    folder, code = OUT_OF_PLACE[row]
    project, outside = tmp_path / "project", tmp_path / "outside"
    project.mkdir()
    outside.mkdir()
    (project / "file.md").write_text("x")
    (project / "link").symlink_to(outside)
    with pytest.raises(WorkspaceError) as failure:
        import_document(Workspace(project), "书.txt", BOOK.encode(), folder=folder)
    assert failure.value.code == code
    assert texts(project) == {"file.md": "x"}
    assert leftovers(project) == []
    assert list(outside.iterdir()) == []


def test_a_project_s_own_folder_that_is_a_link_leads_nowhere(tmp_path: Path) -> None:
    project, outside = tmp_path / "project", tmp_path / "outside"
    project.mkdir()
    outside.mkdir()
    (project / ".wenfang").symlink_to(outside)
    with pytest.raises(WorkspaceError):
        import_document(Workspace(project), "书.txt", BOOK.encode())
    assert texts(project) == {}
    assert list(outside.iterdir()) == []


BAD: dict[str, tuple[str, bytes, str]] = {
    "empty": ("a.txt", b"", "document_empty"),
    "a pdf": ("a.pdf", b"%PDF-1.4\n", "document_unsupported"),
    "broken": ("a.docx", b"PK\x03\x04 no more", "document_damaged"),
    "an archive with a way out": ("a.zip", zipped({"../../a.txt": "x"}), "document_unsafe"),
    "an archive of nothing": ("a.zip", zipped({"__MACOSX/a.txt": "x"}), "document_empty"),
}


@pytest.mark.parametrize("row", BAD)
def test_what_cannot_be_read_leaves_nothing(project: Path, row: str) -> None:
    name, data, code = BAD[row]
    with pytest.raises(Problem) as failure:
        import_document(Workspace(project), name, data)
    assert failure.value.code == code
    assert list(project.iterdir()) == []


def test_one_bad_document_of_an_archive_stops_no_other(project: Path) -> None:
    data = zipped(
        {
            "1 好.txt": "雨。\n",
            "2 坏.pdf": b"%PDF-1.4\n",
            "3 内.zip": zipped({"x.txt": "x"}),
            "4 大.txt": "雪" * 40,
            "5 好.txt": "风。\n",
        }
    )
    imported = import_document(Workspace(project, text_limit_bytes=100), "a.zip", data)
    assert texts(project) == {"1 好.md": "雨。\n", "5 好.md": "风。\n"}
    assert [(each.name, each.problem.code) for each in imported.refused] == [
        ("2 坏.pdf", "document_unsupported"),
        ("3 内.zip", "document_nested"),
        ("4 大.txt", "file_too_large"),
    ]


def test_a_limit_of_the_whole_archive_is_told_with_what_was_read_before_it(project: Path) -> None:
    data = zipped({"1.txt": "雨。\n", "2.txt": "雪" * 100, "3.txt": "风。\n"})
    limits = ImportLimits(max_chars=50)
    imported = import_document(Workspace(project), "a.zip", data, limits=limits)
    assert texts(project) == {"1.md": "雨。\n"}
    assert [(each.name, each.problem.code) for each in imported.refused] == [
        ("a.zip", "document_too_long")
    ]


def test_warnings_are_told(project: Path) -> None:
    imported = import_document(Workspace(project), "a.docx", BOOK.encode())
    assert [each.code for each in imported.warnings] == ["type_differs"]


def test_one_section_that_is_too_long_leaves_nothing_of_the_book(project: Path) -> None:
    book = f"第一章 雨\n\n雨。\n\n第二章 雪\n\n{'雪' * 100}\n"
    with pytest.raises(WorkspaceError, match="too large"):
        import_document(Workspace(project, text_limit_bytes=100), "书.txt", book.encode())
    assert list(project.iterdir()) == []


def _fail_at(count: int, do: Callable[..., object], number: int) -> Callable[..., object]:
    calls = 0

    def failing(*args: object, **more: object) -> object:
        nonlocal calls
        calls += 1
        if calls == count:
            raise OSError(number, os.strerror(number))
        return do(*args, **more)

    return failing


@pytest.mark.parametrize("count", range(1, 5))
def test_a_full_disk_leaves_nothing(
    project: Path, monkeypatch: pytest.MonkeyPatch, count: int
) -> None:
    """The syncs of two chapters and two folders: whichever fails first, nothing is seen afterwards unless
    all of it had been moved into its place."""
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", _fail_at(count, os.fsync, errno.ENOSPC))
        with pytest.raises(WorkspaceError) as failure:
            import_document(Workspace(project), "雨夜归人.txt", BOOK.encode())
    assert failure.value.code == "disk_full"
    assert texts(project) == (below("雨夜归人", CHAPTERS) if count == 4 else {})
    assert leftovers(project) == []


def test_what_a_killed_process_left_is_cleared_by_the_next(project: Path) -> None:
    place = project / ".wenfang" / "incoming"
    (place / staging.STAGED).mkdir(parents=True)
    (place / staging.STAGED / "01 半.md").write_text("半")
    (place / "stray").write_text("x")
    import_document(Workspace(project), "雨夜归人.txt", BOOK.encode())
    assert texts(project) == below("雨夜归人", CHAPTERS)
    assert leftovers(project) == []


@given(st.text(max_size=300))
def test_any_text_becomes_a_name_that_every_system_takes(text: str) -> None:
    name = portable_name(text)
    if name:
        assert new_name(name, name) == name
        assert portable_name(name) == name
    assert not name_key(name).startswith(".wenfang")


@settings(max_examples=30, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.text(alphabet="雨夜 ?:/\\.*#_ab\u3000\u200d", max_size=12),
            st.text(alphabet="雨。*#ab ", min_size=1, max_size=12).filter(str.strip),
        ),
        min_size=2,
        max_size=5,
    )
)
def test_UI_7_nothing_of_a_book_is_lost(
    tmp_path_factory: pytest.TempPathFactory, chapters: list[tuple[str, str]]
) -> None:
    project = tmp_path_factory.mktemp("project")
    book = "".join(
        f"第{at}章 {title}雨\n\n{text}\n\n" for at, (title, text) in enumerate(chapters, 1)
    )
    imported: Imported = import_document(Workspace(project), "书.txt", book.encode())
    files = texts(project)
    kept = "".join(files[each.path] for each in imported.files)
    # Marks of a heading are escaped, and its own mark is new.
    assert sorted(_visible(kept)) == sorted(_visible(book))


def _visible(text: str) -> str:
    return "".join(char for char in text if char not in " \n\u3000\\#")


def test_imports_at_the_same_time_take_different_names(project: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        done = list(
            pool.map(
                lambda _: import_document(Workspace(project), "雨夜归人.txt", BOOK.encode()),
                range(8),
            )
        )
    assert len({each.path for one in done for each in one.files}) == 16
    assert set(texts(project).values()) == set(CHAPTERS.values())
    assert leftovers(project) == []
