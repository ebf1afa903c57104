"""What says the same thing and what merely looks alike, in both orders."""

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.duplicates.candidates import Text, pairs
from memory.duplicates.likeness import agree, ratio
from memory.duplicates.reading import outline, read

LOOK_ALIKES = [
    ("The gateway is 10.0.0.5", "The gateway is 10.0.0.7"),
    ("The gateway is fe80::1", "The gateway is fe80::2"),
    ("web-01 runs Debian 12", "web-02 runs Debian 12"),
    ("web-01 runs Debian 12", "web-01 runs Debian 11"),
    ("The host falcon runs the nightly backup", "The host falcor runs the nightly backup"),
    ("the server marlin restarts nightly", "the server merlin restarts nightly"),
    ("The release is on 2026-03-04", "The release is on 2026-04-03"),
    ("The release is in March", "The release is in May"),
    ("Version 1.2.3 is deployed", "Version 1.2.4 is deployed"),
    ("Port 8080 is open to the office", "Port 8081 is open to the office"),
    ("The limit is 5 MB for uploads", "The limit is 5 GB for uploads"),
    ("The link carries 10 Mb a second", "The link carries 10 MB a second"),
    ("The freezer is at -5 degrees", "The freezer is at 5 degrees"),
    ("Latency is < 20 ms at night", "Latency is > 20 ms at night"),
    ("Written in C++ by the tools team", "Written in C by the tools team"),
    ("Set max_users in app.conf", "Set max_uses in app.conf"),
    ("Alice prefers dark mode", "Alicia prefers dark mode"),
    ("Ask Bernard about invoices", "Ask Bernhard about invoices"),
    ("Marlin restarts every night", "Merlin restarts every night"),
    ("Deploys are allowed on Fridays", "Deploys are not allowed on Fridays"),
    ("Deploys are allowed on Fridays", "Deploys aren't allowed on Fridays"),
    ("Always restart the queue by hand", "Never restart the queue by hand"),
    ("Restart with a full backup", "Restart without a full backup"),
    ("The cache is enabled in production", "The cache is disabled in production"),
    ("Logging is on for the billing jobs", "Logging is off for the billing jobs"),
    ("Rotate the keys before the release", "Rotate the keys after the release"),
    ("The firewall allows outside mail", "The firewall denies outside mail"),
    ("Files are unlocked by the agent", "Files are unblocked by the agent"),
    ("All jobs have failed since noon", "Some jobs have failed since noon"),
    ("The certificate expires in spring", "The certificate expired in spring"),
    ("The load is typical of a weekday", "The load is atypical of a weekday"),
    ("alpha replicates to beta each night", "beta replicates to alpha each night"),
    ("Is the disk of the archive full?", "The disk of the archive is full."),
    ("Der Dienst läuft auf dem alten Rechner", "Der Dienst läuft nicht auf dem alten Rechner"),
    ("Wir haben einen Ersatzschlüssel", "Wir haben keinen Ersatzschlüssel"),
    ("Dịch vụ này chạy ban đêm", "Dịch vụ này không chạy ban đêm"),
    ("这个服务在夜间运行", "这个服务不在夜间运行"),
    ("这个服务在夜间运行", "这个服务在日间运行"),
    ("Le service est actif la nuit", "Le service n'est pas actif la nuit"),
    ("See https://wiki.local/a for the steps", "See https://wiki.local/b for the steps"),
    ("The fields are parsed by the importer", "The fields are passed by the importer"),
    ("The plan a is chosen", "The plan b is chosen"),
    ("Ping it before lunch", "Ping IT before lunch"),
    ("The two disks are mirrored", "The ten disks are mirrored"),
]
SAME = [
    ("The backup runs every night", "the backup runs every night."),
    ("The backup runs  every night", "The backup runs every\nnight!"),
    ("Backup of the mail runs every night", "The backup of mail runs every night"),
    ("Note: the printer jams on thick paper", "The printer jams on thick paper"),
    ("The deployments differ at night", "The deployment differs at night"),
    ("The configuration is kept in a vault", "The configuraiton is kept in a vault"),
    ("Please rotate the credentials monthly", "Rotate the credentials monthly"),
    ("It's kept in the archive", "It is kept in the archive"),
    ("Deploys aren't allowed on Fridays", "Deploys are not allowed on Fridays"),
    ("R&D owns the “blue” printer", 'R&D owns the "blue" printer'),
    ("Die Sicherung läuft jede Nacht.", "Sicherung läuft jede Nacht"),
    ("RabbitMQ sends the reports", "Please note that rabbitMQ sends the reports"),
    ("服务在夜间运行。", "服务在夜间运行"),
]


