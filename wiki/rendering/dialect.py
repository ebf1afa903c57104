"""What other wikis add to Markdown, shown as well as plain Markdown allows.

Notes of Wiki.js (`> text` and `{.is-info}`) and of GitHub (`> [!NOTE]`), sizes of pictures
(`![](a.png =100x)`), and classes in braces, which mean nothing here and are left out.
"""

from __future__ import annotations

import re
from xml.etree.ElementTree import Element

from markdown import Markdown
from markdown.preprocessors import Preprocessor
from markdown.treeprocessors import Treeprocessor

_SIZE = re.compile(r"(!\[[^\[\]\n]{0,500}\]\([^()\s]{1,2000}) +=\d{0,5}%?x\d{0,5}%?\)")
_CLASSES = re.compile(r"[ \n]?\{((?:\.[\w-]{1,40} ?){1,5})\}[ ]*\Z")
_ALERT = re.compile(r"\A\[!(NOTE|TIP|IMPORTANT|WARNING|CAUTION)\][ ]*(?:\n|\Z)")
_KINDS = {
    "NOTE": "is-info", "TIP": "is-success", "IMPORTANT": "is-info", "WARNING": "is-warning",
    "CAUTION": "is-danger",
}  # fmt: skip
_NOTES = frozenset(_KINDS.values())


def register(md: Markdown) -> None:
    """Teach a converter these habits."""
    md.preprocessors.register(_Sizes(md), "picture_sizes", 16)
    # Before the patterns inside lines: braces at an end are still text there.
    md.treeprocessors.register(_Braces(md), "braces", 25)


class _Sizes(Preprocessor):
    def run(self, lines: list[str]) -> list[str]:
        return [_SIZE.sub(r"\1)", line) if "![" in line else line for line in lines]


class _Braces(Treeprocessor):
    def run(self, root: Element) -> None:
        """Look at each element once."""
        for parent in root.iter():
            before: Element | None = None
            for child in list(parent):
                found = _taken(child)
                quote = _quote_of(child, before)
                if quote is not None and (kinds := _NOTES.intersection(found)):
                    quote.set("class", sorted(kinds)[0])
                if found and child.tag == "p" and not child.text and not len(child):
                    parent.remove(child)
                else:
                    before = child


def _quote_of(child: Element, before: Element | None) -> Element | None:
    """Return the quote that classes here are about: this one, or the one just before."""
    if child.tag == "blockquote":
        return child
    alone = child.tag == "p" and not child.text and before is not None
    return before if alone and before is not None and before.tag == "blockquote" else None


def _taken(element: Element) -> list[str]:
    """Take classes in braces from the end of an element, or from the last line of a quote."""
    if element.tag == "blockquote" and len(element):
        return _alert(element[0]) + _taken(element[-1])
    if element.tag not in ("p", "li", "h1", "h2", "h3", "h4", "h5", "h6") or not element.text:
        return []
    match = _CLASSES.search(element.text)
    if match is None:
        return []
    element.text = element.text[: match.start()]
    return match.group(1).replace(".", " ").split()


def _alert(first: Element) -> list[str]:
    match = _ALERT.match(first.text or "") if first.tag == "p" else None
    if match is None or first.text is None:
        return []
    first.text = first.text[match.end() :]
    return [_KINDS[match.group(1)]]
