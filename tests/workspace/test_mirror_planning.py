"""What a sync is going to do: a table of three states, and what holds for any of them."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wenfang.workspace.mirror import (
    Action,
    Collide,
    Delete,
    Forget,
    MakeFolder,
    Move,
    Node,
    Plan,
    Put,
    Record,
    Side,
    key_of,
    plan,
)

TODAY = "2024-10-04"


def text(content: str) -> str:
    """The hash of a text."""
    return hashlib.sha256(content.encode()).hexdigest()


A, B, C, BLANK = text("a"), text("b"), text("c"), text("")


def nodes(*paths: str, **texts: str) -> dict[str, Node]:
    """`nodes("d/", **{"x.md": A})`: a folder ends with a slash. A text's id in the project is in a `:` suffix."""
    found: dict[str, Node] = {}
    for path in paths:
        found[key_of(path.rstrip("/"))] = Node(path=path.rstrip("/"), hash=None)
    for name, value in texts.items():
        value, _, file_id = value.partition(":")
        found[key_of(name)] = Node(path=name, hash=value, id=file_id or None)
    return found


def x(value: str | None) -> dict[str, Node]:
    return {} if value is None else nodes(**{"x.md": value})


def put(side: Side, value: str, replaces: str | None = None, path: str = "x.md") -> Put:
    return Put(side=side, path=path, hash=value, replaces=replaces)


def delete(side: Side, value: str | None, path: str = "x.md") -> Delete:
    return Delete(side=side, path=path, hash=value)


def collide(base: str | None) -> Collide:
    beside = f"x (conflict {TODAY}).md"
    return Collide(path="x.md", beside=beside, base=base, project=B, folder=C)


TEXTS: list[tuple[str | None, str | None, str | None, list[Action]]] = [
    # base, project, folder
    (None, None, None, []),
    (None, A, None, [put("folder", A)]),
    (None, None, A, [put("project", A)]),
    (None, A, A, [Record(path="x.md", hash=A, id=None)]),
    (None, B, C, [collide(None)]),
    (A, None, None, [Forget(path="x.md")]),
    (A, A, A, []),
    (A, B, A, [put("folder", B, A)]),
    (A, A, B, [put("project", B, A)]),
    (A, B, B, [Record(path="x.md", hash=B, id=None)]),
    (A, B, C, [collide(A)]),
    (A, None, A, [delete("folder", A)]),
    (A, A, None, [delete("project", A)]),
    (A, None, B, [put("project", B)]),
    (A, B, None, [put("folder", B)]),
    (A, BLANK, A, [put("folder", BLANK, A)]),
    (BLANK, None, BLANK, [delete("folder", BLANK)]),
]


@pytest.mark.parametrize(("base", "project", "folder", "actions"), TEXTS)
def test_one_text(
    base: str | None, project: str | None, folder: str | None, actions: list[Action]
) -> None:
    assert plan(x(base), x(project), x(folder), today=TODAY) == Plan(actions=tuple(actions))


def move(side: Side | None, was: str, to: str, path: str | None = None) -> Move:
    return Move(side=side, was=was, path=path or was, to=to, hash=A, id="1")


