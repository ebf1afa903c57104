"""Files: by content, once, whole or not at all; shown only where they can do nothing."""

from __future__ import annotations

import hashlib
import uuid

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from goclaw_site.errors import TooLarge, Unavailable
from tests.api.callers import Caller, caller, user
from tests.wiki.making import write
from wiki import attachments, filetypes, pages, queries
from wiki.media import Span, span_of
from wiki.models import WikiAttachment

pytestmark = pytest.mark.django_db

FILES = "/api/memory/wiki/attachments/"
PNG = b"\x89PNG\r\n\x1a\n" + b"\x00\x00\x00\rIHDR" + b"p" * 200


@pytest.fixture
def media(settings, tmp_path, monkeypatch):
    folder = tmp_path / "media"
    folder.mkdir()
    monkeypatch.setattr(attachments, "state_dir", lambda: tmp_path)
    return folder


@pytest.fixture
def browser(db) -> Client:
    client = Client(raise_request_exception=False)
    client.force_login(user("eve"))
    return client


def post(client: Client, content: bytes, name: str = "a.png", slug: str = "p"):
    file = SimpleUploadedFile(name, content)
    return client.post(FILES, {"slug": slug, "file": file})


def names(folder) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_picture_is_uploaded_and_shown(browser, media):
    answer = post(browser, PNG, "Größe.png")
    assert answer.status_code == 201, answer.content
    told = answer.json()
    assert (told["name"], told["content_type"], told["inline"]) == ("Größe.png", "image/png", True)
    assert (told["size"], told["sha256"]) == (len(PNG), hashlib.sha256(PNG).hexdigest())
    assert told["url"] == f"/media/{told['id']}"
    file = browser.get(told["url"])
    assert b"".join(file.streaming_content) == PNG
    assert (file["Content-Type"], file["X-Content-Type-Options"]) == ("image/png", "nosniff")
    assert file["Content-Disposition"].startswith("inline")
    assert "sandbox" in file["Content-Security-Policy"]
    assert names(media) == [told["id"]]
    assert (media / told["id"]).stat().st_mode & 0o077 == 0


def test_the_same_content_on_the_same_page_is_one_file(browser, media):
    first = post(browser, PNG)
    again = post(browser, PNG, "other.png", slug="P")
    assert (again.status_code, again.json()["id"]) == (200, first.json()["id"])
    assert post(browser, PNG, slug="q").json()["id"] != first.json()["id"]
    assert len(names(media)) == 2


HARMFUL = {
    "page.png": (b"<!DOCTYPE html><script>alert(1)</script>", "text/html"),
    "picture.svg": (b'<svg xmlns="http://www.w3.org/2000/svg" onload="x()"/>', "image/svg+xml"),
    "other.jpg": (b'<?xml version="1.0"?><svg onload="x()"/>', "image/svg+xml"),
    "notes.html": (b"plain", "text/html"),
    "text.txt": ("grüße".encode(), "text/plain"),
    "table.csv": (b"a,b\n1,2\n", "text/csv"),
    "doc.pdf": (b"%PDF-1.7\n\x00\xff", "application/pdf"),
    "bundle.zip": (b"PK\x03\x04" + b"\x00" * 60, "application/zip"),
    "gif.html": (b"GIF8 not a gif <script>", "text/html"),
    "noise.bin": (bytes(range(256)) * 4, "application/octet-stream"),
}


@pytest.mark.parametrize("name", HARMFUL)
def test_everything_else_is_downloaded_into_a_sandbox(browser, media, name):
    content, kind = HARMFUL[name]
    told = post(browser, content, name).json()
    assert (told["content_type"], told["inline"]) == (kind, False)
    file = browser.get(told["url"])
    assert file["Content-Disposition"].startswith("attachment")
    assert file["Content-Security-Policy"] == "default-src 'none'; sandbox"
    assert file["X-Content-Type-Options"] == "nosniff"


