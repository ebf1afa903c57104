"""Cuts a text into overlapping chunks at the best boundaries there are; pure and linear."""

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field

# What an offset is worth as a cut. FORBIDDEN offsets lie inside a character as people see it, or
# inside a code block or table that fits into one chunk.
FORBIDDEN, HARD, SPACE, SENTENCE, LINE, PARAGRAPH, HEADING = range(7)

TITLE_LIMIT = 120
PATH_SEPARATOR = " › "


@dataclass(frozen=True)
class Span:
    """One chunk: offsets in code points, and the heading path in force where its text begins."""

    start: int
    end: int
    heading: str


def split(text: str, size: int = 1600, overlap: int = 320) -> list[Span]:
    """Chunks of at most `size` code points that cover the text; none for a blank text.

    Neighbours share at most `overlap` code points, which may be half of the size.
    """
    if size < 1 or not 0 <= overlap <= size // 2:
        raise ValueError(f"chunk overlap {overlap} must be from 0 to half of the size {size}")
    if not text.strip():
        return []
    outline = _outline(text)
    marks = _marks(text, outline, size)
    return [
        Span(start, end, outline.heading_at(_first_ink(text, start, end)))
        for start, end in _walk(marks, size, overlap)
    ]


def _first_ink(text: str, start: int, end: int) -> int:
    return start + len(text[start:end]) - len(text[start:end].lstrip())


# --- the walk over the marks


def _walk(marks: bytearray, size: int, overlap: int) -> list[tuple[int, int]]:
    """Offsets of the chunks. Any two steps advance by a quarter of the size: the work is linear."""
    length, start, cut = len(marks) - 1, 0, 0
    spans = []
    while length - start > size:
        cut = _cut(marks, start, cut, size, overlap)
        spans.append((start, cut))
        start = _restart(marks, start, cut, size, overlap)
    spans.append((start, length))
    return spans


def _cut(marks: bytearray, start: int, done: int, size: int, overlap: int) -> int:
    """Where the chunk from `start` ends, past `done`, the end of the one before."""
    floor, top = start + overlap + (size - overlap + 1) // 2, start + size
    tail = len(marks) - 1 - size // 4  # a later cut would leave a tiny last chunk
    windows = ((floor, min(top, tail)), (floor, top), (done + 1, floor))
    found = (_best(marks, low, high) for low, high in windows)
    return next(at for at in found if at >= 0)


def _best(marks: bytearray, low: int, high: int) -> int:
    """The last offset of the highest mark in low…high, or -1."""
    for mark in range(HEADING, FORBIDDEN, -1):
        at = marks.rfind(mark, low, high + 1)
        if at >= 0:
            return at
    return -1


def _restart(marks: bytearray, start: int, cut: int, size: int, overlap: int) -> int:
    """Where the next chunk begins: as far back as the overlap allows, on a boundary.

    It begins at a heading where there is one, so that its heading path tells the truth.
    """
    following = cut + 1
    while marks[following] == FORBIDDEN:
        following += 1
    # The next chunk must reach past this cut, so what cannot be cut has to fit behind the start.
    low = max(cut - overlap, following - size, start + 1)
    heading = marks.rfind(HEADING, low, cut + 1)
    if heading >= 0:
        return heading
    middle = (low + cut) // 2
    tries = ((SENTENCE, middle), (SPACE, cut), (HARD, cut))
    found = (_first(marks, mark, low, high) for mark, high in tries)
    return next((at for at in found if at >= 0), cut)


def _first(marks: bytearray, mark: int, low: int, high: int) -> int:
    """The first offset in low…high (without high) that is worth at least `mark`, or -1."""
    found = (marks.find(better, low, high) for better in range(mark, HEADING + 1))
    return min((at for at in found if at >= 0), default=-1)


# --- marking every offset of the text