P = f"{A}:1"
RENAMES = {
    "in the folder": (
        nodes(a=P),
        nodes(a=P),
        nodes(b=A),
        [move("project", "a", "b")],
    ),
    "in the project": (nodes(a=P), nodes(b=P), nodes(a=A), [move("folder", "a", "b")]),
    "in the project, and edited there": (
        nodes(a=P),
        nodes(b=f"{B}:1"),
        nodes(a=A),
        [move("folder", "a", "b"), put("folder", B, A, "b")],
    ),
    "in the project, and edited in the folder": (
        nodes(a=P),
        nodes(b=P),
        nodes(a=B),
        [move("folder", "a", "b"), put("project", B, A, "b")],
    ),
    "in the folder, and edited in the project": (
        nodes(a=P),
        nodes(a=f"{B}:1"),
        nodes(b=A),
        [move("project", "a", "b"), put("folder", B, A, "b")],
    ),
    "the same on both sides": (nodes(a=P), nodes(b=P), nodes(b=A), [move(None, "a", "b", "b")]),
    "differently on both sides": (
        nodes(a=P),
        nodes(b=P),
        nodes(c=A),
        [move("folder", "a", "b", "c")],
    ),
    "to a name that the other side gave to another text": (
        nodes(a=P),
        nodes(b=P),
        nodes(a=A, b=C),
        [
            delete("folder", A, "a"),
            Collide(path="b", beside=f"b (conflict {TODAY})", base=None, project=A, folder=C),
        ],
    ),
    "another text came into its place": (
        nodes(a=P),
        nodes(a=P),
        nodes(a=C, b=A),
        [put("project", C, A, "a"), put("project", A, None, "b")],
    ),
    "one of two that are alike goes where its name is": (
        nodes(x=P, y=f"{A}:2"),
        nodes(x=P, y=f"{A}:2"),
        nodes("d/", **{"d/x": A, "d/y": A}),
        [
            move("project", "x", "d/x"),
            Move(side="project", was="y", path="y", to="d/y", hash=A, id="2"),
            MakeFolder(side="project", path="d"),
        ],
    ),
    "blank files say nothing": (
        nodes(a=f"{BLANK}:1"),
        nodes(a=f"{BLANK}:1"),
        nodes(b=BLANK),
        [delete("project", BLANK, "a"), put("project", BLANK, None, "b")],
    ),
    "and deleted on the other side": (
        nodes(a=P),
        nodes(b=P),
        nodes(),
        [Forget(path="a"), put("folder", A, None, "b")],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", RENAMES)
def test_renames(name: str) -> None:
    base, project, folder, actions = RENAMES[name]
    assert list(plan(base, project, folder, today=TODAY).actions) == actions


FOLDERS = {
    "new in the project": (
        nodes(),
        nodes("d/", "d/e/"),
        nodes(),
        [MakeFolder(side="folder", path="d"), MakeFolder(side="folder", path="d/e")],
    ),
    "new in the folder": (nodes(), nodes(), nodes("d/"), [MakeFolder(side="project", path="d")]),
    "on both sides": (nodes(), nodes("d/"), nodes("d/"), [Record(path="d", hash=None, id=None)]),
    "known": (nodes("d/"), nodes("d/"), nodes("d/"), []),
    "gone": (nodes("d/"), nodes(), nodes(), [Forget(path="d")]),
    "deleted with what was in it": (
        nodes("d/", "d/e/", **{"d/e/x": A}),
        nodes("d/", "d/e/", **{"d/e/x": A}),
        nodes(),
        [
            delete("project", A, "d/e/x"),
            delete("project", None, "d/e"),
            delete("project", None, "d"),
        ],
    ),
    "deleted, but the other side wrote in it": (
        nodes("d/", "d/e/", "f/", **{"d/e/x": A}),
        nodes("d/", "d/e/", "f/", **{"d/e/x": B}),
        nodes(),
        [
            MakeFolder(side="folder", path="d"),
            MakeFolder(side="folder", path="d/e"),
            put("folder", B, None, "d/e/x"),
            delete("project", None, "f"),
        ],
    ),
    "a file became a folder": (
        nodes(a=A),
        nodes(),
        nodes("a/"),
        [Forget(path="a"), MakeFolder(side="project", path="a")],
    ),
    "a folder became a file": (nodes("a/"), nodes(a=A), nodes(), [put("folder", A, None, "a")]),
}  # fmt: skip


@pytest.mark.parametrize("name", FOLDERS)
def test_folders(name: str) -> None:
    base, project, folder, actions = FOLDERS[name]
    assert list(plan(base, project, folder, today=TODAY).actions) == actions


def test_a_file_here_and_a_folder_there_are_left_alone_with_all_in_them() -> None:
    planned = plan(nodes(a=A), nodes("a/", **{"a/x": A}), nodes(a=B), today=TODAY)
    assert planned.actions == ()
    assert [(left.path, left.reason) for left in planned.left] == [("a", "kind")]


@pytest.mark.parametrize("kept", ["d", "d/x.md"])
def test_nothing_at_or_below_what_is_kept_is_touched(kept: str) -> None:
    """A text that was replaced by a picture, or a folder that cannot be read, is not deleted."""
    base = nodes("d/", **{"d/x.md": A})
    folder = nodes() if kept == "d" else nodes("d/")
    for project in (base, nodes("d/", **{"d/x.md": B}), nodes()):
        assert plan(base, project, folder, kept=[kept], today=TODAY).actions == ()


def test_a_folder_is_not_deleted_while_something_else_stands_in_it() -> None:
    base = nodes("d/", "d/e/", **{"d/e/x": A})
    planned = plan(base, nodes(), base, kept=["d/e/photo.png"], today=TODAY)
    assert planned.actions == (delete("folder", A, "d/e/x"),)
    after = plan(nodes("d/", "d/e/"), nodes(), nodes("d/", "d/e/"), kept=["d/e/photo.png"], today=TODAY)  # fmt: skip
    assert after.actions == ()


def test_the_name_of_a_conflict_is_free_on_both_sides_and_short_enough() -> None:
    there = nodes(**{f"X (Conflict {TODAY}).md": A, f"x (conflict {TODAY}) (2).md": A})
    planned = plan(there | x(A), there | x(B), x(C), kept=[f"x (conflict {TODAY}) (3).md"], today=TODAY)  # fmt: skip
    (found,) = [each for each in planned.actions if isinstance(each, Collide)]
    assert found.beside == f"x (conflict {TODAY}) (4).md"
    long = "第" * 80 + ".md"
    (found,) = plan(nodes(), nodes(**{long: B}), nodes(**{long: C}), today=TODAY).actions
    assert isinstance(found, Collide)
    assert found.beside.endswith(f"第 (conflict {TODAY}).md")
    assert len(found.beside.encode()) < 200


def test_texts_come_in_the_order_of_people() -> None:
    folder = nodes(**{f"第{n}章.md": text(str(n)) for n in (10, 2, 1)})
    paths = [action.path for action in plan(nodes(), nodes(), folder, today=TODAY).actions]
    assert paths == ["第1章.md", "第2章.md", "第10章.md"]


# Any states


@dataclass
class World:
    """Both sides and the record as data, and what was ever put into a trash or overwritten."""

    base: dict[str, Node]
    sides: dict[Side, dict[str, Node]]
    lost: list[tuple[Side, str]] = field(default_factory=list)
    trash: set[str] = field(default_factory=set)

    def plan(self) -> tuple[Action, ...]:
        return plan(self.base, self.sides["project"], self.sides["folder"], today=TODAY).actions

    def texts(self) -> set[str]:
        return {n.hash for nodes in self.sides.values() for n in nodes.values() if n.hash}

    def do(self, action: Action) -> None:
        match action:
            case Move():
                if action.side is not None:
                    side = self.sides[action.side]
                    assert key_of(action.to) not in side, "a move overwrites"
                    node = side.pop(key_of(action.path))
                    side[key_of(action.to)] = Node(path=action.to, hash=node.hash, id=node.id)
                self.base.pop(key_of(action.was), None)
                self.note(action.to, action.hash)
            case MakeFolder():
                self.sides[action.side].setdefault(
                    key_of(action.path), Node(path=action.path, hash=None)
                )
                self.note(action.path, None)
            case Put():
                self.write(action.side, action.path, action.hash, action.replaces)
                self.note(action.path, action.hash)
            case Collide():
                self.write("project", action.beside, action.folder, None)
                self.note(action.path, action.folder)
                self.write("folder", action.beside, action.folder, None)
                self.note(action.beside, action.folder)
                self.write("folder", action.path, action.project, action.folder)
                self.note(action.path, action.project)
            case Delete():
                side = self.sides[action.side]
                node = side.pop(key_of(action.path))
                assert node.hash == action.hash
                prefix = key_of(action.path) + "/"
                assert not [key for key in side if key.startswith(prefix)], "it is not empty"
                self.trash |= {node.hash} if node.hash else set()
                self.base.pop(key_of(action.path), None)
            case Record():
                assert {s.get(key_of(action.path), Node(path="", hash="-")).hash for s in self.sides.values()} == {action.hash}  # fmt: skip
                self.note(action.path, action.hash)
            case Forget():
                self.base.pop(key_of(action.path), None)

    def write(self, side: Side, path: str, value: str, replaces: str | None) -> None:
        nodes = self.sides[side]
        there = nodes.get(key_of(path))
        assert (there.hash if there else None) == replaces
        for depth in range(1, path.count("/") + 1):
            above = "/".join(path.split("/")[:depth])
            assert nodes.setdefault(key_of(above), Node(path=above, hash=None)).hash is None
        file_id = there.id if there else None
        nodes[key_of(path)] = Node(path=path, hash=value, id=file_id)

    def note(self, path: str, value: str | None) -> None:
        here = self.sides["project"].get(key_of(path))
        self.base[key_of(path)] = Node(path=path, hash=value, id=here.id if here else None)

    def shown(self, side: Side) -> dict[str, str | None]:
        return {key: node.hash for key, node in self.sides[side].items()}


def a_tree(paths: dict[str, str]) -> dict[str, Node]:
    """A state without a file and a folder at one place."""
    found: dict[str, Node] = {}
    for path, value in sorted(paths.items()):
        parts = path.split("/")
        aboves = ["/".join(parts[:depth]) for depth in range(1, len(parts))]
        if any(above in found and found[above].hash is not None for above in aboves):
            continue
        found |= {above: Node(path=above, hash=None) for above in aboves}
        value, _, file_id = value.partition(":")
        found.setdefault(path, Node(path=path, hash=value or None, id=file_id or None))
    return found


PATHS = ("x", "y", "d", "d/x", "d/y", "d/e/x", "f/x")
HASHES = st.sampled_from(["", A, B, C, BLANK])
TREES = st.dictionaries(st.sampled_from(PATHS), HASHES).map(a_tree)
WITH_IDS = st.dictionaries(
    st.sampled_from(PATHS), st.tuples(HASHES, st.integers(1, 4)), max_size=7
).map(
    lambda rows: a_tree(
        {path: f"{value}:{n}" if value else "" for n, (path, (value, _)) in enumerate(rows.items())}
    )
)


def clashes(world: World) -> set[str]:
    mine, theirs = world.shown("project"), world.shown("folder")
    return {
        key for key in mine.keys() & theirs.keys() if (mine[key] is None) != (theirs[key] is None)
    }


def outside(shown: dict[str, str | None], blocked: set[str]) -> dict[str, str | None]:
    return {
        key: value
        for key, value in shown.items()
        if not any(key == each or key.startswith(f"{each}/") for each in blocked)
    }


@given(base=WITH_IDS, project=WITH_IDS, folder=TREES, crash=st.integers(0, 12))
def test_any_states_become_the_same_and_lose_nothing(
    base: dict[str, Node], project: dict[str, Node], folder: dict[str, Node], crash: int
) -> None:
    """Whatever is done of a plan before a crash, the next one goes on; then there is nothing to do, both
    sides are the same, and each text is on a side, or it was deleted and is in a trash. What was
    overwritten had been the same on both sides."""
    world = World(base, {"project": project, "folder": folder})
    known = {node.hash for node in base.values()}
    before, blocked = world.texts(), clashes(world)
    for action in world.plan()[:crash]:
        world.do(action)
    for _ in range(2):
        for action in world.plan():
            world.do(action)
    assert world.plan() == ()
    mine, theirs = (outside(world.shown(side), blocked) for side in world.sides)
    assert mine == theirs
    assert before - world.texts() - world.trash <= known


@given(base=WITH_IDS, project=WITH_IDS, folder=TREES)
def test_an_empty_side_without_a_record_takes_everything(
    base: dict[str, Node], project: dict[str, Node], folder: dict[str, Node]
) -> None:
    """The first sync exports a project into an empty folder, and imports a folder into an empty project."""
    del base
    for sides in ({"project": project, "folder": {}}, {"project": {}, "folder": folder}):
        whole = {key: node.hash for side in sides.values() for key, node in side.items()}
        world = World({}, sides)  # type: ignore[arg-type]
        for action in world.plan():
            world.do(action)
        assert world.shown("project") == world.shown("folder") == whole
