"""Markdown in and out: links kept, nothing trusted, the same wiki afterwards."""

from __future__ import annotations

import contextlib
import stat
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goclaw_site.errors import Conflict, GoclawError, InvalidInput, Refused, TooLarge
from memory.access import Principal
from tests.wiki.making import CHIEF, write
from wiki import attachments, pages
from wiki.models import WikiAttachment, WikiLink, WikiPage, WikiRevision, WikiTag
from wiki.transfer import exporting, frontmatter, importing, linking, manifest
from wiki.transfer.sources import open_source

pytestmark = pytest.mark.django_db

PNG = b"\x89PNG\r\n\x1a\n" + b"p" * 100


@pytest.fixture(autouse=True)
def media(tmp_path_factory, monkeypatch) -> Path:
    state = tmp_path_factory.mktemp("state")
    (state / "media").mkdir()
    monkeypatch.setattr(attachments, "state_dir", lambda: state)
    return state / "media"


def folder(root: Path, files: dict[str, str | bytes]) -> Path:
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return root


def body(slug: str) -> str:
    page = WikiPage.objects.get(slug=slug)
    return WikiRevision.objects.get(page=page, revision=page.revision).body


def everything() -> dict[str, tuple[str, str, list[str]]]:
    found = {}
    for page in WikiPage.objects.filter(deleted=False, moved_to=""):
        newest = page.revisions.get(revision=page.revision)
        found[page.slug] = (newest.title, newest.body, newest.tags)
    return found


def empty() -> None:
    for model in (WikiTag, WikiLink, WikiRevision, WikiAttachment, WikiPage):
        model.objects.all().delete()


DOCS: dict[str, str | bytes] = {
    "index.md": "# Start\n\n[guide](guide/First%20Steps.md#what-s-new) ![logo](img/logo.png)\n",
    "guide/First Steps.md": (
        "---\ntitle: First steps\ntags: [howto, Net]\n---\n# First\n\n## What's new?\n\n"
        "[up](../index.md), [self](#whats-new), [ext](https://x.test/a.md), [gone](nothing.md),\n"
        "`[code](../index.md)` and [ref][r] <img src=\"../img/logo.png\">\n\n"
        "```\n[fenced](../index.md)\n```\n\n[r]: ../guide/other.md \"title\"\n"
    ),
    "guide/other.md": (
        "# Other\n\n[folder](.) [html](First%20Steps.html) [out](../../etc/passwd.md)\n"
    ),
    "guide/README.md": "# Guide\n",
    "img/logo.png": PNG,
    "notes.txt": "not a page",
    ".git/config.md": "hidden",
}  # fmt: skip


def test_a_folder_comes_in_with_its_links(tmp_path):
    report = importing.run(CHIEF, folder(tmp_path, DOCS))
    assert (report.faults, report.counts["created"], report.counts["files"]) == ([], 4, 1)
    assert set(everything()) == {"home", "guide/first-steps", "guide/other", "guide"}
    file = WikiAttachment.objects.get()
    assert body("home") == (
        "# Start\n\n[guide](/wiki/p/guide/first-steps#h-what-s-new) "
        f"![logo](/media/{file.pk})\n"
    )  # fmt: skip
    steps = body("guide/first-steps")
    assert "[up](/wiki/p/home)" in steps
    assert "[self](#h-what-s-new)" in steps
    assert "[ext](https://x.test/a.md), [gone](nothing.md)" in steps
    assert "`[code](../index.md)`" in steps
    assert "[fenced](../index.md)" in steps
    assert '[r]: /wiki/p/guide/other "title"' in steps
    assert f'<img src="/media/{file.pk}">' in steps
    page = WikiPage.objects.get(slug="guide/first-steps")
    assert (page.title, sorted(tag.tag for tag in page.tags.all())) == (
        "First steps", ["Net", "howto"]
    )  # fmt: skip
    other = body("guide/other")
    assert "[folder](/wiki/p/guide)" in other
    assert "[html](/wiki/p/guide/first-steps)" in other
    assert "[out](../../etc/passwd.md)" in other


def test_importing_again_changes_nothing(tmp_path):
    source = folder(tmp_path, DOCS)
    importing.run(CHIEF, source)
    dry = importing.run(CHIEF, source, dry=True)
    assert (dry.counts["unchanged"], dry.counts["saved"], dry.counts["created"]) == (4, 0, 0)
    again = importing.run(CHIEF, source)
    assert (again.counts["unchanged"], again.counts["files"]) == (4, 0)
    folder(tmp_path, {"guide/README.md": "# Guide\n\nnew"})
    assert importing.run(CHIEF, source).counts["saved"] == 1
    assert WikiPage.objects.get(slug="guide").revision == 2


def test_a_dry_run_writes_nothing(tmp_path, media):
    report = importing.run(CHIEF, folder(tmp_path, DOCS), dry=True)
    assert report.counts["created"] == 4
    assert (WikiPage.objects.count(), list(media.iterdir())) == (0, [])