ENDS = ".!?؟۔।॥"  # need white space behind them: "3.14", "example.org"
WIDE_ENDS = "。！？．｡"
CLOSERS = "\"'”’»›)\\]}」』）］｝】》〉〕*_`"
# Possessive and guarded by a look-behind: a long run of full stops is read once, not once a stop.
SENTENCES = re.compile(
    rf"(?<![{ENDS}{WIDE_ENDS}])"
    rf"(?:[{ENDS}]++[{CLOSERS}]*+\s++"
    rf"|[{ENDS}]*+[{WIDE_ENDS}][{ENDS}{WIDE_ENDS}]*+[{CLOSERS}]*+\s*+)"
)
WORTH = bytes(
    {ord("s"): SPACE, ord("c"): LINE, ord("n"): LINE}.get(letter, HARD) for letter in range(256)
)
# Between a heading and its text a line break is worth no more than a space elsewhere.
BELOW_HEADING = bytes([FORBIDDEN, HARD, HARD, HARD, SPACE, SPACE, SPACE, *[HARD] * 249])


def _marks(text: str, outline: "_Outline", size: int) -> bytearray:
    """One mark for each offset 0…len(text)."""
    letters = _letters(text)
    marks = bytearray([HARD]) + letters.translate(WORTH)
    for match in SENTENCES.finditer(text):
        marks[match.end()] = max(marks[match.end()], SENTENCE)
    for start in outline.paragraphs:
        marks[start] = PARAGRAPH
    for start, _ in outline.headings:
        marks[start] = HEADING
    for start, end in outline.leads:
        if end - start <= size:
            marks[start + 1 : end + 1] = marks[start + 1 : end + 1].translate(BELOW_HEADING)
    _forbid(marks, letters, outline.blocks, size)
    return marks


def _forbid(marks: bytearray, letters: bytes, blocks: list[tuple[int, int]], size: int) -> None:
    """Closes what must stay whole; what is longer than a chunk stays open to a hard cut."""
    clusters = (match.span() for match in CLUSTERS.finditer(letters))
    for start, end in (*blocks, *clusters):
        if end - start <= size:
            marks[start + 1 : end] = bytes(end - start - 1)
        elif size > 1:
            for pair in PAIRS.finditer(letters, start, end):
                marks[pair.start() + 1] = FORBIDDEN


# --- characters as people see them (a conservative reading of Unicode's UAX #29)

# s space, n newline, c carriage return, h and l surrogates, r regional indicator, z zero-width
# joiner, e what extends the character before it, v virama, o other letters, x the rest.
TAIL = rb"(?:e|v[ez]*o?|z(?:rr|hl|[^cns])?)"
CLUSTERS = re.compile(rb"cn|(?:rr|hl)" + TAIL + rb"*|[^cn]" + TAIL + rb"+")
PAIRS = re.compile(rb"hl|cn")
SINGLE = dict.fromkeys("\n\x0b\x0c\x85\u2028\u2029", "n") | {
    "\r": "c",
    "\u200d": "z",
    "\u200b": "s",  # zero-width space: a place to break in Thai and Khmer
    "\u00a0": "x",  # the no-break spaces
    "\u2007": "x",
    "\u202f": "x",
}
SINGLE |= dict.fromkeys("\u094d\u09cd\u0acd\u0b4d\u0c4d\u0d4d", "v")
# Not combining by category, yet part of the character before them: the non-joiner, Thai and Lao
# am, half-width voiced marks.
SINGLE |= dict.fromkeys("\u200c\u0e33\u0eb3\uff9e\uff9f", "e")
RANGES = (
    (0xD800, 0xDBFF, "h"),
    (0xDC00, 0xDFFF, "l"),
    (0x1F1E6, 0x1F1FF, "r"),
    (0x1F3FB, 0x1F3FF, "e"),  # skin tones
    (0xE0020, 0xE007F, "e"),  # tags, in the flags of regions
    (0x1160, 0x11FF, "e"),  # vowels and finals of decomposed Hangul
    (0xD7B0, 0xD7FB, "e"),
)


def _letters(text: str) -> bytes:
    """The kind of each character as one ASCII letter; each distinct one is looked up once."""
    kinds = {ord(character): _kind(character) for character in set(text)}
    return text.translate(kinds).encode("ascii")


