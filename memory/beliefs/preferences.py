"""Preferences of which a person has one: language, formats, timezone, currency, name, editor, tone."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from memory.beliefs import statements
from memory.beliefs.values import Value, bare, folded
from memory.beliefs.words import QUALIFIERS, SEVERAL, words_of

SELF = ""
_ME = words_of(
    "i me my user the_user mein meine meinem ich tôi của_tôi 我 我的 私 私の người_dùng 用户 ユーザー"
)
_FAVOURED = words_of(
    "preferred default favourite favorite usual standard main bevorzugte bevorzugter bevorzugtes "
    "primary desired"
)


def _spellings(text: str) -> dict[str, str]:
    """`german deutsch, french français` names each thing by the first of its words."""
    groups = [group.split() for group in text.split(",")]
    return {word.replace("_", " "): group[0] for group in groups for word in group}


_LANGUAGES = _spellings(
    "english englisch tiếng_anh anh 英语 英文 英語, german deutsch tiếng_đức đức 德语 德文 ドイツ語,"
    "french französisch français tiếng_pháp pháp 法语 法文 フランス語, spanish spanisch español 西班牙语 スペイン語,"
    "vietnamese vietnamesisch tiếng_việt việt 越南语 ベトナム語, chinese chinesisch mandarin tiếng_trung 中文 汉语 中国語,"
    "japanese japanisch 日本語 日语 日文 tiếng_nhật nhật, korean koreanisch 韩语 韓国語 tiếng_hàn,"
    "italian italienisch italiano, portuguese portugiesisch português, dutch niederländisch, polish polnisch,"
    "russian russisch, turkish türkisch, arabic arabisch, hindi, ukrainian ukrainisch, swedish schwedisch, czech tschechisch"
)
_FORMATS = _spellings(
    "markdown md, pdf, html, csv, excel xlsx, word docx, json, yaml, latex, text plain_text txt,"
    "bullets bullet_points stichpunkte 箇条書き, table tables tabelle, slides powerpoint pptx folien"
)


@dataclass(frozen=True)
class Preference:
    """Whose preference it is (`SELF`, or a name), which, and its value."""

    holder: str
    name: str
    value: Value
    own: bool


@dataclass(frozen=True)
class Kind:
    """One preference: what it is called, what asks for it, and the values it can have, if few."""

    nouns: frozenset[str]
    requests: tuple[str, ...]
    values: Mapping[str, str] = field(default_factory=dict)


def _nouns(text: str) -> frozenset[str]:
    return frozenset(noun.replace("_", " ") for noun in words_of(text))


_V = r"(?P<value>[^,;:。、]{1,40}?)"
_WHO = r"(?P<holder>[^\W\d][\w.'-]*(?: [^\W\d][\w.'-]*)?)"
_WANTS = rf"{_WHO} (?:prefers?|wants?|likes?|would like|möchte|will|bevorzugt|muốn|thích)"
_PLEASE = r"(?:please |always |bitte |immer |hãy |xin |luôn )*"
_ITS = r"(?:my |his |her |their |the |an |meinen |seinen |text |code |main |default )*"
_AFTER = r"(?: please| always| bitte| immer)*"

KINDS: dict[str, Kind] = {
    "response language": Kind(
        _nouns(
            "response_language reply_language answer_language language output_language "
            "antwortsprache sprache ngôn_ngữ_trả_lời ngôn_ngữ 回答语言 回复语言 语言 返信言語 回答言語 応答言語 言語"
        ),
        (
            rf"{_PLEASE}(?:answer|reply|respond|write|speak|talk)(?: to me| me)?(?: only| always)? in {_V}{_AFTER}",
            rf"{_WANTS} (?:answers|replies|responses|to be answered|antworten)(?: in| auf)? {_V}",
            rf"{_PLEASE}(?:antworte|schreib|schreibe|sprich)(?: mir)?(?: bitte| immer)* auf {_V}",
            rf"{_PLEASE}(?:trả lời|phản hồi)(?: tôi)? bằng {_V}",
            rf"(?:请|請)?(?:总是|一律)?用{_V}(?:回答|回复|答复|回覆)(?:我)?",
            rf"(?:いつも|必ず)?{_V}で(?:答えて|返信して|回答して|返事して)(?:ください|下さい)?",
        ),
        _LANGUAGES,
    ),
    "report format": Kind(
        _nouns("report_format reporting_format berichtsformat định_dạng_báo_cáo 报告格式 レポート形式"),
        (
            rf"{_PLEASE}(?:send |give me |write |make )?(?:my |the )?reports? (?:as |in |are ){_V}(?: format)?",
            rf"{_WANTS} (?:reports?|berichte) (?:as |in |als ){_V}(?: format)?",
            rf"berichte (?:bitte )?(?:als |im ){_V}(?:-format)?",
            rf"báo cáo (?:dưới dạng|bằng|định dạng) {_V}",
            rf"报告(?:请)?用{_V}(?:格式)?",
            rf"レポートは{_V}(?:形式)?で(?:お願いします)?",
        ),
        _FORMATS,
    ),
    "timezone": Kind(
        _nouns("timezone time_zone tz zeitzone múi_giờ 时区 時區 タイムゾーン"),
        (rf"{_PLEASE}(?:show|give|use) times in {_V}", rf"{_PLEASE}use {_V} (?:time|timezone)"),
    ),
    "date format": Kind(
        _nouns("date_format datumsformat định_dạng_ngày 日期格式 日付形式 日付フォーマット"),
        (rf"{_PLEASE}(?:write|format|show) dates (?:as|like) {_V}",),
    ),
    "currency": Kind(
        _nouns("currency währung tiền_tệ 货币 貨幣 通貨"),
        (rf"{_PLEASE}(?:show |give |quote )?(?:prices|amounts|costs) in {_V}",),
    ),
    "name": Kind(
        _nouns("name_to_be_called_by nickname call_name rufname spitzname biệt_danh 昵称 呼び名"),
        (
            rf"{_PLEASE}call me {_V}{_AFTER}",
            rf"{_WANTS} to be called {_V}",
            rf"{_WHO} goes by {_V}",
            rf"{_PLEASE}(?:nenne?|nennt|nennen sie) mich {_V}{_AFTER}",
            rf"{_PLEASE}gọi tôi là {_V}",
            rf"(?:请|請)?(?:叫我|称呼我为|稱呼我為){_V}",
            rf"(?:私を|僕を)?{_V}と呼んで(?:ください|下さい)?",
        ),
    ),
    "editor": Kind(
        _nouns("editor text_editor code_editor texteditor trình_soạn_thảo 编辑器 エディタ エディター"),
        (
            rf"{_WHO} (?:uses?|prefers?|nutzt|nutze|verwendet|verwende) {_V} (?:as|als) {_ITS}editor",
        ),
    ),
    "tone": Kind(
        _nouns("tone tone_of_voice ton tonfall giọng_điệu 语气 語氣 口調 トーン"),
        (
            rf"{_PLEASE}(?:use|keep|write in) an? {_V} tone{_AFTER}",
            rf"{_WANTS} an? {_V} tone",
            rf"{_PLEASE}(?:schreib|schreibe|antworte) in (?:einem )?{_V} ton",
        ),
    ),
}  # fmt: skip
_REQUESTS = [
    (name, re.compile(pattern)) for name, kind in KINDS.items() for pattern in kind.requests
]


def read(sentence: str) -> Preference | None:
    """Return the preference that a plain sentence sets, or None."""
    return next(_asked(sentence), None) or _stated(sentence)


def _asked(sentence: str) -> Iterator[Preference]:
    text = folded(bare(sentence))
    for name, pattern in _REQUESTS:
        if match := pattern.fullmatch(text):
            value = _value(name, match["value"])
            holder = match.groupdict().get("holder") or "me"
            if value is not None:
                yield _of(holder, name, value)


def _stated(sentence: str) -> Preference | None:
    """`Ann's timezone is CET`, `editor: vim`, `时区是东京`."""
    said = statements.read(sentence)
    if said is None:
        return None
    for name, kind in KINDS.items():
        for noun in sorted(kind.nouns, key=len, reverse=True):
            if said.subject == noun or said.subject.endswith(
                (f" {noun}", f"我{noun}", f"私{noun}")
            ):
                value = _value(name, said.value)
                holder = said.subject.removesuffix(noun).strip()
                return None if value is None else _of(holder, name, value, own=said.own)
    return None


def _of(holder: str, name: str, value: Value, *, own: bool = False) -> Preference:
    words = [word for word in holder.split() if word not in _FAVOURED]
    if words[:1] == ["the"]:
        words = words[1:]
    whose = " ".join(words)
    mine = "_".join(words) in _ME
    return Preference(SELF if mine else whose, name, value, own or (mine and "user" not in whose))


def _value(name: str, text: str) -> Value | None:
    """Return the value in its one spelling; one with a condition or a list is none."""
    said = folded(bare(text))
    words = set(said.split())
    if not said or len(words) > 4 or SEVERAL.search(said) or words & (QUALIFIERS - {"am"}):
        return None
    known = KINDS[name].values
    if known:
        spelt = known.get(said) or known.get(said.removesuffix(" format"))
        return Value("name", spelt) if spelt else None
    return Value("name", said)
