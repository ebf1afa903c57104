"""One sentence, one statement: `<subject> [<field>] is|=|: <value>` in several languages."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from memory.beliefs.values import address, bare, folded
from memory.beliefs.words import (
    ABSTRACT,
    DETERMINERS,
    INDEFINITE,
    LABELS,
    MULTIPLE,
    OTHER_TIMES,
    OTHERS,
    OWN,
    PRONOUNS,
    SEVERAL,
    UNPLAIN,
    UNPLAIN_HAN,
    UNPLAIN_KANA,
    plural,
)

#: Longer texts say more than a rule can weigh.
MAX_TEXT = 600
MAX_SENTENCES = 8
MAX_SUBJECT_WORDS = 7

_ENDS = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])\s*|\s*;\s+|\n+")
_BULLET = re.compile(r"^\s*(?:[-*•·]|\d{1,2}[.)])\s+")
_HAN = re.compile("[\u3400-\u9fff]")
_KANA = re.compile("[\u3041-\u30ff]")
_WORD = re.compile(r"[^\W_][\w'’.-]*")

_VERBS = "is|equals|ist|lautet|beträgt|heißt|là"
_BY_VERB = re.compile(
    rf"(?P<subject>.+?)\s+(?P<verb>{_VERBS})(?:\s+now|\s+currently|\s+jetzt|\s+nun|\s+derzeit)?"
    r"\s*:?\s+(?P<value>.+)",
    re.IGNORECASE,
)
_BY_SIGN = re.compile(
    r"(?P<subject>[^:=：＝<>!]+?)\s*(?P<sign>:(?=\s)|：|=(?!=)|＝)\s*(?P<value>[^=].*)"
)
_BY_HAN = re.compile(
    r"(?P<subject>[^是為为：:=，,。]{1,30}?)(?:现在|目前|現在|如今)?(?P<verb>是|为|為|等于)(?P<value>[^，,。]{1,60})"
)
_BY_KANA = re.compile(
    r"(?P<subject>[^は、。]{1,40}?)は(?:現在|今|いま)?、?\s*(?P<value>[^はが、。]{1,60}?)\s*"
    r"(?P<verb>です|である|だ|になりました|に変わりました)"
)
_OTHER_VERBS = re.compile(rf"\b(?:{_VERBS}|are|has|have|runs|sind|hat|haben)\b", re.IGNORECASE)
_HAN_ADVERB = re.compile("[也还都就但于可只正凡或总老这那]$")
_KANA_DESCRIBES = re.compile("い$|(?:静か|安全|便利|必要|重要|有効|無効|正常|異常|簡単|大切|元気)$")
_NOW_FIRST = re.compile(
    r"^(?:now|currently|at the moment|as of (?:today|now)|from now on|jetzt|derzeit|ab sofort|"
    r"hiện tại|hiện nay|bây giờ|từ nay)\s*[,:]?\s+",
    re.IGNORECASE,
)
_NOW_LAST = re.compile(
    r"\s*,?\s+(?:now|currently|right now|at the moment|from now on|as of (?:today|now)|jetzt|nun|"
    r"ab sofort|derzeit|bây giờ|hiện tại|hiện nay|từ nay)$",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Statement:
    """A subject with its field, folded, and the value as it was written.

    `own`: it speaks of the writer's ("my editor"). `named`: the language writes names large.
    `loose`: the subject may be a person or a thing of which much can be said ("Ann is …"), not a
    role or a field that has one value.
    """

    subject: str
    value: str
    own: bool = False
    named: bool = False
    loose: bool = False


def sentences(text: str) -> list[str]:
    """Return the sentences and lines of a text; none of one that is too long to be plain."""
    if len(text) > MAX_TEXT:
        return []
    parts = [_BULLET.sub("", part).strip() for part in _ENDS.split(text.strip())]
    found = [part for part in parts if part]
    return found if len(found) <= MAX_SENTENCES else []


def plain(sentence: str) -> bool:
    """Whether a sentence neither asks, denies, hedges, depends nor tells of the past."""
    if sentence.rstrip("\"'”’」 ").endswith(("?", "？")):
        return False
    low = folded(sentence).replace("có thể", "có_thể").replace("có lẽ", "có_lẽ")
    low = low.replace("nhưng ", "nhưng ").replace("’", "'")
    if set(_WORD.findall(low)) & UNPLAIN or "phải không" in low or " used to " in low:
        return False
    if _KANA.search(sentence):
        return not UNPLAIN_KANA.search(low.rstrip("。. "))
    return not (_HAN.search(sentence) and UNPLAIN_HAN.search(low))


def read(sentence: str) -> Statement | None:
    """Return what a plain sentence states, or None where it is not of this form."""
    text = _NOW_LAST.sub("", _NOW_FIRST.sub("", sentence.strip().rstrip(".!。！ ")))
    return next((found for found in _readings(text) if found), None)


def _readings(text: str) -> Iterator[Statement | None]:
    if _KANA.search(text) and (match := _BY_KANA.fullmatch(text)):
        yield _japanese(match["subject"], match["value"])
        return
    if match := _BY_SIGN.fullmatch(text):
        yield _by_sign(match["subject"], match["value"])
        return
    if match := _BY_VERB.fullmatch(text):
        yield _by_verb(match)
        return
    if not _KANA.search(text) and (match := _BY_HAN.fullmatch(text)):
        yield _chinese(match["subject"], match["value"])


def _by_sign(subject: str, value: str) -> Statement | None:
    """`gateway: 10.0.0.5`, `port = 8080`; after a label comes a remark, after a plural a list."""
    cut = re.sub(rf"\s+(?:{_VERBS}|are|sind)$", "", subject, flags=re.IGNORECASE)
    words = _words(cut)
    if not words or plural(words[-1]) or words[0] in LABELS or _OTHER_VERBS.search(value):
        return None
    return _statement(cut, value, named=False)


def _by_verb(match: re.Match[str]) -> Statement | None:
    subject, value = match["subject"], match["value"]
    if _OTHER_VERBS.search(value) or _OTHER_VERBS.search(subject):
        return None
    named = match["verb"].casefold() in ("ist", "beträgt")
    return _statement(subject, value, named=named, loose=_loose(subject))


def _loose(subject: str) -> bool:
    """Whether nothing marks a subject as one of its kind: one word alone, or a person's name."""
    words = subject.split()
    if words[0].casefold() in DETERMINERS | OWN or any(
        "'" in word or "’" in word for word in words
    ):
        return False
    return len(words) == 1 or all(word[0].isupper() for word in words)