def uses(*words: str, times: int = 9):
    """Return what tells that these words are in use, so many times each, and no others."""
    return lambda word: times if word in words else 0


@pytest.mark.parametrize(("one", "other"), LOOK_ALIKES)
def test_look_alikes_never_agree(one, other):
    assert not agree(read(one), read(other))
    assert not agree(read(other), read(one))


@pytest.mark.parametrize(("one", "other"), SAME)
def test_other_wordings_of_one_thing_agree(one, other):
    assert agree(read(one), read(other)), (read(one), read(other))
    assert agree(read(other), read(one))


def test_a_short_word_is_a_slip_only_where_the_other_is_in_use():
    one, other = read("the server is kept cool"), read("the sevrer is kept cool")
    assert not agree(one, other)
    assert agree(one, other, uses("server"))
    assert not agree(one, other, uses("server", "sevrer"))


def test_two_words_in_use_are_no_slip():
    one, other = read("we contracted them"), read("we contrasted them")
    assert agree(one, other)
    assert not agree(one, other, uses("contracted", "contrasted"))


def test_a_capital_after_an_article_is_that_of_a_name():
    one, other = read("The Marlin restarts every night"), read("The Merlin restarts every night")
    assert not agree(one, other, uses("marlin"))


def test_a_slip_that_many_make_is_told_by_how_rare_it_is():
    one, other = read("the inventory was counted"), read("the inventroy was counted")
    assert not agree(one, other, {"inventory": 299, "inventroy": 3}.get)
    assert agree(one, other, {"inventory": 300, "inventroy": 3}.get)


def test_a_text_without_words_repeats_nothing():
    assert not agree(read("..."), read("..."))


_LINE = """the a is not never server servers backup backups backpu runs nightly configuration
    configuraiton merlin marlin Merlin host 5 10.0.0.5 10.0.0.6 enabled disabled of Is? MB Mb 不"""
_WORDS = _LINE.split()
_SENTENCES = st.lists(st.sampled_from(_WORDS), max_size=7).map(" ".join)
_TEXTS = st.one_of(st.text(max_size=30), _SENTENCES)
_KNOWN = st.sets(st.sampled_from(_WORDS)).map(lambda words: uses(*words))


@given(_TEXTS, _TEXTS, _KNOWN)
def test_agreement_is_symmetric_and_keeps_the_outline(one, other, known):
    a, b = read(one), read(other)
    assert agree(a, b, known) == agree(b, a, known)
    if agree(a, b, known):
        assert outline(a) == outline(b)


@given(st.text())
def test_reading_never_raises_and_every_text_agrees_with_itself(text):
    words = read(text)
    assert agree(words, words) == bool(words)


@given(st.lists(_TEXTS, max_size=14), st.lists(st.sampled_from("ab"), min_size=14), _KNOWN)
def test_no_pair_is_missed_and_none_crosses_a_realm(contents, realms, known):
    texts = [
        Text(at, realm, content)
        for at, (content, realm) in enumerate(zip(contents, realms, strict=False))
    ]
    found = list(pairs(texts, 0.85, known))
    repeats = {pair.repeat for pair in found}
    assert len(repeats) == len(found)
    for pair in found:
        assert texts[pair.kept].realm == texts[pair.repeat].realm
        assert pair.kept not in repeats
        assert pair.kept < pair.repeat
        assert pair.ratio >= 0.85
    for one, other in permutations(texts, 2):
        close = one.realm == other.realm and ratio(one.content, other.content) >= 0.85
        if close and agree(read(one.content), read(other.content), known):
            assert one.key in repeats or other.key in repeats
