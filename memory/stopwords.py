"""Short lists of function words; a query drops those of the one language it is written in."""

# Written for this project and kept short: articles, pronouns, prepositions, auxiliaries, question
# words. Spelled as `text.fold` leaves them: lower case, no accents.
_LISTS = {
    "en": """a about after all also am an and any are as at be because been before being but by can
        could d did do does doing during each for from had has have having he her here hers him his
        how i if in into is it its just ll m me more most my no nor not of off on once only or other
        our out over own re s same she should so some such t than that the their them then there
        these they this those through to too under until up ve very was we were what when where
        which while who whom whose why will with would you your""",
    "de": """aber als also am an auch auf aus bei bin bis da damit das dass dem den der des die dies
        diese diesem diesen dieser dieses doch du durch ein eine einem einen einer eines er es fur
        gibt hat hatte hatten ich ihm ihn ihr ihre im in ist ja kann konnte mein mit nach nicht noch
        nun nur ob oder ohne schon sein seine sich sie sind so uber um und uns unter vom von vor war
        waren warum was wegen weil welche welchem welchen welcher welches wem wen wenn wer werden
        weshalb wie wieso wieviel wieviele wird wo woher wohin wofur womit worin wovon wozu wurde
        wurden zu zum zur zwischen""",
    "vi": """ai anh bao bi boi cac cai chi cho chua co con cua cung da dang de den di do duoc duoi
        gi hay ho khi khong la lai lam len luc ma moi mot nao nay neu nhieu nhung o qua ra rang rat
        sao sau se tai the thi tren trong truoc tu va vao ve vi voi""",
}

STOP_WORDS: dict[str, frozenset[str]] = {
    name: frozenset(words.split()) for name, words in _LISTS.items()
}


def stop_words_for(words: set[str]) -> frozenset[str]:
    """The list of the language most of whose function words occur; English wins a tie.

    One list at a time: a function word of one language is a word of another ("die", "war", "son").
    """
    return max(STOP_WORDS.values(), key=lambda stops: len(stops & words))
