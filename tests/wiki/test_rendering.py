"""What a text becomes: features, links, what is taken away, and bombs."""

import html as entities
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wiki.rendering import dress, fuel, limits, page, render
from wiki.rendering.page import plain


def slug(target: str) -> str:
    """Fold as the wiki does, roughly; a sign of exclamation names no page."""
    return "" if "!" in target else "-".join(target.lower().split())


def html(text: str) -> str:
    return render(text, slug).html


CASES = {
    "table": ("|a|b|\n|:-|-:|\n|1|2|", '<td align="right">2</td>'),
    "fence": ("```python\ndef f(): pass\n```", '<span class="k">def</span>'),
    "fence in a list": ("- a\n\n    ```sh\n    ls\n    ```", "<li>"),
    "fence without a language": ("```\n<b>\n```", "&lt;b&gt;"),
    "unknown language": ("```no-such\nx\n```", "<code>x"),
    "footnote": ("a[^1]\n\n[^1]: note", 'href="#fn:1"'),
    "definition": ("Term\n:   What it is", "<dd>What it is</dd>"),
    "task": (
        "- [x] done\n- [ ] open",
        '<input type="checkbox" disabled checked aria-label="done">',
    ),
    "struck": ("~~gone~~", "<del>gone</del>"),
    "anchor": ("## Fail over", '<h2 id="h-fail-over">'),
    "anchor in any script": ("## 障害 対応", 'id="h-障害-対応"'),
    "second anchor": ("# a\n\n# a", 'id="h-a_1"'),
    "details": ("<details><summary>More</summary>\n\nhidden\n\n</details>", "<summary>More"),
    "link": ("[x](https://a.example/?a=1&b=2)", 'href="https://a.example/?a=1&amp;b=2"'),
    "our picture": ("![alt](/media/4f2)", '<img alt="alt" src="/media/4f2" loading="lazy">'),
    "picture of others": (
        "![alt](https://a.example/x.png)",
        '<a href="https://a.example/x.png">alt',
    ),
    "angle brackets in prose": ("ssh <hostname> now", "&lt;hostname&gt;"),
}

CASES |= {
    "note of Wiki.js": (
        "> careful\n{.is-warning}",
        '<blockquote class="is-warning">\n<p>careful</p>',
    ),
    "note on a line of its own": ("> careful\n\n{.is-danger}", '<blockquote class="is-danger">'),
    "note of GitHub": ("> [!NOTE]\n> look", '<blockquote class="is-info">\n<p>look</p>'),
    "classes of other wikis": ("# Tabs {.tabset}\n\n- a\n- b\n{.links-list}", ">Tabs<a"),
    "size of a picture": ("![a](/media/4f2 =100x)", 'src="/media/4f2"'),
    "braces in prose": ("a {.b} c and f{.x}()", "a {.b} c and f{.x}()"),
    "no note of this name": ("> x\n{.btn}", "<blockquote>\n<p>x</p>"),
}


@pytest.mark.parametrize("name", CASES)
def test_what_markdown_becomes(name):
    text, expected = CASES[name]
    assert expected in html(text)


LINKS = {
    "[[Pay Gateway]]": ("/wiki/p/pay-gateway", "Pay Gateway"),
    "[[ops/x|the x]]": ("/wiki/p/ops/x", "the x"),
    "[[ops/x#Fail over]]": ("/wiki/p/ops/x#h-fail-over", "ops/x#Fail over"),
    "[[ops/x#Fail over|there]]": ("/wiki/p/ops/x#h-fail-over", "there"),
    "[[#Here]]": ("#h-here", "#Here"),
    "[[障害|手順]]": ("/wiki/p/%E9%9A%9C%E5%AE%B3", "手順"),
    "[[a%b]]": ("/wiki/p/a%25b", "a%b"),
}


@pytest.mark.parametrize("text", LINKS)
def test_links_to_pages(text):
    href, words = LINKS[text]
    assert f'<a href="{href}" class="wiki-link">{words}</a>' in html(text)


def test_links_in_cells_of_tables():
    made = html("|a|b|\n|-|-|\n|[[x|y]]|[[z\\|w]]|")
    assert '<td><a href="/wiki/p/x" class="wiki-link">y</a></td>' in made
    assert '<td><a href="/wiki/p/z" class="wiki-link">w</a></td>' in made


@pytest.mark.parametrize(
    "text", ["`[[a|b]]`", "```\n[[a|b]]\n```", "    [[a|b]]", "[[no!]]", "[[]]"]
)
def test_what_is_no_link(text):
    made = render(text, slug)
    assert "wiki-link" not in made.html
    assert not made.links
    assert re.sub("`+\n?", "", text).strip() in made.html


def test_what_is_said_about_a_page():
    made = render(
        "# One\n\n## *Two* & more\n\n[[b]] [[a]] [[b#x]] ![](/media/77) [f](/media/78)", slug
    )
    assert [(h.level, h.text, h.anchor) for h in made.headings] == [
        (1, "One", "h-one"), (2, "Two & more", "h-two-more"),
    ]  # fmt: skip
    assert made.links == ("b", "a")
    assert made.files == ("77", "78")


def test_links_to_nowhere_are_dressed_when_shown():
    made = html("[[gone]] [[here|x]] [[a/ü]] [m](/wiki/p/gone 'why')")
    shown = dress(made, {"gone", "a/ü"})
    assert shown.count('class="wiki-link missing"') == 3
    assert not re.search(r"<a[^>]* class=[^>]* class=", shown)
    assert 'href="/wiki/p/gone?view=edit"' in shown
    assert '<a href="/wiki/p/here" class="wiki-link">x</a>' in shown
    assert dress(made, ()) == made