def _kind(character: str) -> str:
    if character in SINGLE:
        return SINGLE[character]
    code = ord(character)
    for low, high, kind in RANGES:
        if low <= code <= high:
            return kind
    if unicodedata.category(character).startswith("M"):
        return "e"
    if character.isspace():
        return "s"
    return "o" if character.isalpha() else "x"


# --- the outline of a Markdown text

FENCE = re.compile(r"(`{3,})[^`]*$|(~{3,})")
HEADING_LINE = re.compile(r" {0,3}(#{1,6})[ \t]+(?=\S)")


def _outline(text: str) -> "_Outline":
    outline = _Outline()
    start = 0
    for start, line in _lines(text):
        outline.read(start, line)
    outline.finish(len(text))
    return outline


def _lines(text: str) -> Iterator[tuple[int, str]]:
    start = 0
    for line in text.split("\n"):
        yield start, line
        start += len(line) + 1


@dataclass
class _Outline:
    """What the lines are: read once, in order."""

    headings: list[tuple[int, str]] = field(default_factory=list)  # offset, path
    paragraphs: list[int] = field(default_factory=list)  # offsets of lines after a blank one
    blocks: list[tuple[int, int]] = field(default_factory=list)  # fences and tables
    leads: list[tuple[int, int]] = field(default_factory=list)  # heading … first text below it
    path: list[tuple[int, str]] = field(default_factory=list)  # level, title
    fence: str = ""
    block: int = -1
    lead: int = -1
    before: tuple[int, str] = (0, "x")

    def read(self, start: int, line: str) -> None:
        body = line.strip()
        if not self.before[1]:
            self.paragraphs.append(start)
        if self.fence:
            self._read_fence(start + len(line) + 1, body)
        elif body:
            self._read_text(start, line, body)
        else:
            self._close(start)
        self.before = (start, body)

    def finish(self, length: int) -> None:
        self._close(length)
        # A closing line without a newline ends one past the text; so does an empty last line.
        self.blocks = [(start, min(end, length)) for start, end in self.blocks]

    def heading_at(self, offset: int) -> str:
        at = bisect_right(self.headings, offset, key=lambda heading: heading[0])
        return self.headings[at - 1][1] if at else ""

    def _read_fence(self, end: int, body: str) -> None:
        if body.startswith(self.fence) and not body.strip(self.fence[0]):
            self.fence = ""
            self._close(end)

    def _read_text(self, start: int, line: str, body: str) -> None:
        if "|" not in body:
            self._close(start)
        if heading := HEADING_LINE.match(line):
            self._read_heading(start, len(heading[1]), line[heading.end() :])
            return
        self._end_lead(start)
        if fence := FENCE.match(body):
            self._close(start)
            self.fence, self.block = fence[1] or fence[2], start
        elif self.block < 0 and _is_delimiter_row(body) and "|" in self.before[1]:
            self.block = self.before[0]

    def _read_heading(self, start: int, level: int, rest: str) -> None:
        self._close(start)
        while self.path and self.path[-1][0] >= level:
            self.path.pop()
        self.path.append((level, _title(rest)))
        self.headings.append((start, PATH_SEPARATOR.join(title for _, title in self.path)))
        if self.lead < 0:
            self.lead = start

    def _end_lead(self, start: int) -> None:
        if self.lead >= 0:
            self.leads.append((self.lead, start))
            self.lead = -1

    def _close(self, end: int) -> None:
        if self.block >= 0:
            self.blocks.append((self.block, end))
            self.block = -1


def _is_delimiter_row(body: str) -> bool:
    return "|" in body and "-" in body and not body.strip("|:- \t")


def _title(rest: str) -> str:
    """The words of a heading without its closing number signs."""
    title = rest.strip()
    bare = title.rstrip("#")
    if bare.endswith((" ", "\t")) or not bare:
        title = bare.rstrip() or title
    return title if len(title) <= TITLE_LIMIT else title[: TITLE_LIMIT - 1] + "…"
