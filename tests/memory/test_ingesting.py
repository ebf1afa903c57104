"""Reading folders and text files into items: real files, and every fault with its place."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.ingesting import CONTENT_LIMIT, Fault, Item, files, read
from tests.memory.reading import faults_of, items_of, write

# --- folders


def test_a_folder_gives_its_readable_files_in_order(tmp_path: Path) -> None:
    for name in ("b.md", "a/z.TXT", "a/y/deep.markdown", "c.text", "B.md"):
        write(tmp_path / name, f"text of {name}")
    found = [(item.source_id, item.position, item.content) for item in items_of(tmp_path)]
    names = ["B.md", "a/y/deep.markdown", "a/z.TXT", "b.md", "c.text"]
    assert found == [(name, 0, f"text of {name}") for name in names]
    assert {item.source_kind for item in items_of(tmp_path)} == {"file"}


def test_the_same_folder_reads_the_same_through_another_path(tmp_path: Path) -> None:
    write(tmp_path / "notes/a.md", "one")
    (tmp_path / "link").symlink_to("notes")
    assert items_of(tmp_path / "link") == items_of(tmp_path / "notes")


def test_a_single_file_is_named_by_its_name(tmp_path: Path) -> None:
    path = write(tmp_path / "deep" / "note.log", "kept")
    assert items_of(path) == [Item("kept", "file", "note.log", 0)]


def test_hidden_files_and_folders_are_left_out(tmp_path: Path) -> None:
    write(tmp_path / ".git/readme.md", "no")
    write(tmp_path / ".hidden.md", "no")
    write(tmp_path / "seen.md", "yes")
    assert [item.content for item in items_of(tmp_path)] == ["yes"]


def test_other_kinds_are_told_of_in_one_line(tmp_path: Path) -> None:
    for name in ("a.png", "b.PNG", "Makefile", "c.md"):
        write(tmp_path / name, "content")
    (fault,) = [each for each in read(tmp_path) if isinstance(each, Fault)]
    assert fault.skipped
    assert fault.reason == "files of other kinds were left out: 2 .png, 1 without a suffix"


def test_a_folder_without_readable_files_says_so(tmp_path: Path) -> None:
    assert faults_of(tmp_path) == [
        (tmp_path.name, "holds no Markdown, text or JSON lines files"),
    ]


def test_names_are_composed_and_equal_ones_told(tmp_path: Path) -> None:
    write(tmp_path / "Cafe\u0301.md", "decomposed")
    write(tmp_path / "Caf\u00e9.md", "composed")
    found = list(read(tmp_path))
    assert [each.source_id for each in found if isinstance(each, Item)] == ["Caf\u00e9.md"]
    assert faults_of(tmp_path) == [
        ("Caf\u00e9.md", "another file has this name in another Unicode form"),
    ]


def test_a_name_that_is_no_text_is_a_fault(tmp_path: Path) -> None:
    write(tmp_path / os.fsdecode(b"\xff.md"), "text")
    write(tmp_path / "good.md", "read")
    assert faults_of(tmp_path) == [("?.md", "its name is not UTF-8")]


def test_links_do_not_lead_out_of_the_folder(tmp_path: Path) -> None:
    write(tmp_path / "secret/key.md", "secret")
    write(tmp_path / "in/real/a.md", "inside")
    (tmp_path / "in/folder").symlink_to(tmp_path / "secret")
    (tmp_path / "in/key.md").symlink_to(tmp_path / "secret/key.md")
    (tmp_path / "in/again").symlink_to("real")
    (tmp_path / "in/b.md").symlink_to("real/a.md")
    (tmp_path / "in/gone.md").symlink_to("nowhere.md")
    (tmp_path / "in/loop").symlink_to(".")
    found = list(read(tmp_path / "in"))
    assert {each.source_id for each in found if isinstance(each, Item)} == {"b.md", "real/a.md"}
    assert faults_of(tmp_path / "in") == [
        ("again", "is a link: its files are read where they are"),
        ("folder", "is a link to a place outside the folder"),
        ("gone.md", "is a broken link"),
        ("key.md", "is a link to a place outside the folder"),
        ("loop", "is a link: its files are read where they are"),
    ]


def test_what_is_no_file_is_never_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.md")
    write(tmp_path / "a.md", "text")
    assert faults_of(tmp_path) == [("pipe.md", "is not a regular file")]
    assert faults_of(tmp_path / "pipe.md") == [("pipe.md", "is neither a file nor a folder")]
    assert faults_of(tmp_path / "none.md") == [("none.md", "no such file or folder")]


def test_a_file_that_cannot_be_opened_stops_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "a.md", "closed")
    write(tmp_path / "b.md", "open")
    real = Path.open

    def refuse(self: Path, *args: Any, **kwargs: Any) -> Any:
        if self.name == "a.md":
            raise PermissionError(13, "Permission denied")
        return real(self, *args, **kwargs)

    monkeypatch.setattr(Path, "open", refuse)
    assert faults_of(tmp_path) == [("a.md", "Permission denied")]


def test_a_folder_that_cannot_be_opened_stops_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "closed/a.md", "closed")
    write(tmp_path / "open.md", "open")
    real = Path.iterdir

    def refuse(self: Path) -> Iterator[Path]:
        if self.name == "closed":
            raise PermissionError(13, "Permission denied")
        return real(self)

    monkeypatch.setattr(Path, "iterdir", refuse)
    assert faults_of(tmp_path) == [("closed", "the folder cannot be opened")]


# --- Markdown and text


@pytest.mark.parametrize(
    "data",
    ["grüße 👋\r\n".encode(codec) for codec in ("utf-8", "utf-8-sig", "utf-16")]
    + [b"\xfe\xff" + "grüße 👋\r\n".encode("utf-16-be")],
)
def test_unicode_files_are_read_as_they_are(tmp_path: Path, data: bytes) -> None:
    assert items_of(write(tmp_path / "a.md", data))[0].content == "grüße 👋\r\n"


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "empty"),
        (b" \n\t\n", "empty"),
        (b"\xef\xbb\xbf", "empty"),
        (b"abc\xffdef", "is not UTF-8 text at byte 3"),
        (b"\xef\xbb\xbfabc\xff", "is not UTF-8 text at byte 6"),
        (b"\xed\xa0\xbd", "is not UTF-8 text at byte 0"),
        (b"\xff\xfea\x00b", "is not UTF-16-LE text at byte 4"),
        (b"ab\x00c", "holds NUL at character 2: not a text file"),
    ],
)
def test_what_is_no_text_is_a_fault(tmp_path: Path, data: bytes, reason: str) -> None:
    write(tmp_path / "bad.md", data)
    write(tmp_path / "good.md", "good")
    assert faults_of(tmp_path) == [("bad.md", reason)]
    assert [each.content for each in read(tmp_path) if isinstance(each, Item)] == ["good"]


def test_a_file_that_is_too_large_is_a_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "FILE_LIMIT", 2**20)
    path = write(tmp_path / "big.txt", b"a" * (2**20 + 1))
    assert faults_of(path) == [("big.txt", "the file is larger than 1 MB")]


def test_a_long_file_is_cut_at_headings(tmp_path: Path) -> None:
    section = "text of the section\n\n" * 3000
    text = "".join(f"# Part {at}\n\n{section}" for at in range(10))
    items = items_of(write(tmp_path / "long.md", text))
    assert [item.position for item in items] == list(range(len(items)))
    assert "".join(item.content for item in items) == text
    assert all(len(item.content) <= CONTENT_LIMIT for item in items)
    assert all(item.content.startswith("# Part") for item in items)
    assert items[1].metadata == {"heading": "Part 3"}


def test_a_long_file_without_headings_is_cut_at_paragraphs(tmp_path: Path) -> None:
    text = ("a paragraph\nof two lines\n\n" * 20_000) + "the end"
    items = items_of(write(tmp_path / "long.txt", text))
    assert "".join(item.content for item in items) == text
    assert all(item.content.endswith("\n\n") for item in items[:-1])


def test_a_file_at_the_limit_is_one_item(tmp_path: Path) -> None:
    assert len(items_of(write(tmp_path / "a.txt", "é" * CONTENT_LIMIT))) == 1
    assert len(items_of(write(tmp_path / "a.txt", "é" * CONTENT_LIMIT + "é"))) == 2


@pytest.mark.parametrize(
    ("head", "tags", "metadata"),
    [
        ("title: A page\ntags: [one, two, one]", ("one", "two"), {"title": "A page"}),
        ("tags:\n  - net\n  - 2024", ("net", "2024"), {}),
        ("tags: [critical, superseded, unverified, kept]", ("kept",), {}),
        ("tags: [[nested], {a: b}, '', ' x ']", ("x",), {}),
        ("tags: one", (), {}),
        ("title: [a]", (), {}),
        ("tags: [one", (), {}),
        ("- a\n- b", (), {}),
        ("title: !!python/object:os.system x", (), {}),
        ("a: &a {x: 1}\nb: {<<: [*a, *a]}\ntags: [x]", (), {}),
        ("tags: " + "[" * 5000, (), {}),
        ("tags: [" + "9" * 5000 + "]", (), {}),
        ('title: "\\ud83d"\ntags: ["\\0"]', (), {}),
        (f"tags: [{'a' * 65}, ok]", ("ok",), {}),
        (f"title: {'a' * 301}", (), {}),
    ],
)
def test_front_matter_gives_title_and_tags(
    tmp_path: Path, head: str, tags: tuple[str, ...], metadata: dict[str, Any]
) -> None:
    text = f"---\n{head}\n---\n\n# Body\n"
    (item,) = items_of(write(tmp_path / "a.md", text))
    assert (item.tags, item.metadata, item.content) == (tags, metadata, text)


@pytest.mark.parametrize(
    "text", ["---\ntags: [a]\n", "tags: [a]\n---\n", "\n---\ntags: [a]\n---\n"]
)
def test_what_is_no_front_matter(tmp_path: Path, text: str) -> None:
    assert items_of(write(tmp_path / "a.md", text))[0].tags == ()


# --- any input at all


@given(
    st.lists(st.binary(max_size=40) | st.sampled_from([b"\n", b'{"content": "a"}\n']), max_size=8)
)
def test_no_bytes_raise(tmp_path_factory: pytest.TempPathFactory, parts: list[bytes]) -> None:
    root = tmp_path_factory.mktemp("any")
    for name in ("a.md", "a.jsonl"):
        write(root / name, b"".join(parts))
    assert list(read(root)) == list(read(root))