def test_the_path_of_a_proxy_is_added_when_shown():
    shown = dress(html("[[a]] ![](/media/1) [out](https://a.example/wiki/p/a)"), (), "/base")
    assert 'href="/base/wiki/p/a"' in shown
    assert 'src="/base/media/1"' in shown
    assert 'href="https://a.example/wiki/p/a"' in shown


TAKEN = {
    "<script>x</script>": "<script",
    '<p onclick="x()">a</p>': "onclick=",
    '<p style="color:red">a</p>': "style=",
    '<p class="btn destroy toast">a</p>': "class=",
    '<p id="announce">a</p>': "id=",
    '<p hx-get="/logout/" data-dialog>a</p>': "hx-get",
    "[a](javascript:x)": "javascript:",
    "[a](data:text/html,x)": 'href="data:',
    "![a](data:image/png;base64,AA)": "<img",
    "<iframe src=/></iframe>": "<iframe",
    "<form action=/logout/><input name=q type=password></form>": "password",
    "<svg><a xlink:href='javascript:x'>": "<svg",
    "<!-- note -->": "<!--",
}


@pytest.mark.parametrize("text", TAKEN)
def test_what_is_taken_away(text):
    # What is shown as text is escaped; no tag and no attribute of it is left.
    assert TAKEN[text] not in re.sub(r"&lt;.*?&gt;", "", html(text))


@given(st.text(alphabet="<>a/=\"' &;[]()!`*_#|\n-:x\u0002\u0003漢\ud800", max_size=60))
def test_any_text_gives_html_and_only_allowed_tags(text):
    made = render(text, slug)
    tags = set(re.findall(r"<([a-z0-9]+)", made.html))
    assert tags <= page.sanitizing.TAGS
    made.html.encode()


@given(st.text(max_size=80))
def test_the_same_text_gives_the_same_html(text):
    assert render(text, slug) == page._rendered(text, slug)


def test_plain_text_is_shown_exactly():
    text = "a <b> & [[c]] \"d\" 'e'"
    made = plain(text, "it is a test.")
    assert entities.unescape(made.html.split("<pre>")[1].removesuffix("</pre>")) == text
    assert made.note.endswith("it is a test.")


N = 200_000
TAGS_OF_PLAIN = ["<p>", "<em>", "</em>", "</p>", "<pre>", "</pre>"]
BOMBS = {
    "open brackets": "[" * N,
    "open pictures": "![" * (N // 2),
    "brackets in brackets": "[" * (N // 2) + "]" * (N // 2),
    "links in one paragraph": "[a](b) " * (N * 5 // 7),
    "emphasis": "***a" * (N * 5 // 4),
    "ticks that grow": "".join("`" * n + " " for n in range(1, 1400)),
    "quotes in quotes": ">" * N,
    "lists in lists": "".join(" " * (4 * n) + "- a\n" for n in range(700)),
    "a table of bars": "|a|\n|-|\n" + "|`" * (N * 2),
    "open tags": "<div>" * (N // 5),
    "bold everywhere": "<b>x" * (N * 5 // 4),
    "list of everything": "- a\n" * N,
}


@pytest.mark.slow
@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_is_shown_as_plain_text(name):
    made = render(BOMBS[name], slug)
    assert made.note
    assert re.findall("<[^>]*>", made.html) == TAGS_OF_PLAIN


@pytest.mark.parametrize(
    "sign", [*list("[]()*_`~<>#|!\\ \t\n&=-+:.1a漢"), "- ", "> ", "1. ", "&#", "</"]
)
def test_no_sign_repeated_breaks_it(sign):
    made = render(sign * (20_000 // len(sign)), slug)
    assert isinstance(made.html, str)


@pytest.mark.slow
def test_a_dense_manual_of_a_million_signs_is_rendered():
    part = (
        "## Step {n}\n\nThe *payments* gateway `pay-{n}` takes **card** payments; see "
        "[docs](https://a.example/{n}) and go on with the [[step {n}]] after this one.\n\n"
        "- one\n- two\n\n```sh\ndrain {n}\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n"
    )
    text = "".join(part.replace("{n}", str(n)) for n in range(1_000_000 // len(part)))
    spent = fuel.Fuel()
    made = render(text, slug)
    assert not made.note
    assert len(made.links) == 1_000_000 // len(part)
    assert spent.left == fuel.BUDGET


def test_pieces_hold_everything_and_end_where_nothing_is_open():
    text = html("".join(f"# h{n}\n\n- a\n    - b\n\ntext {n}\n\n" for n in range(2_000)))
    parts = list(limits.pieces(text))
    assert len(parts) > 2
    assert "".join(parts) == text
    for part in parts:
        assert part.count("<ul>") == part.count("</ul>")


def test_code_that_is_too_long_is_not_coloured():
    lines = "x = 1\n" * 8_000
    assert "<span" not in html(f"```python\n{lines}```")
    assert "<span" not in html(f"```python\nx = '{'a' * 5_000}'\n```")
    assert "<span" in html("```python\nx = 1\n```")


def test_a_tag_may_not_close_what_stands_around_the_page():
    assert "</article" not in html("</div></article></main><b>out")


def test_cached_and_fresh_are_the_same_object():
    text = "cached once"
    assert render(text, slug) is render(text, slug)