def _chinese(subject: str, value: str) -> Statement | None:
    if _HAN_ADVERB.search(subject) or value.endswith(("的", "了")):
        return None
    if re.match("[这那它他她你此该其]|我(?!的)|一[个些台种]|有[些的]", subject):
        return None
    if re.match("一[个種种台条]|几", value):
        return None
    own, key = subject.startswith("我的"), subject.replace("的", "")
    loose = "的" not in subject and not _ROLE.search(subject) and len(key) < 4
    return _statement(key, value, own=own, loose=loose or bool(_ROLE.search(value)))


def _japanese(subject: str, value: str) -> Statement | None:
    if re.match("これ|それ|あれ|ここ|そこ|彼|彼女|僕|俺|誰|何|私(?!の)|みんな", subject):
        return None
    if _KANA_DESCRIBES.search(value) or re.search("[とも]", value.translate(_NO_KATAKANA)):
        return None
    own, key = subject.startswith("私の"), subject.replace("の", "")
    loose = "の" not in subject and not _ROLE.search(subject) and len(key) < 4
    return _statement(key, value, own=own, loose=loose or bool(_PERSON.search(subject)))


#: Who has an office has one at a time; the office has one holder.
_ROLE = re.compile("[人员員者长長师師主]$")
_PERSON = re.compile("(?:さん|氏|様|君|ちゃん|先生)$")
_NO_KATAKANA = dict.fromkeys(range(12449, 12543))


def _statement(
    subject: str, value: str, *, own: bool = False, named: bool = False, loose: bool = False
) -> Statement | None:
    key = _subject(subject)
    if key is None or not bare(value):
        return None
    mine = own or bool(OWN & set(_words(subject)[:1])) or key.endswith(" của tôi")
    return Statement(key, bare(value), mine, named, loose and address(bare(subject)) is None)


def _subject(text: str) -> str | None:
    """Return the subject as a key: no article, no possessive; None for what names nothing."""
    host = address(bare(text))
    if host is not None:
        return host.text
    if SEVERAL.search(text.casefold()) or any(sign in text for sign in '()[]{}"“”|/\\'):
        return None
    words = _words(text)
    while words and words[0] in DETERMINERS:
        words = words[1:]
    if not words or len(words) > MAX_SUBJECT_WORDS or _names_nothing(words):
        return None
    return _of_to_front([_singular(word) for word in words])


def _names_nothing(words: list[str]) -> bool:
    first, last = words[0], words[-1]
    if first in INDEFINITE or first in PRONOUNS or last in PRONOUNS:
        return True
    return last in ABSTRACT | MULTIPLE or bool(set(words) & (OTHER_TIMES | OTHERS))


def _of_to_front(words: list[str]) -> str:
    """`port of the gateway` is the gateway port."""
    if words.count("of") == 1:
        at = words.index("of")
        owner = [word for word in words[at + 1 :] if word not in DETERMINERS]
        words = [*owner, *words[:at]]
    return " ".join(words)


def _singular(word: str) -> str:
    for mark in ("'s", "’s", "s'", "s’"):
        if word.endswith(mark):
            return word.removesuffix(mark) + ("s" if mark.startswith("s") else "")
    return word


def _words(text: str) -> list[str]:
    return folded(text).split()