def test_a_prefix_puts_it_all_below(tmp_path):
    importing.run(CHIEF, folder(tmp_path, DOCS), prefix="Docs")
    assert set(everything()) == {"docs", "docs/guide/first-steps", "docs/guide/other", "docs/guide"}
    assert "/wiki/p/docs/guide/first-steps" in body("docs")


def test_bad_files_are_told_and_stop_no_other(tmp_path, configure):
    configure({"wiki.max_attachment_mb": 1})
    report = importing.run(
        CHIEF,
        folder(
            tmp_path,
            {
                "yaml.md": "---\ntitle: [a\n---\ntext",
                "latin.md": "gr\xfc\xdfe".encode("latin-1"),
                "nul.md": "a\x00b",
                "slug.md": "---\nslug: ../x\n---\ntext",
                "reserved.md": "---\nslug: wikijs/x\n---\ntext",
                "large.md": "x" * 1_000_001,
                "good.md": "text ![big](big.bin) ![void](void.bin)",
                "big.bin": b"x" * (1024**2 + 1),
                "void.bin": b"",
                "line.md": "---\njust a line\n---\n",
                "bomb.md": "---\na: &a [x,x,x,x]\nb: &b [*a,*a,*a,*a]\ntags: [*b]\n---\ntext",
            },
        ),
    )
    faults = {fault["where"]: fault["reason"] for fault in report.faults}
    assert "not YAML" in faults["yaml.md"]
    assert "line 3" in faults["yaml.md"] or "line 2" in faults["yaml.md"]
    assert "UTF-8" in faults["latin.md"]
    assert "NUL" in faults["nul.md"]
    assert {"slug.md", "reserved.md", "large.md"} <= set(faults)
    assert "1 MiB" in faults["big.bin"]
    assert "empty" in faults["void.bin"]
    assert set(everything()) == {"good", "line", "bomb"}
    assert body("good") == "text ![big](big.bin) ![void](void.bin)"


def test_names_that_meet_are_kept_apart(tmp_path):
    files: dict[str, str | bytes] = {
        "A B.md": "1", "a-b.md": "2", "a/index.md": "3", "a/readme.md": "4",
        "x.md": "---\nslug: same\n---\n5", "y.md": "---\nslug: same\n---\n6",
    }  # fmt: skip
    report = importing.run(CHIEF, folder(tmp_path, files))
    assert set(everything()) == {"a-b", "a-b-2", "a", "a/readme", "same"}
    assert "too" in report.faults[0]["reason"]


def test_who_may_import(tmp_path):
    source = folder(tmp_path, DOCS)
    with pytest.raises(Refused):
        importing.run(Principal(person=1, name="ann", key="k"), source)
    with pytest.raises(InvalidInput, match="neither"):
        importing.run(CHIEF, tmp_path / "nothing")
    with pytest.raises(InvalidInput, match="no zip"):
        importing.run(CHIEF, tmp_path / "notes.txt")


ODD = {
    "plain": ("Plain", "# Plain\n\ntext\n", ()),
    "no-end": ("No end", "no line break at the end", ("a", "ü")),
    "front": ("--- x: y", "---\ntitle: fake\n---\nbody", ()),
    "empty": ("Empty", "", ()),
    "blank": ("Blank", "\n\n  \n", ()),
    "テスト/größe": ("データ: 'x' \"y\" #", "[rel](plain.md) ../../media/x\n\u2028\x0c", ("net",)),
    "x" * 200: ("Long", "text", ()),
    "a.md": ("Dotted", "[a](b.md)\r", ()),
}


def test_export_and_import_give_the_same_wiki(tmp_path, ann, media):
    for slug, (title, text, tags) in ODD.items():
        write(ann, slug, text, title=title, tags=tags)
    file = attachments.upload(ann, "plain", "日本 logo.png", [PNG]).attachment
    write(ann, "plain", f"![x](/media/{file.pk}) and <img src='/media/{file.pk}'>")
    write(ann, "deep/er/page", f"![x](/media/{file.pk}) ../../../media/{file.pk}/mine")
    write(ann, "gone", "deleted")
    pages.delete(ann, "gone")
    before = everything()
    target = tmp_path / "wiki.zip"
    done = exporting.export(CHIEF, target)
    assert (done.pages, done.files, done.missing) == (len(before), 1, ())
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    with zipfile.ZipFile(target) as archive:
        archive.extractall(tmp_path / "out")
    assert f"../media/{file.pk}/" in (tmp_path / "out/pages/plain.md").read_text()
    empty()
    file_path = media / str(file.pk)
    file_path.unlink()
    report = importing.run(CHIEF, target)
    assert report.faults == []
    assert everything() == before
    assert file_path.read_bytes() == PNG
    assert WikiAttachment.objects.get().name == "日本 logo.png"
    assert importing.run(CHIEF, tmp_path / "out").counts["unchanged"] == len(before)


