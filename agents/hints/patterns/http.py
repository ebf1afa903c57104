"""What any HTTP server, and the clients in front of it, may say."""

from agents.hints.patterns.unfixable import status
from agents.hints.types import Pattern

_FAMILIES = ("http_request", "gitlab", "sonarqube", "uptrace_query", "mcp", "message", "notify")


def _pattern(
    name: str,
    category: str,
    regex: str,
    hint: str,
    *examples: str,
    families: tuple[str, ...] = _FAMILIES,
) -> Pattern:
    return Pattern(f"http_{name}", families, category, regex, examples, hint)


PATTERNS = (
    _pattern(
        "scheme",
        "bad_address",
        r"no (?:scheme|host) supplied|invalid url|missing schema|unsupported protocol|"
        r"unknown (?:url type|scheme)|missing an 'http://' or|only absolute urls|url (?:is )?malformed|"
        r"failed to parse url|relative url without a base|no connection adapters|invalid port|"
        r"url using bad/illegal format",
        "The address is not complete. Write it with its scheme and host: https://host/path.",
        "Invalid URL 'example.com/x': No scheme supplied. Perhaps you meant https://example.com/x?",
        "Request URL is missing an 'http://' or 'https://' protocol.",
        "TypeError: Failed to parse URL from /api/users",
        'unsupported protocol scheme ""',
    ),
    _pattern(
        "not_json",
        "not_json",
        r"expecting value: line 1 column 1|unexpected token '?<|unexpected end of json|jsondecodeerror|"
        r"is not valid json|invalid character '<' looking for",
        "The answer is not JSON. Read it as text first: the path may be a page instead of the API "
        "(often /api/…), or send Accept: application/json.",
        "Expecting value: line 1 column 1 (char 0)",
        "SyntaxError: Unexpected token '<' in JSON at position 0",
        "invalid character '<' looking for beginning of value",
    ),
    _pattern(
        "body",
        "bad_json",
        r"json parse error(?: - (?P<name>[^\"\n]{1,100}))?|malformed json|invalid json|"
        r"(?:request )?body (?:is not|must be|is invalid)[^\n]{0,20}json|cannot deserialize|"
        r"expecting property name enclosed in double quotes|json_invalid",
        "The body is not valid JSON: {name}. Quote keys and texts with double quotes, leave no comma "
        "before a closing bracket, and send Content-Type: application/json.",
        '{"detail":"JSON parse error - Expecting \',\' delimiter: line 1 column 12 (char 11)"}',
        "Malformed JSON in request body",
        "400 Bad Request: invalid JSON",
    ),
    _pattern(
        "missing",
        "missing_argument",
        r"field required|this field is required|missing required|(?:parameter|field|property|argument) "
        r"[\"'`]?(?P<name>[\w.-]{1,80})[\"'`]? (?:is )?(?:required|missing)|required (?:query )?"
        r"(?:parameter|property|field)|is a required",
        "A field is missing: {name}. The answer names it; add it and send the request again.",
        '{"detail":[{"type":"missing","loc":["body","name"],"msg":"Field required","input":{}}]}',
        '{"name":["This field is required."]}',
        "400 Bad Request: parameter 'from' is required",
    ),
    _pattern(
        "unprocessable",
        "wrong_argument",
        status("422")
        + r"|unprocessable (?:entity|content)|validation (?:failed|error)|value_error|"
        r"input should be|not a valid (?P<name>\w{1,20})|must be (?:one of|a |an |at (?:least|most))",
        "The request was understood, but a value is not allowed. The answer names the field and what "
        "it takes: correct it and send the request again.",
        '422 Unprocessable Entity: {"errors":{"email":["is invalid"]}}',
        '{"message":"Validation Failed","errors":[{"resource":"Issue","field":"title",'
        '"code":"missing_field"}]}',
        '{"age":["A valid integer is required."],"detail":"Not a valid integer."}',
        "Client error '422 Unprocessable Content' for url 'https://api.example.com/users'",
    ),
    _pattern(
        "not_found",
        "unknown_path",
        status("404")
        + r"|not found|no route matches|cannot (?:get|post|put|delete) /|no such (?:route|path)|"
        r"does not exist",
        "There is nothing at that path. Compare it with the API's documentation: version, plural, "
        "trailing slash, id. List the collection first and use an id from it.",
        '{"detail":"Not found."}',
        "404 Not Found",
        "Request failed with status code 404",
        "Client error '404 Not Found' for url 'https://api.example.com/v1/usrs'",
        "Cannot GET /api/usrs",
    ),
    _pattern(
        "method",
        "wrong_method",
        status("405")
        + r"|method [\"\\]{0,4}(?P<name>\w{0,10})[\"\\]{0,4} ?not (?:allowed|supported)|method not allowed",
        "The path does not take this method: {name}. The Allow header names what it takes; reading is GET, "
        "searching with a body is often POST.",
        "405 Method Not Allowed",
        '{"detail":"Method \\"PUT\\" not allowed."}',
    ),
    _pattern(
        "media_type",
        "wrong_argument",
        status("415|406")
        + r"|unsupported media type|not acceptable|content type '[^'\n]{0,80}' not supported|"
        r"invalid content-type",
        "The server takes or gives another format. Send Content-Type: application/json with a JSON "
        "body, and Accept: application/json.",
        "415 Unsupported Media Type",
        '{"detail":"Unsupported media type \\"text/plain\\" in request."}',
        "HTTP 406 Not Acceptable",
    ),
    _pattern(
        "conflict",
        "conflict",
        status("409|412")
        + r"|\bconflict\b|already exists|duplicate (?:key|entry)|precondition failed|"
        r"has been modified",
        "It is there already, or has changed since it was read. Read it again, then update that one "
        "or choose another name.",
        '409 Conflict: {"error":"user already exists"}',
        "412 Precondition Failed",
    ),
    _pattern(
        "large",
        "too_large",
        status("413|414|431")
        + r"|(?:payload|entity|content|body|uri|header\w{0,7}) too (?:large|long)|"
        r"too large",
        "The request is too large. Send fewer items at a time, shorten the query, or use POST with a "
        "body instead of a long address.",
        "413 Payload Too Large",
        "414 URI Too Long",
    ),
    _pattern(
        "moved",
        "moved",
        status("301|308|410") + r"|moved permanently|permanent redirect|\bgone\b|deprecated",
        "The address has moved or is gone. Use the one in the Location header, or a newer version of "
        "the API.",
        "301 Moved Permanently, Location: https://api.example.com/v2/users",
        "HTTP 410 Gone: this version of the API is no longer served",
    ),
    _pattern(
        "bad_request",
        "wrong_argument",
        status("400|411|416|428")
        + r"|bad request|invalid (?:parameter|argument|value|request|query|"
        r"input|date|format|cursor|page)",
        "The server does not take this request. Read the answer for the field it names, and compare "
        "names, types and formats with the documentation.",
        "400 Bad Request",
        "Request failed with status code 400",
        '{"error":"invalid parameter: limit"}',
    ),
)
