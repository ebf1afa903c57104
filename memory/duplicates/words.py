"""The words that decide whether two texts say the same thing; spelled in lower case."""

from __future__ import annotations


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


#: May be there or not: articles, the plain present of "to be", words of courtesy and emphasis.
#: Prepositions, auxiliaries of time and duty, and words of degree are not among them.
HARMLESS = _words(
    """a an the is are that please kindly note fyi reminder remember btw just simply really actually
    basically also currently there of and
    der die das des dem den ein eine einen einem einer eines ist sind bitte auch dass und
    le les un une est sont que et el los una es y del
    là thì mà và rằng cái
    的 请 請 之 和"""
)
#: After these a sentence only begins, so that a capital says as little as at its head.
COURTESY = _words("please kindly note fyi reminder remember btw that bitte")
#: Exact wherever they stand, whatever their length: a slip in one of them turns the meaning round.
MEANING = _words(
    """no not never none nor neither nobody nothing nowhere cannot without except unless until only
    hardly rarely seldom all any some every each both either most few less least more than
    before after above below over under inside outside within beyond since during
    enable enabled enables disable disabled disables allow allowed allows deny denied denies forbid
    forbidden permit permitted accept accepted reject rejected include included exclude excluded
    start started stop stopped open opened close closed lock locked unlock unlocked increase
    increased decrease decreased online offline active inactive internal external public private
    primary secondary first last minimum maximum import export upload download inbound outbound
    ingress egress encrypt decrypt encrypted decrypted up down left right true false yes
    nicht nie niemals kein keine keinen keinem keiner keines ohne ausser außer nur vor nach
    pas jamais aucun aucune sans ni nunca sin ningún ninguna
    không chưa chẳng đừng"""
)
#: What stands beside one of these is a name, also in lower case.
NAMING = _words(
    """host server node machine vm router switch printer gateway cluster service container database
    schema table column index queue topic bucket volume disk user account team group customer client
    tenant project repository repo branch tag package module library namespace region zone site
    channel board role named called name alias nickname codename hostname username
    rechner dienst benutzer kunde projekt namens heißt heisst heiszt tên máy"""
)
#: Real words one letter apart that are no slip for each other.
CONFUSABLE = (
    frozenset({"message", "massage"}),
    frozenset({"attach", "attack"}),
    frozenset({"present", "preset"}),
    frozenset({"descent", "decent"}),
    frozenset({"prescribe", "proscribe"}),
    frozenset({"country", "county"}),
    frozenset({"device", "devise"}),
    frozenset({"morning", "mourning"}),
    frozenset({"ensure", "endure"}),
    frozenset({"principal", "principle"}),
    frozenset({"desert", "dessert"}),
    frozenset({"command", "commend"}),
    frozenset({"persecute", "prosecute"}),
    frozenset({"sending", "seeding"}),
    frozenset({"staging", "staying"}),
    frozenset({"writing", "waiting"}),
    frozenset({"reading", "reaping"}),
    frozenset({"pulling", "polling"}),
    frozenset({"posting", "porting"}),
    frozenset({"cacheable", "catchable"}),
)
#: These add an s and become another word.
NO_PLURAL = frozenset({"custom", "good", "mean", "arm", "glas", "spec", "new", "headquarter"})
