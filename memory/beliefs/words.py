"""The closed word classes that decide whether a sentence states one thing plainly; pure data.

Lower case, accents kept: "nếu" (Vietnamese: if) is not "neu" (German: new).
"""

from __future__ import annotations

import re


def words_of(text: str) -> frozenset[str]:
    """Return the words of a list that is written with spaces."""
    return frozenset(text.split())


#: With one of these a sentence denies, hedges, depends, reports, compares or tells of the past.
UNPLAIN = words_of(
    """not no never none neither nor nobody nothing without cannot can't don't doesn't isn't won't
    may might could should would will shall must maybe perhaps probably possibly likely unlikely
    supposed expected planned going think thinks believe believes said says guess seems seemed
    apparently allegedly assume heard told claims if unless when whenever while until before after
    because although though but however except only or than versus vs either was were been used
    formerly previously once yesterday tomorrow became temporarily
    nicht kein keine keinen keiner keinem nie niemals vielleicht wahrscheinlich möglicherweise soll
    sollte könnte wäre würde wird wenn falls sobald bis ob oder aber weil dass nur außer war waren
    früher damals gewesen ehemals als gestern morgen
    không chưa chẳng đừng nếu khi có_thể có_lẽ hoặc nhưng đã từng sẽ nên phải vì chỉ trừ trước hay
    """
)
#: A text in a script without spaces is not plain with one of these in it.
UNPLAIN_HAN = re.compile(
    "不|没|沒|并非|而非|无法|未必|吗|嗎|呢|什么|什麼|哪|谁|誰|多少|怎|如果|假如|要是|若|可能|也许|"
    "应该|应当|大概|据说|将会|将是|曾|以前|之前|过去|原来|当时|昨天|明天|因为|认为|以为|但|除了|只是|"
    "只有|时候|还是|或者|比"
)
UNPLAIN_KANA = re.compile(
    "ない|ません|なかった|じゃ|でした|だった|ました(?<!になりました)(?<!変わりました)|か$|かも|でしょう|"
    "だろう|らしい|そうです|そうだ|思|もし|なら|たら|れば|場合|とき|だけ|以前|昔|まで|より|または|けど|が、"
)
#: Several things at once: neither a list of values nor several subjects have one value.
SEVERAL = re.compile(
    r",|;|&|\band\b|\bund\b|\bsowie\b|\bvà\b|、|，|和|与|與|及|や|たち|们|們|など|等"
)