@pytest.mark.parametrize(
    ("head", "kind"),
    [
        (b"\xff\xd8\xff\xe0", "image/jpeg"), (b"GIF89a\x01", "image/gif"),
        (b"RIFF\x10\x00\x00\x00WEBPVP8 ", "image/webp"),
        (b"\x00\x00\x00\x20ftypavif\x00", "image/avif"),
        (b"\x01\xfe<\x00s\x00c\x00r\x00", "application/octet-stream"),
        ("日本".encode()[:-1], "text/plain"), (b"\x00", "application/octet-stream"),
    ],
)  # fmt: skip
def test_types_by_content(head, kind):
    assert filetypes.of(head) == kind


def test_no_name_makes_a_picture(monkeypatch):
    for name in ("x.png", "x.jpg", "x.gif", "x.webp", "x.avif"):
        for head in (b"BM" + b"\x00" * 50, b"\x00\x01\x02junk", b"<b>", b"II*\x00aaaa"):
            assert not filetypes.shown(filetypes.of(head, name))


@pytest.mark.parametrize(
    ("given", "clean"),
    [
        ("../../etc/passwd", "passwd"), ("C:\\temp\\x.png", "x.png"), ("", "file"),
        ("..", "file"), (".htaccess", "htaccess"), ("a\x00b\n.png", "ab.png"),
        ("gpj\u202eexe.png", "gpjexe.png"), ("x" * 300 + ".png", "x" * 196 + ".png"),
        ("cafe\u0301", "caf\u00e9"), ('q"uote;.png', 'q"uote;.png'), ("\ud800.png", "\ufffd.png"),
    ],
)  # fmt: skip
def test_names_are_cleaned(given, clean):
    assert attachments.clean_name(given) == clean


def test_empty_files_and_missing_parts_are_refused(browser, media):
    assert post(browser, b"").status_code == 400
    assert "empty" in post(browser, b"").json()["detail"]
    assert browser.post(FILES, {"slug": "p"}).status_code == 400
    assert browser.post(FILES, {"file": SimpleUploadedFile("a", b"x")}).status_code == 400
    assert browser.post(FILES, b"{}", content_type="application/json").status_code == 400
    assert browser.post(FILES, b"x", content_type="text/plain").status_code == 415
    assert post(browser, PNG, slug="../x").status_code == 400
    assert (names(media), WikiAttachment.objects.count()) == ([], 0)


def test_files_over_the_limit_are_refused_with_the_figure(configure, browser, media, ann):
    configure({"wiki.max_attachment_mb": 1})
    refused = post(browser, b"x" * (1024**2 + 1))
    assert refused.status_code == 413
    assert "1 MiB" in refused.json()["detail"]
    assert post(browser, b"x" * 1024**2).status_code == 201
    with pytest.raises(TooLarge):
        attachments.upload(ann, "p", "a", (b"x" * 2**19 for _ in range(9)))
    assert len(names(media)) == 1, "no half-done file stays"


def test_an_upload_that_breaks_off_leaves_nothing(ann, media):
    def broken():
        yield PNG
        raise ConnectionResetError("gone")

    with pytest.raises(Unavailable):
        attachments.upload(ann, "p", "a", broken())
    assert (names(media), WikiAttachment.objects.count()) == ([], 0)


def test_a_full_disk_is_said(ann, media, monkeypatch):
    monkeypatch.setattr(attachments.os, "fsync", _no_room)
    with pytest.raises(Unavailable, match="No space"):
        attachments.upload(ann, "p", "a", [PNG])
    assert names(media) == []


def _no_room(number: int) -> None:
    raise OSError(28, "No space left on device")


def test_bodies_of_uploads_may_be_larger_than_others(configure, media, monkeypatch):
    configure({"wiki.max_attachment_mb": 100})
    root = caller("root", is_superuser=True)
    big = {"CONTENT_LENGTH": str(90 * 1024**2)}
    assert root.send("POST", FILES, b"", content_type="text/plain", **big).status_code == 415
    assert root.send("POST", "/api/memory/", b"", **big).status_code == 413
    over = {"CONTENT_LENGTH": str(102 * 1024**2)}
    assert root.send("POST", FILES, b"", **over).status_code == 413


