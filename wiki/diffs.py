"""What changed between two texts: by lines, and by words within them. Pure and bounded."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from rapidfuzz import fuzz

from wiki.aligning import matches

#: Unchanged lines shown on both sides of a change.
CONTEXT = 3
#: Rows of one comparison; a browser shows more only slowly, and nobody reads them.
ROWS = 4_000
#: Words of one line that are compared; longer lines are shown whole.
WORDS = 6_000
#: Rows that show a change.
CHANGES = ("changed", "removed", "added")
#: What comparing two lines by words may cost; see `wiki.aligning`.
LINE_WORK = 200_000
#: Characters of all lines together that are compared by words.
WORDS_IN_ALL = 400_000
#: Lines of a changed stretch that are paired by likeness; longer stretches are paired in order.
_PAIRED = 40
_LIKE = 45
_READ = 400
#: Spaces, one sign of a script without spaces, a word, or any other sign.
_CJK = "\u0e00-\u0e7f\u1100-\u11ff\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U000323af"
_WORD = re.compile(rf"\s+|[{_CJK}]|[^\W{_CJK}]+(?:['’][^\W{_CJK}]+)*|.", re.DOTALL)


@dataclass(frozen=True)
class Piece:
    """A run of text; `kind` is same, del or ins."""

    kind: str
    text: str


@dataclass(frozen=True)
class Row:
    """A line of the comparison; `kind` is same, changed, removed, added or gap.

    `pieces` holds the words of both sides together. A gap stands for `count` unchanged lines.
    """

    kind: str
    old: int | None = None
    new: int | None = None
    pieces: tuple[Piece, ...] = ()
    count: int = 0

    @property
    def left(self) -> tuple[Piece, ...]:
        """The old line."""
        return tuple(piece for piece in self.pieces if piece.kind != "ins")

    @property
    def right(self) -> tuple[Piece, ...]:
        """The new line."""
        return tuple(piece for piece in self.pieces if piece.kind != "del")


@dataclass(frozen=True)
class Diff:
    """A comparison: lines added and removed in all; `cut` counts the changes that are left out."""

    rows: tuple[Row, ...]
    added: int
    removed: int
    cut: int = 0

    @property
    def limited(self) -> bool:
        """Whether as many rows are shown as there may be; the texts may go on."""
        return len(self.rows) >= ROWS

    @property
    def same(self) -> bool:
        """Whether nothing changed."""
        return not (self.added or self.removed)


def compare(old: str, new: str, context: int | None = CONTEXT) -> Diff:
    """Compare two texts; without `context` every unchanged line is shown."""
    left, right = lines(old), lines(new)
    table = _Table(left, right, context)
    added = removed = 0
    for kind, i1, i2, j1, j2 in opcodes(left, right):
        if kind == "same":
            table.same(i1, i2, j1)
            continue
        removed, added = removed + i2 - i1, added + j2 - j1
        table.changed(i1, i2, j1, j2)
    return Diff(tuple(table.rows), added, removed, table.cut)


def lines(text: str) -> list[str]:
    """Return the lines; a line break at the very end begins no other line."""
    if not text:
        return []
    return text.replace("\r\n", "\n").removesuffix("\n").split("\n")


def opcodes(old: list[str], new: list[str]) -> Iterator[tuple[str, int, int, int, int]]:
    """Yield (same or changed, from and to in old, from and to in new) that cover both."""
    i = j = 0
    for a, b, size in [*matches(old, new), (len(old), len(new), 0)]:
        if i < a or j < b:
            yield "changed", i, a, j, b
        if size:
            yield "same", a, a + size, b, b + size
        i, j = a + size, b + size


class _Table:
    """Takes the stretches in order and makes rows of them, up to a limit."""

    def __init__(self, old: list[str], new: list[str], context: int | None) -> None:
        self.old, self.new, self.context = old, new, context
        self.rows: list[Row] = []
        self.cut = 0
        self.words = WORDS_IN_ALL

    def same(self, i1: int, i2: int, j1: int) -> None:
        """Show the lines near a change; a gap stands for the others."""
        length = i2 - i1
        before = after = length
        if self.context is not None:
            before = 0 if i1 == 0 == j1 else self.context
            after = 0 if i2 == len(self.old) and j1 + length == len(self.new) else self.context
        gap = length - before - after
        if gap <= 0:
            before, after, gap = length, 0, 0
        for step in [*range(before), *([-1] if gap else []), *range(length - after, length)]:
            if step < 0:
                self._add(Row("gap", i1 + before + 1, j1 + before + 1, count=gap))
            else:
                line = (Piece("same", self.old[i1 + step]),)
                self._add(Row("same", i1 + step + 1, j1 + step + 1, line))

    def changed(self, i1: int, i2: int, j1: int, j2: int) -> None:
        """Show lines that went and lines that came, side by side where they are alike."""
        room = max(ROWS - len(self.rows), 0)
        self.cut += max(i2 - i1 - room, 0) + max(j2 - j1 - room, 0)
        old, new = self.old[i1:i2][:room], self.new[j1:j2][:room]
        for a, b in _paired(old, new):
            self._add(
                Row(
                    "added" if a is None else "removed" if b is None else "changed",
                    None if a is None else i1 + a + 1,
                    None if b is None else j1 + b + 1,
                    self._pieces(None if a is None else old[a], None if b is None else new[b]),
                )
            )

    def _pieces(self, old: str | None, new: str | None) -> tuple[Piece, ...]:
        if old is None or new is None:
            return (Piece("ins", new or ""),) if old is None else (Piece("del", old),)
        self.words -= len(old) + len(new)
        if self.words < 0:
            return _pieces([("del", old), ("ins", new)])
        return words(old, new)

    def _add(self, row: Row) -> None:
        if len(self.rows) < ROWS:
            self.rows.append(row)
        elif row.kind in CHANGES:
            self.cut += 1


Pair = tuple[int | None, int | None]


def _paired(old: list[str], new: list[str]) -> list[Pair]:
    """Pair the lines of a changed stretch: what is alike stands side by side."""
    if len(old) == 1 == len(new):
        return [(0, 0)] if _alike(old[0], new[0]) >= _LIKE else [(0, None), (None, 0)]
    if len(old) > _PAIRED or len(new) > _PAIRED:
        return _in_order(old, new)
    return _by_likeness(old, new)


def _in_order(old: list[str], new: list[str]) -> list[Pair]:
    both = min(len(old), len(new))
    pairs: list[Pair] = []
    for at in range(both):
        alike = _alike(old[at], new[at]) >= _LIKE
        pairs += [(at, at)] if alike else [(at, None), (None, at)]
    pairs += [(at, None) for at in range(both, len(old))]
    pairs += [(None, at) for at in range(both, len(new))]
    return pairs


def _by_likeness(old: list[str], new: list[str]) -> list[Pair]:
    """Return the pairs whose likenesses add up to the most (the usual table, filled backwards)."""
    likeness = [[_alike(a, b) for b in new] for a in old]
    best = [[0.0] * (len(new) + 1) for _ in range(len(old) + 1)]
    for a in range(len(old) - 1, -1, -1):
        for b in range(len(new) - 1, -1, -1):
            take = likeness[a][b] + best[a + 1][b + 1] if likeness[a][b] >= _LIKE else 0.0
            best[a][b] = max(take, best[a + 1][b], best[a][b + 1])
    pairs: list[Pair] = []
    a = b = 0
    while a < len(old) and b < len(new):
        if likeness[a][b] >= _LIKE and best[a][b] == likeness[a][b] + best[a + 1][b + 1]:
            pairs.append((a, b))
            a, b = a + 1, b + 1
        elif best[a][b] == best[a + 1][b]:
            pairs.append((a, None))
            a += 1
        else:
            pairs.append((None, b))
            b += 1
    pairs += [(at, None) for at in range(a, len(old))]
    return pairs + [(None, at) for at in range(b, len(new))]


def _alike(old: str, new: str) -> float:
    """Return 0 to 100; the beginning of a line says enough."""
    if not old.strip() or not new.strip():
        return 100.0 if old.strip() == new.strip() else 0.0
    return fuzz.ratio(old[:_READ], new[:_READ])


def words(old: str, new: str) -> tuple[Piece, ...]:
    """Compare two lines word by word; by sign in scripts that put no space between words."""
    left, right = _WORD.findall(old), _WORD.findall(new)
    if len(left) > WORDS or len(right) > WORDS:
        return _pieces([("del", old), ("ins", new)])
    parts: list[tuple[str, str]] = []
    i = j = 0
    for a, b, size in [*matches(left, right, LINE_WORK), (len(left), len(right), 0)]:
        parts += [("del", "".join(left[i:a])), ("ins", "".join(right[j:b]))]
        parts.append(("same", "".join(left[a : a + size])))
        i, j = a + size, b + size
    return _pieces(_smoothed(parts))


def _smoothed(parts: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Join changes with nothing but a space between: "a b" became "c d", not a, c, b, d."""
    done: list[tuple[str, str]] = []
    for at, (kind, text) in enumerate(parts):
        inner = 0 < at < len(parts) - 1 and bool(text) and not text.strip()
        if kind == "same" and inner and any(word for _, word in parts[at + 1 : at + 3]):
            done += [("del", text), ("ins", text)]
        else:
            done.append((kind, text))
    return done


