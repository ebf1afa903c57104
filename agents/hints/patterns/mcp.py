"""MCP servers: JSON-RPC codes, the checks of the SDKs, files of the file server."""

from agents.hints.types import Pattern

_FAMILIES = ("mcp",)


def _pattern(name: str, category: str, regex: str, hint: str, *examples: str) -> Pattern:
    return Pattern(f"mcp_{name}", _FAMILIES, category, regex, examples, hint)


PATTERNS = (
    _pattern(
        "tool",
        "unknown_tool",
        r"unknown tool:? ?[\"']?(?P<name>[\w./:-]{1,120})|tool [\"']?(?P<plain>[\w./:-]{1,120})[\"']? "
        r"(?:not found|does not exist|is not available)|there is no tool '(?P<other>[^'\n]{1,120})'",
        "The server has no tool {name}{plain}{other}. List its tools (tools/list) and use an exact "
        "name.",
        "Unknown tool: read_fil",
        "MCP error -32602: Tool search_web not found",
        "There is no tool 'memory_serch'; there are memory_search, memory_write.",
    ),
    _pattern(
        "required",
        "missing_argument",
        r"[\"'](?P<name>[\w.-]{1,80})[\"'] is a required property|"
        r"(?P<plain>[\w.]{1,80})\s{1,6}(?:missing required argument|field required)|"
        r"missing required (?:argument|parameter|property|field)s?:? ?[\"']?(?P<other>[\w., -]{1,80})|"
        r"must have required property '(?P<ajv>[\w.-]{1,80})'|\"path\": ?\[\s{0,8}\"(?P<zod>[\w.-]{1,80})\""
        r"\s{0,8}\],\s{0,8}\"message\": ?\"required\"",
        "The argument {name}{plain}{other}{ajv}{zod} is required. Read the tool's input schema and "
        "send it.",
        "Input validation error: 'path' is a required property",
        "1 validation error for call[read_file]\npath\n  Missing required argument "
        "[type=missing_argument, input_value={}, input_type=dict]",
        "1 validation error for readArguments\npath\n  Field required [type=missing, input_value={}, "
        "input_type=dict]",
        'MCP error -32602: Invalid arguments for tool read: [{"code": "invalid_type", "expected": '
        '"string", "received": "undefined", "path": ["path"], "message": "Required"}]',
        "data must have required property 'path'",
    ),
    _pattern(
        "extra",
        "wrong_argument",
        r"additional properties are not allowed \((?P<name>[^)\n]{1,120}?) (?:was|were) unexpected|"
        r"must NOT have additional properties|unexpected keyword argument|unrecognized key\(s\) in "
        r"object: (?P<zod>[^\n\"]{1,100})|'(?P<ours>[^'\n]{1,80})' is not an argument",
        "The tool does not take {name}{zod}{ours}. Leave it out; the input schema lists what it "
        "takes.",
        "Input validation error: Additional properties are not allowed ('limit' was unexpected)",
        "data must NOT have additional properties",
        "'limt' is not an argument; there are query, scopes, max_results.",
    ),
    _pattern(
        "type",
        "wrong_type",
        r"(?P<name>[^\n]{1,80}?) is not of type '(?P<type>\w{1,20})'|input should be a valid "
        r"(?P<plain>\w{1,20})|\"expected\": ?\"(?P<zod>\w{1,20})\"|must be (?P<ajv>string|number|integer|"
        r"boolean|array|object)\b",
        "An argument has the wrong type: {type}{plain}{zod}{ajv} is expected. Send it as that, "
        "numbers without quotes, lists in [ ].",
        "Input validation error: 5 is not of type 'string'",
        "1 validation error for addArguments\na\n  Input should be a valid integer, unable to parse "
        "string as an integer [type=int_parsing, input_value='x', input_type=str]",
        "data/limit must be integer",
    ),
    _pattern(
        "enum",
        "wrong_argument",
        r"(?P<name>[^\n]{1,80}?) is not one of \[(?P<allowed>[^\]\n]{1,300})|invalid enum value\. expected "
        r"(?P<zod>[^\n\"]{1,200})|input should be (?P<pydantic>'[^\n\[]{1,200})",
        "Use one of {allowed}{zod}{pydantic}.",
        "Input validation error: 'newest' is not one of ['asc', 'desc']",
        "Input should be 'asc' or 'desc' [type=literal_error, input_value='newest', input_type=str]",
    ),
    _pattern(
        "length",
        "wrong_argument",
        r"is too (?P<name>long|short)\b|is (?:less than the minimum|greater than the maximum) of "
        r"(?P<limit>[\d.]{1,12})|the limit is (?P<ours>[\d,]{1,12})",
        "A value is outside its limits: {limit}{ours}. Shorten it, or send it in parts.",
        "Input validation error: 'aaaaaaaa' is too long",
        "Input validation error: 500 is greater than the maximum of 100",
    ),
    _pattern(
        "resource",
        "not_found",
        r"(?:unknown resource|resource not found):? ?(?P<name>\S{0,120})|-32002\b",
        "There is no resource {name}. List them (resources/list, resources/templates/list) and read "
        "one by its exact URI.",
        "MCP error -32002: Resource not found: file:///srv/a.txt",
        "Unknown resource: memory://abc",
    ),
    _pattern(
        "prompt",
        "not_found",
        r"unknown prompt:? ?[\"']?(?P<name>[\w-]{1,80})|prompt [\"']?(?P<plain>[\w-]{1,80})[\"']? not found",
        "There is no prompt {name}{plain}. List them (prompts/list) and use an exact name.",
        "Unknown prompt: session",
    ),
    _pattern(
        "outside",
        "wrong_argument",
        r"path outside allowed directories|outside (?:of )?(?:the )?(?:allowed|workspace|root|project)",
        "That path is not open to this server. Ask for the allowed folders and use a path inside "
        "them.",
        "Access denied - path outside allowed directories: /etc/passwd not in /work",
    ),
    _pattern(
        "file",
        "not_found",
        r"enoent: no such file or directory(?:, \w{1,20} '(?P<name>[^'\n]{1,150}))?|"
        r"\[errno 2\] no such file or directory(?:: '(?P<plain>[^'\n]{1,150}))?",
        "There is no {name}{plain}. List the folder first and use a path from the list.",
        "ENOENT: no such file or directory, open '/srv/a.txt'",
        "[Errno 2] No such file or directory: '/srv/a.txt'",
    ),
    _pattern(
        "method",
        "unknown_method",
        r"-32601\b|method not found",
        "The server does not offer that method. Look at the capabilities it gave at initialise: it "
        "may have tools, but no resources or prompts.",
        "MCP error -32601: Method not found",
    ),
    _pattern(
        "initialise",
        "bad_request",
        r"before initialization was complete|(?:server|session) not initiali[sz]ed|unsupported protocol "
        r"version|session not found|missing session id|no valid session id",
        "Open the session anew: initialize, then notifications/initialized, then the call, with the "
        "protocol version and session id that the server answered.",
        "Received request before initialization was complete",
        "Bad Request: Server not initialized",
        "Bad Request: Missing session ID",
    ),
)

#: Said of much, also of what nobody can mend: asked after that.
GENERAL = (
    _pattern(
        "arguments",
        "wrong_argument",
        r"-32602\b|input validation error|invalid (?:arguments|params)|validation errors? for|"
        r"-32600\b|invalid request\b",
        "The arguments do not fit the tool's input schema. Read the schema (tools/list), and send "
        "each field with its name and type.",
        "MCP error -32602: Invalid params",
        "MCP error -32600: Invalid Request",
    ),
    _pattern(
        "json",
        "bad_json",
        r"-32700\b|(?:json)? ?parse error|is not valid JSON|invalid_json|json_invalid",
        "The message is not JSON. Send one object with double-quoted keys; line breaks inside texts "
        "are written \\n.",
        "MCP error -32700: Parse error",
        "Unexpected token 'h', \"hello\" is not valid JSON",
    ),
)