def test_who_may_upload_and_delete(browser, media):
    stranger, person = Caller(), caller("kay")
    told = post(browser, PNG).json()
    assert stranger.get(told["url"]).status_code == 401
    assert b"".join(person.get(told["url"]).streaming_content) == PNG
    key = {"Authorization": f"Bearer {person.key}"}
    sent = {"slug": "p", "file": SimpleUploadedFile("a", b"x")}
    assert Client().post(FILES, sent, headers=key).status_code == 403
    one = f"{FILES}{told['id']}/"
    assert person.delete(one).status_code == 403
    assert person.get(one).json()["name"] == "a.png"
    assert len(person.get(FILES, {"slug": "p"}).json()["results"]) == 1
    root = caller("root", is_superuser=True)
    assert root.get(f"{FILES}{uuid.uuid4()}/").status_code == 404
    assert root.get(f"/media/{uuid.uuid4()}").status_code == 404


@pytest.mark.django_db(transaction=True)
def test_deleting_removes_the_file(browser, media):
    told = post(browser, PNG).json()
    assert browser.delete(f"{FILES}{told['id']}/").status_code == 204
    assert (names(media), WikiAttachment.objects.count()) == ([], 0)
    assert browser.get(told["url"]).status_code == 404


def test_parts_of_files(browser, media):
    url = post(browser, bytes(range(100)), "a.bin").json()["url"]
    etag = browser.get(url)["ETag"]

    def part(header: str, **more: str):
        answer = browser.get(url, headers={"Range": header, **more})
        return answer.status_code, b"".join(answer.streaming_content) if answer.streaming else b""

    assert part("bytes=10-19") == (206, bytes(range(10, 20)))
    assert part("bytes=90-") == (206, bytes(range(90, 100)))
    assert part("bytes=-5") == (206, bytes(range(95, 100)))
    assert part("bytes=50-1000") == (206, bytes(range(50, 100)))
    assert part("bytes=100-")[0] == 416
    assert part("bytes=-0")[0] == 416
    whole = (200, bytes(range(100)))
    for odd in (
        "bytes=5-1",
        "bytes=a-b",
        "lines=1-2",
        "bytes=0-1,5-6",
        "bytes=-",
        "bytes=" + "9" * 30 + "-",
    ):
        assert part(odd) == whole, odd
    assert part("bytes=0-1", **{"If-Range": etag})[0] == 206
    assert part("bytes=0-1", **{"If-Range": '"other"'}) == whole
    assert browser.get(url, headers={"If-None-Match": etag}).status_code == 304
    assert browser.get(url, headers={"If-None-Match": f'W/"x", W/{etag}'}).status_code == 304
    head = browser.head(url)
    assert (head.status_code, head["Content-Length"]) == (200, "100")


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_spans_lie_within_the_file(size):
    for first in ("", "0", "3", "999"):
        for last in ("", "0", "3", "5000"):
            span = span_of(f"bytes={first}-{last}", size)
            assert span is None or Span(0, size).start <= span.start <= span.end <= size


def test_files_go_with_their_page(ann, media):
    write(ann, "p", "text")
    one = attachments.upload(ann, "p", "a", [PNG]).attachment
    attachments.upload(ann, "q", "b", [PNG])
    pages.move(ann, "p", "q")
    assert len(queries.attachments(ann, "q")) == 2
    assert attachments.upload(ann, "p", "again", [PNG]).created is False, "the old name leads on"
    assert queries.attachment(ann, one.pk).slug == "q"


def test_a_deleted_page_keeps_its_files(ann, media):
    write(ann, "p", "text")
    attachments.upload(ann, "p", "a", [PNG])
    pages.delete(ann, "p")
    assert len(names(media)) == 1


def test_a_row_whose_file_is_gone_takes_the_upload_anew(ann, media, browser):
    stored = attachments.upload(ann, "p", "a", [PNG]).attachment
    attachments.path_of(stored.pk).unlink()
    assert browser.get(f"/media/{stored.pk}").status_code == 404
    again = attachments.upload(ann, "p", "a", [PNG])
    assert (again.attachment.pk, again.created) == (stored.pk, False)
    assert attachments.path_of(stored.pk).read_bytes() == PNG


def test_the_folder_is_made_where_it_is_missing(browser, media):
    media.rmdir()
    told = post(browser, PNG).json()
    assert names(media) == [told["id"]]