def _pieces(parts: list[tuple[str, str]]) -> tuple[Piece, ...]:
    """Join neighbours of one kind; between two unchanged words the old stands before the new."""
    made: list[Piece] = []
    held = {"del": "", "ins": ""}

    def let_go() -> None:
        made.extend(Piece(kind, text) for kind, text in held.items() if text)
        held.update({"del": "", "ins": ""})

    for kind, text in parts:
        if kind != "same":
            held[kind] += text
        elif text:
            let_go()
            made.append(Piece("same", text))
    let_go()
    return tuple(made)


def unified(old: str, new: str, old_name: str = "old", new_name: str = "new") -> str:
    """Return the comparison in the format of `diff -u`; empty where nothing changed."""
    diff = compare(old, new)
    if diff.same:
        return ""
    out = [f"--- {old_name}", f"+++ {new_name}"]
    for hunk in _hunks(diff.rows):
        out += _hunk(hunk)
    if diff.cut:
        out.append(f"\\ {diff.cut:,} more lines are left out")
    return "\n".join(out) + "\n"


def _hunks(rows: tuple[Row, ...]) -> Iterator[list[Row]]:
    hunk: list[Row] = []
    for row in rows:
        if row.kind == "gap":
            if hunk:
                yield hunk
            hunk = []
        else:
            hunk.append(row)
    if hunk:
        yield hunk


def _hunk(rows: list[Row]) -> Iterator[str]:
    olds = [row.old for row in rows if row.old is not None]
    news = [row.new for row in rows if row.new is not None]
    yield f"@@ -{_span(olds)} +{_span(news)} @@"
    held: list[str] = []
    for row in rows:
        if row.kind == "same":
            yield from held
            held = []
            yield " " + row.pieces[0].text
            continue
        if row.old is not None:
            yield "-" + "".join(piece.text for piece in row.left)
        if row.new is not None:
            held.append("+" + "".join(piece.text for piece in row.right))
    yield from held


def _span(numbers: list[int]) -> str:
    return f"{numbers[0]},{len(numbers)}" if numbers else "0,0"
