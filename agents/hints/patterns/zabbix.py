"""Zabbix: JSON-RPC errors with code, message and data."""

from agents.hints.types import Pattern

_FAMILIES = ("zabbix_query",)
_PATH = r"invalid parameter \\?\"(?P<name>[^\"\n]{1,100}?)\\?\": "


def _pattern(name: str, category: str, regex: str, hint: str, *examples: str) -> Pattern:
    return Pattern(f"zabbix_{name}", _FAMILIES, category, regex, examples, hint)


PATTERNS = (
    _pattern(
        "unexpected",
        "wrong_argument",
        _PATH + r"unexpected parameter \\?\"(?P<extra>[^\"\n]{1,80}?)\\?\"",
        "Zabbix does not know {extra} at {name}. Look up the parameters of this method: filters "
        'stand inside "filter", ids in hostids, itemids, groupids.',
        'Invalid params. Invalid parameter "/": unexpected parameter "host".',
        '{"code":-32602,"message":"Invalid params.","data":"Invalid parameter \\"/1\\": unexpected '
        'parameter \\"hosts\\"."}',
    ),
    _pattern(
        "missing",
        "missing_argument",
        _PATH + r"(?:the )?parameter \\?\"(?P<missing>[^\"\n]{1,80}?)\\?\" is missing",
        "{missing} is required at {name}. Send it and try again.",
        '{"code":-32602,"message":"Invalid params.","data":"Invalid parameter \\"/1\\": the parameter '
        '\\"hostid\\" is missing."}',
        'Invalid parameter "/": the parameter "history" is missing.',
    ),
    _pattern(
        "one_of",
        "wrong_argument",
        _PATH + r"value must be (?:one of )?(?P<allowed>[^}\n]{1,200})",
        "The value at {name} must be {allowed}",
        'Invalid parameter "/selectHosts": value must be one of "extend", "count".',
        'Invalid parameter "/limit": value must be one of 1-2147483647.',
        'Invalid parameter "/sortfield/1": value must be "itemid".',
    ),
    _pattern(
        "type",
        "wrong_type",
        _PATH + r"(?P<said>an? [\w ]{1,40} is expected|cannot be empty|[\w ]{1,60})",
        "At {name}: {said}. Ids are numbers or texts of digits, lists stand in [ ], objects in {{ }}.",
        'Invalid parameter "/1/hostid": a number is expected.',
        'Invalid parameter "/filter": an array is expected.',
        '{"code":-32602,"message":"Invalid params.","data":"Invalid parameter \\"/name\\": cannot be '
        'empty."}',
    ),
    _pattern(
        "method",
        "unknown_method",
        r"incorrect (?P<kind>API|method) \\?\"(?P<name>[^\"\n]{1,80}?)\\?\"|method not found",
        "Zabbix has no {kind} {name}. Methods read object.verb, all lower case and singular, as "
        "host.get, item.get, problem.get, history.get.",
        'Incorrect API "hosts".',
        '{"code":-32602,"message":"Invalid params.","data":"Incorrect method \\"host.gt\\"."}',
        '{"code":-32601,"message":"Method not found."}',
    ),
    _pattern(
        "object",
        "not_found",
        r"no permissions to referred object or it does not exist",
        "The id names nothing that is visible. Find it first, as host.get with a filter on the name, "
        "and use the id from the answer.",
        '{"code":-32500,"message":"Application error.","data":"No permissions to referred object or '
        'it does not exist!"}',
    ),
    _pattern(
        "json",
        "bad_json",
        r"-32700|parse error|invalid JSON",
        "The request is not JSON. Send one object with jsonrpc, method, params and id, keys in double "
        "quotes.",
        '{"code":-32700,"message":"Parse error","data":"Invalid JSON. An error occurred on the '
        'server while parsing the JSON text."}',
    ),
    _pattern(
        "version",
        "bad_request",
        r"json-?rpc version is not specified|-32600|invalid request\b",
        'The envelope is not complete: send {{"jsonrpc": "2.0", "method": …, "params": …, '
        '"id": 1}}.',
        '{"code":-32600,"message":"Invalid request.","data":"JSON-RPC version is not specified."}',
    ),
    _pattern(
        "exists",
        "conflict",
        r"(?P<kind>[\w ]{1,40}) with (?:the same )?\w{1,40} \\?\"(?P<name>[^\"\n]{1,120}?)\\?\" already exists",
        "{kind} {name} is there already: read it and update it, or choose another name.",
        'Host with the same name "web-1" already exists.',
    ),
)

#: Said of much, also of what nobody can mend: asked after that.
GENERAL = (
    _pattern(
        "arguments",
        "wrong_argument",
        r"incorrect arguments passed to function|-32602",
        "Zabbix does not take these parameters. Compare them with the method's page, name by name "
        "and type by type, and send fewer of them first.",
        '{"code":-32602,"message":"Invalid params.","data":"Incorrect arguments passed to function."}',
    ),
)