def test_an_export_is_not_written_over(tmp_path, ann):
    write(ann, "p", "text")
    target = tmp_path / "wiki.zip"
    target.write_text("mine")
    with pytest.raises(Conflict):
        exporting.export(CHIEF, target)
    assert target.read_text() == "mine"
    assert exporting.export(CHIEF, target, overwrite=True).pages == 1
    with pytest.raises(InvalidInput):
        exporting.export(CHIEF, tmp_path / "no" / "folder.zip")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["wiki.zip"]


def a_zip(path: Path, *entries: tuple[zipfile.ZipInfo | str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as out:
        for entry, content in entries:
            out.writestr(entry, content)
    return path


def test_zips_that_climb_swell_or_link_are_refused(tmp_path):
    link = zipfile.ZipInfo("link.md")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    bad: list[tuple[tuple[zipfile.ZipInfo | str, bytes], ...]] = [
        (("../evil.md", b"x"),),
        (("/etc/evil.md", b"x"),),
        (("a/../../evil.md", b"x"),),
        (("C:/evil.md", b"x"),),
        (("a\\..\\evil.md", b"x"),),
        ((link, b"/etc/passwd"),),
        (("bomb.md", b"\x00" * 50_000_000),),
    ]
    for number, entries in enumerate(bad):
        with pytest.raises((InvalidInput, TooLarge)):
            importing.run(CHIEF, a_zip(tmp_path / f"{number}.zip", ("good.md", b"x"), *entries))
    damaged = a_zip(tmp_path / "damaged.zip", ("good.md", b"x" * 500))
    damaged.write_bytes(damaged.read_bytes()[:-40])
    with pytest.raises(InvalidInput):
        importing.run(CHIEF, damaged)
    assert WikiPage.objects.count() == 0
    assert not (tmp_path.parent / "evil.md").exists()


def test_a_zip_that_lies_about_a_size_is_a_fault(tmp_path):
    path = a_zip(tmp_path / "lie.zip", ("a.md", b"text " * 100), ("b.md", b"good"))
    raw = path.read_bytes().replace((500).to_bytes(4, "little"), (100).to_bytes(4, "little"))
    path.write_bytes(raw)
    report = importing.run(CHIEF, path)
    assert [fault["where"] for fault in report.faults] == ["a.md"]
    assert set(everything()) == {"b"}


def test_links_out_of_a_folder_are_not_followed(tmp_path):
    secret = tmp_path / "secret.md"
    secret.write_text("secret")
    inside = folder(tmp_path / "docs", {"a.md": "text"})
    (inside / "b.md").symlink_to(secret)
    (inside / "up").symlink_to(tmp_path)
    with open_source(inside) as source:
        assert source.names == {"a.md"}


@given(st.dictionaries(st.text(max_size=5), st.text(max_size=20), max_size=3), st.text(max_size=80))
def test_front_matter_comes_back(values, text):
    text = text.replace("\r", "")
    try:
        parsed = frontmatter.parse(frontmatter.dump({"title": "t", **values}, text))
    except InvalidInput:
        pytest.fail("what is written is read")
    assert parsed.body == text
    assert parsed.values == {"title": "t", **values}


@given(st.text(max_size=300))
def test_any_text_is_rewritten_or_left(text):
    assert linking.rewrite(text, "a/b", lambda path, part: None) == text
    linking.rewrite(text, "a", lambda path, part: "/x")
    with contextlib.suppress(GoclawError):
        frontmatter.parse(text)


@pytest.mark.parametrize("sign", ["[", "](", "`", "<a href=", "[x]: ", "![](", "](a(", '"', "](<"])
def test_rewriting_takes_linear_work(sign):
    text = sign * (400_000 // len(sign))
    assert linking.rewrite(text, "", lambda path, part: None) == text


@given(st.text(alphabet="./media-0123456789abcdef() ", max_size=80))
def test_bodies_survive_the_zip(text):
    pk = "0e4c5e7a-1111-4222-8333-444455556666"
    whole = f"{text} /media/{pk} ../media/{pk}/x.png {text}"
    names = {pk: f"media/{pk}/x.png"}
    exported = manifest.filed(whole, "pages/a/b.md", names)
    assert manifest.restored(exported, manifest.digest(whole)) == whole


def test_a_manifest_of_others_is_a_file_like_any(tmp_path):
    importing.run(
        CHIEF,
        folder(tmp_path, {"manifest.json": '{"name": "app"}', "a.md": "[b](b.md)", "b.md": "x"}),
    )
    assert body("a") == "[b](/wiki/p/b)"
    folder(tmp_path, {"manifest.json": '{"format": "goclaw-wiki", "version": 9}'})
    with pytest.raises(InvalidInput, match="version 9"):
        importing.run(CHIEF, tmp_path)
