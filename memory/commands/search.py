"""`memory search`: the API's search in a terminal."""

from __future__ import annotations

from argparse import ArgumentParser
from html import unescape

from rich.text import Text

from memory import filters
from memory.commands.base import Call, Subcommand
from memory.search import Hit, Results, SearchRequest, search


def arguments(parser: ArgumentParser) -> None:
    """Declare what `search` takes."""
    parser.add_argument("query")
    parser.add_argument("--scope", action="append", help="may be given several times")
    parser.add_argument("--kind", action="append")
    parser.add_argument("--tag", action="append")
    parser.add_argument("--domain")
    parser.add_argument("--agent")
    parser.add_argument("--source")
    parser.add_argument("--since")
    parser.add_argument("--until")
    parser.add_argument("--include-history", action="store_true", default=None)
    parser.add_argument("--max-results", type=int)
    parser.add_argument("--min-score", type=float)
    parser.add_argument("--explain", action="store_true", help="show why each result is there")


def run(call: Call) -> int:
    """Search and print the results, the best first."""
    given = vars(call.options)
    values = {name: given[name] for name in filters.NAMES if given.get(name) is not None}
    request = SearchRequest(
        query=given["query"],
        filters=filters.parse(values),
        max_results=given["max_results"],
        min_score=given["min_score"],
    )
    results = search(call.principal, request)
    if call.as_json:
        call.answer(results.as_dict())
        return 0
    _show(call, results)
    return 0


def _show(call: Call, results: Results) -> None:
    for number, hit in enumerate(results.hits, 1):
        call.out.print(Text(f"{number}. {hit.score:.2f}  {hit.scope}/{hit.kind}  {hit.id}", "dim"))
        call.out.print(_marked(hit))
        if call.options.explain:
            call.out.print(Text(f"   {_explained(hit)}", "dim"))
    if not results.hits:
        call.say("Nothing found.")
    if results.degraded:
        call.say(f"By keyword alone: {results.degraded}")
    if results.pending:
        call.say(f"{results.pending} records are not wholly indexed yet.")


def _marked(hit: Hit) -> Text:
    """Return the snippet with its marks as bold text."""
    text = Text("   ")
    for number, part in enumerate(hit.snippet.replace("</mark>", "<mark>").split("<mark>")):
        text.append(unescape(part), "bold" if number % 2 else "")
    return text


def _explained(hit: Hit) -> str:
    why = hit.explain
    numbers = ", ".join(f"{name} {value}" for name, value in why.signals.items())
    return f"{why.words} ({numbers}, decay {why.decay:.2f})"


COMMAND = Subcommand("search", "find records by words and by meaning", run, arguments)