INDEFINITE = words_of(
    """a an one another some any each every all most many several few both other others
    ein eine einer eines jeder jede jedes alle einige manche viele mehrere andere
    một mỗi mọi các những vài mấy tất"""
)
PRONOUNS = words_of(
    """it its this that these those he she they we you i there here what who which where how why
    his her their your one's es dies dieser diese dieses er sie wir ihr ich du hier da was wer wie
    wo nó đây đó này kia họ bạn anh chị ai gì"""
)
#: Of another time than now: such a subject has had many values.
OTHER_TIMES = words_of(
    """previous former last next past future earlier later old-time today's yesterday's tomorrow's
    vorherige vorheriger ehemalige ehemaliger letzte letzter nächste nächster heutige"""
)
#: Nouns that stand for anything that is said about them.
ABSTRACT = words_of(
    """problem issue reason question answer point idea thing goal lesson risk fact truth difference
    example way trick solution fix workaround cause advice result conclusion news story matter
    grund frage antwort idee ziel lösung ursache beispiel ergebnis tatsache vấn_đề lý_do"""
)
#: Of these a thing or a person has several, whatever the grammar says.
MULTIPLE = words_of(
    """alias member dependency tag keyword participant attendee guest skill hobby feature bug task
    step option item entry author contributor reviewer approver nameserver peer replica upstream
    sister brother child son daughter friend colleague cousin uncle aunt kid pet cat dog neighbour
    neighbor mitglied bruder schwester freund freundin kind kollege kollegin thành_viên bạn_bè"""
)
#: Before a noun they say that there are others.
OTHERS = words_of(
    "allowed supported known available possible erlaubte erlaubter bekannte bekannter"
)
#: Words before a colon that announce a remark; what follows is not a value.
LABELS = words_of(
    """note notes todo warning hint fact info fyi update reminder ps question answer attention tip
    example error remember important summary decision lesson remark caution nb edit re
    hinweis achtung frage antwort merke wichtig notiz beispiel lưu_ý ghi_chú chú_ý
    注意 备注 提示 注 問題 问题 例 メモ 注意点 """
)
DETERMINERS = words_of("the our der die das dem den unser unsere unserem unseren")
OWN = words_of("my mein meine meinem meinen")
#: Before a value: unchanged, intensified, or how often.
ADVERBS = words_of(
    """very too quite so really extremely always often usually sometimes mostly still already just
    also even rather fairly almost nearly sehr zu immer oft meist noch schon bereits auch fast
    rất cũng vẫn luôn"""
)
#: Inside a value they qualify it: true there, then, or for those, and perhaps not elsewhere.
QUALIFIERS = words_of(
    """in on at for with during by via per from of to under over near into onto about like as
    since seit im am an auf bei mit für während vor nach von zu aus über unter beim zum zur
    ở tại trong cho với bằng từ về do"""
)
PLACES = {"in": "in", "im": "in", "at": "at", "on": "on", "ở": "in", "tại": "at"}
#: Words that describe and do not name: several may hold of one thing at once.
DESCRIBING = words_of(
    """slow fast old new big small large huge tiny good bad nice great ok okay fine ready busy full
    empty hot cold warm noisy loud quiet expensive cheap free important critical urgent safe secure
    unsafe reliable stable unstable fragile flaky dirty clean simple complex hard easy difficult
    wrong right correct incorrect happy sad tired sick late early long short high low dead alive
    available unavailable unknown obsolete deprecated strange weird fun boring useful ugly heavy
    similar different same enough possible impossible idle necessary required mandatory optional
    friendly weekly daily monthly
    langsam schnell alt neu groß klein gut schlecht fertig voll leer heiß kalt wichtig sicher"""
)
#: After a hyphen they make a description of any name: "IPv6-only".
_JOINED = words_of("only free based ready compatible capable aware safe friendly like proof wide")
_DESCRIBING_ENDS = ("able", "ible", "ful", "less", "ous", "ive", "ed", "ing")
_NOT_DESCRIBING = words_of(
    "staging testing red bearing speed seed feed king ring string building native drive archive"
)

#: Opposites: a thing is in one of them at a time.
STATES = {
    "on": "power", "off": "power", "enabled": "use", "disabled": "use", "up": "reach",
    "down": "reach", "online": "reach", "offline": "reach", "open": "door", "closed": "door",
    "locked": "lock", "unlocked": "lock", "active": "use", "inactive": "use", "green": "build",
    "broken": "build", "passing": "build", "failing": "build", "running": "run",
    "stopped": "run", "true": "truth", "false": "truth", "yes": "truth", "no": "truth",
    "public": "sight", "private": "sight", "an": "power", "aus": "power", "offen": "door",
    "geschlossen": "door", "aktiv": "use", "inaktiv": "use", "ja": "truth", "nein": "truth",
}  # fmt: skip
STATES |= dict.fromkeys(("aktiviert", "deaktiviert"), "use")

#: English nouns that end in s and are one thing.
_SINGULAR = words_of(
    """dns https http tls address status gas os ios aws news css redis kubernetes nodejs js bus
    canvas alias atlas basis analysis chassis series axis nas bios gps vps sms ns ops devops class
    pass access process business success loss boss glass mass"""
)


def describes(word: str) -> bool:
    """Whether a lower-case word describes rather than names."""
    if word in DESCRIBING:
        return True
    head, joint, tail = word.rpartition("-")
    if joint and head:
        return tail in _JOINED or describes(tail)
    return len(word) > 4 and word.endswith(_DESCRIBING_ENDS) and word not in _NOT_DESCRIBING


def plural(word: str) -> bool:
    """Whether an English noun looks like several things."""
    return len(word) > 3 and word.endswith("s") and word not in _SINGULAR
