"""What no change of approach mends: the network, time, credentials, the server itself."""

from agents.hints.types import FAMILIES, Pattern

#: A three-digit status where a status may stand; ClickHouse has codes of its own in that range.
STATUS = (
    r"(?:^\W{{0,3}}|\b(?:HTTP(?:/[\d.]{{1,3}})?|status(?:[ _-]?code)?|statusCode|code|errors?|"
    r"response|returned|answered|got|with)[\"']?[\s:=(]{{1,4}}[\"']?)(?:{codes})\b(?!\.? DB::)"
)


def status(codes: str) -> str:
    """Return a regex for one of these statuses, as 401|403."""
    return STATUS.format(codes=codes)


def _pattern(name: str, category: str, regex: str, *examples: str, also: str = "") -> Pattern:
    return Pattern(name, FAMILIES, category, regex, examples, also=also)


LOGIN_PAGES = (
    _pattern(
        "login_page",
        "login_page",
        r"<(?:!doctype html|html|head|title|form|body)\b",
        '<!DOCTYPE html><html><head><title>Sign in · GitLab</title></head><body class="login-page">',
        '<html><body><form action="/login" method="post"><input type="password" name="pw">',
        "Unexpected token < in JSON at position 0: <!DOCTYPE html><title>Log in - Grafana</title>",
        "<html><head><title>Single Sign-On</title></head><body>Redirecting to your identity provider",
        also=r"\blog[ -]?in\b|\bsign[ -]?in\b|type=[\"']?password|single sign-on|/sso\b|saml",
    ),
    _pattern(
        "login_redirect",
        "login_page",
        r"(?:redirect\w{0,3}|location|30[1237])[^\n]{0,200}"
        r"(?:/log-?in|sign_?in|/oauth|/sso|/saml|/auth/)",
        "Request was redirected to https://gitlab.example.com/users/sign_in",
        "HTTP 302 Found, Location: https://sonar.example.com/sessions/login?return_to=%2Fapi",
    ),
)

PATTERNS = (
    _pattern(
        "timeout",
        "timeout",
        r"timed[- ]?out|\btime-?out (?:exceeded|expired|error|occurred|of \d|while|after|waiting|"
        r"period|was reached|elapsed)|timeout ?error|(?:read|connect\w{0,5}|write|pool|gateway|"
        r"request|socket|query|statement|lock wait|idle\w{0,8}|session|operation|execution|handshake)"
        r"[ _-]?time-?out|etimedout|esockettimedout|deadline[ _]?exceeded|timeout_exceeded|"
        r"due to (?:statement|lock|user|idle\S{0,20}) ?(?:timeout|request)|maximum statement "
        r"execution time|query execution was interrupted|err_timed_out|no response within|i/o timeout|not responding|"
        r"(?:code|error)\"?: ?\"?timeout\b|^timeout\W{0,3}$|exceeded the time(?:out| limit)",
        "canceling statement due to statement timeout",
        "ERROR 3024 (HY000): Query execution was interrupted, maximum statement execution time "
        "exceeded",
        "Code: 159. DB::Exception: Timeout exceeded: elapsed 60.1 seconds, maximum: 60. "
        "(TIMEOUT_EXCEEDED)",
        "HTTPSConnectionPool(host='api.example.com', port=443): Read timed out. (read timeout=30)",
        "AxiosError: timeout of 10000ms exceeded",
        "MCP error -32001: Request timed out",
        "connect ETIMEDOUT 10.0.0.5:443",
        "context deadline exceeded (Client.Timeout exceeded while awaiting headers)",
        "httpx.ConnectTimeout",
        "ERROR 1205 (HY000): Lock wait timeout exceeded; try restarting transaction",
        '{"status":504,"code":"timeout","message":"query took too long"}',
    ),
    _pattern(
        "names",
        "network",
        r"name or service not known|enotfound|eai_again|getaddrinfo|could not translate host name|"
        r"name resolution|nodename nor servname|unknownhostexception|could(?:n't| not) resolve|no such host|nxdomain|"
        r"unknown (?:mysql server )?host\b|name_not_resolved|dns (?:lookup|resolution|error)|"
        r"server misbehaving|no address associated with hostname",
        "[Errno -2] Name or service not known",
        "getaddrinfo ENOTFOUND gitlab.internal",
        'could not translate host name "db.internal" to address: Temporary failure in name '
        "resolution",
        "dial tcp: lookup zabbix.local on 127.0.0.53:53: no such host",
        "curl: (6) Could not resolve host: sonar.example.com",
        "ERROR 2005 (HY000): Unknown MySQL server host 'db1' (-2)",
    ),
    _pattern(
        "tls",
        "network",
        r"certificate[ _]?(?:verify|verification|has expired|is not trusted|signed by unknown|"
        r"validation|unknown|required|expired|common name)|x509:|self[- _]signed|"
        r"local issuer|(?:tls|ssl)[ v_-]{0,2}(?:handshake|alert|error|routines|connection)|sslerror|"
        r"\[ssl\b|wrong[_ ]version[_ ]number|err_(?:cert|ssl|tls)|unable_to_(?:verify|get)_|"
        r"handshake fail|sslv3|no pg_hba\.conf entry|server does not support ssl|"
        r"hostname/ip does not match certificate",
        "[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed: self-signed certificate "
        "(_ssl.c:1006)",
        "x509: certificate signed by unknown authority",
        "unable to get local issuer certificate",
        "SSL: WRONG_VERSION_NUMBER",
        "remote error: tls: handshake failure",
        'FATAL: no pg_hba.conf entry for host "10.0.0.9", user "agent", database "shop", SSL off',
    ),
    _pattern(
        "connection",
        "network",
        r"connection (?:was )?(?:refused|reset|aborted|closed|terminated|lost|failed|dropped|broken|"
        r"error|attempts? failed|to server|pool|already closed|not available|exception|could not)|"
        r"econn(?:refused|reset|aborted)|e(?:host|net)(?:unreach|down)|epipe|broken ?pipe|"
        r"no route to host|(?:network|host)[^\n]{0,40} unreachable|socket hang ?up|"
        r"(?:server|remote end|peer|client) (?:closed|has gone|dropped|disconnected)|gone away|"
        r"remotedisconnected|disconnected without|connection unexpectedly closed|other side closed|"
        r"no listener|failed to start|spawn [^\n]{1,80} enoent|serverdisconnected|lost connection|"
        r"(?:could(?:n't| not)|can(?:'t|not| not)|unable to|failed to|fail to) (?:connect\b|reach|"
        r"establish|open a connection|contact|send request)|"
        r"max retries exceeded|unexpected_eof|eof occurred|unexpected eof (?:while|on)|fetch failed|"
        r"net::err_|err_connection|connect(?:ion)?error|connectexception|clientconnector|"
        r"all connection attempts|tunnel connection failed|proxy ?error|network[ _]error|"
        r"network is down|transport (?:closed|error|endpoint)|stream (?:closed|was reset)|"
        r"server (?:is )?(?:not (?:running|reachable)|unreachable|offline)|"
        r"communications link failure|communication error|not connected\b|econnect",
        'connection to server at "10.0.0.5", port 5432 failed: Connection refused',
        "ERROR 2006 (HY000): MySQL server has gone away",
        "ERROR 2013 (HY000): Lost connection to MySQL server during query",
        "Can't connect to MySQL server on 'db1:3306' (111)",
        "Code: 210. DB::NetException: Connection refused (clickhouse:9000). (NETWORK_ERROR)",
        "connect ECONNREFUSED 127.0.0.1:8080",
        "('Connection aborted.', RemoteDisconnected('Remote end closed connection without "
        "response'))",
        "MCP error -32000: Connection closed",
        "TypeError: fetch failed",
        "server closed the connection unexpectedly",
        "socket hang up",
        "httpx.ConnectError: All connection attempts failed",
        "[Errno 113] No route to host",
    ),
    _pattern(
        "too_many",
        "limit",
        r"too[ _]many[ _](?:requests|connections|clients|simultaneous|open|login|attempts|users)|"
        r"rate[ _-]?limit(?:ed|ing|s| exceeded|\b)|ratelimited|quota[^\n]{0,30}exceeded|"
        r"exceeded[^\n]{0,30}quota|insufficient_quota|throttl(?:ed|ing)\b|slow[ _]?down|flood control|retry[ _-]after|"
        r"connection slots are reserved|max_user_connections|queuepool limit|" + status("429"),
        "429 Too Many Requests",
        "FATAL: sorry, too many clients already",
        "ERROR 1040 (HY000): Too many connections",
        '{"ok":false,"error":"ratelimited"}',
        '{"ok":false,"error_code":429,"description":"Too Many Requests: retry after 17"}',
        "FATAL: remaining connection slots are reserved for roles with the SUPERUSER attribute",
        "Code: 202. DB::Exception: Too many simultaneous queries. Maximum: 100. "
        "(TOO_MANY_SIMULTANEOUS_QUERIES)",
        '{"message": "You are being rate limited.", "retry_after": 0.65, "global": false}',
    ),
    _pattern(
        "credentials",
        "credentials",
        status("401|403|407")
        + r"|unauthori[sz]ed|un_?authenticated|not[ _]auth(?:ori[sz]ed|enticated|ed)|\bforbidden\b|"
        r"auth(?:entication|ori[sz]ation)? (?:is )?(?:failed|failure|required|error|denied|token)|"
        r"authentication_?failed|requires? authentication|invalid[ _](?:auth\w{0,12}|api[ _]?key|"
        r"(?:access[ _]|api[ _]|bot )?token|credentials?|password|login|user ?name or|signature|"
        r"grant|client)|(?:bad|wrong|incorrect|missing|expired|no) (?:credentials?|password|"
        r"api[ _]?key|username or|auth)|(?:password|login|name or password) (?:is )?(?:incorrect|"
        r"invalid|expired|failed|wrong|mismatch)|login failed|login required|log ?in again|"
        r"re-?log[ -]?in|session (?:has )?(?:expired|terminated)|please (?:log|sign) ?in|"
        r"must (?:be logged in|log in|sign in|authenticate)|(?:token|jwt|api key|key)[ _]?(?:was |"
        r"has |is )?(?:been )?(?:expired|revoked|invalid|not valid|inactive)|account[ _]inactive|"
        r"access[ _]denied(?! ?[-:] ?path)|accessdenied|permission[ _]denied|eacces|"
        r"(?:not enough|insufficient|missing|no|lacks?)[ _](?:privileges?|permissions?|scopes?|"
        r"access\b|rights)(?! to referred)|not_in_scope|command denied|"
        r"(?:select|insert|execute) (?:permission|command) (?:was )?denied|"
        r"signaturedoesnotmatch|invalidaccesskey|role \"[^\"]{0,63}\" (?:does not exist|is not "
        r"permitted)|fatal: {1,3}database \"|bot was (?:blocked|kicked)|bot is not a member|"
        r"user is deactivated|must be (?:owner|superuser|a member)|\b535[ -]5\.7|\b530[ -]5\.7|"
        r"no api token|credentials were not provided|password required for|\(unknown_user\)|"
        r"is not allowed to connect to|authentication plugin|don't have permission|do not have permission|"
        r"m_forbidden|insufficient_\w{1,20}_scope|sender address rejected|endpoint: 40[137]\b|restricted_action|ekm_access|org_login_required|require(?:s|d)? (?:admin|"
        r"higher) privileges",
        '{"message":"401 Unauthorized"}',
        '{"message":"403 Forbidden"}',
        "Request failed with status code 401",
        "HTTP 403: access to this resource is denied",
        'FATAL: password authentication failed for user "agent"',
        "ERROR 1045 (28000): Access denied for user 'agent'@'10.0.0.9' (using password: YES)",
        "ERROR 1142 (42000): SELECT command denied to user 'agent'@'%' for table 'payroll'",
        "permission denied for table payroll",
        "Code: 516. DB::Exception: agent: Authentication failed: password is incorrect, or there "
        "is no user with such name. (AUTHENTICATION_FAILED)",
        "Code: 497. DB::Exception: agent: Not enough privileges. To execute this query, it's "
        "necessary to have the grant SELECT(id) ON shop.orders. (ACCESS_DENIED)",
        '{"error":"invalid_token","error_description":"Token was revoked. You have to '
        're-authorize from the user."}',
        '{"error":"insufficient_scope","error_description":"The request requires higher '
        'privileges than provided by the access token."}',
        '{"errors":[{"msg":"Insufficient privileges"}]}',
        '{"code":-32602,"message":"Invalid params.","data":"Session terminated, re-login, please."}',
        '{"code":-32500,"message":"Application error.","data":"No permissions to call '
        '\\"host.create\\"."}',
        '{"code":-32602,"message":"Invalid params.","data":"Not authorised."}',
        "Incorrect user name or password or account is temporarily blocked: Login name or password "
        "is incorrect.",
        '{"ok":false,"error":"invalid_auth"}',
        '{"ok":false,"error":"missing_scope","needed":"chat:write","provided":"identify"}',
        '{"ok":false,"error_code":403,"description":"Forbidden: bot was blocked by the user"}',
        '{"message": "Missing Permissions", "code": 50013}',
        "535 5.7.8 Error: authentication failed: UGFzc3dvcmQ6",
        "407 Proxy Authentication Required",
        'Error POSTing to endpoint (HTTP 401): {"error":"invalid_token"}',
    ),
    _pattern(
        "server",
        "server",
        status(r"50\d|52\d")
        + r"|internal[ _](?:server )?error(?! in expr)|bad gateway|service (?:is )?(?:temporarily )?"
        r"unavailable|temporarily unavailable|gateway time-?out|overloaded|under maintenance|"
        r"maintenance mode|out of (?:memory|shared memory|disk)|oom\b|no space left|disk (?:is )?full|"
        r"could not (?:extend|write|read) (?:file|block)|memory[ _]limit[^\n]{0,40}exceeded|"
        r"memory_limit_exceeded|"
        r"database is locked|database disk image is malformed|deadlock|"
        r"(?:the database system|server) is (?:starting|shutting|in recovery)|in recovery mode|"
        r"administrator command|upstream (?:connect|request|server|prematurely|sent|unavailable)|"
        r"no healthy upstream|fatal_error|internal_error|try again later|"
        r"application error\.[^\n]{0,60}(?:database|server)|server_error|"
        r"table \S{1,100} is marked as crashed|"
        r"read-?only file ?system|unable to open database file|input/output error",
        "502 Bad Gateway",
        "<html><head><title>503 Service Temporarily Unavailable</title></head></html>",
        '{"message":"500 Internal Server Error"}',
        "ERROR: out of memory\nDETAIL: Failed on request of size 1048576.",
        'could not extend file "base/16384/2619": No space left on device',
        "Code: 241. DB::Exception: Memory limit (for query) exceeded: would use 10.00 GiB. "
        "(MEMORY_LIMIT_EXCEEDED)",
        "sqlite3.OperationalError: database is locked",
        "ERROR 1213 (40001): Deadlock found when trying to get lock; try restarting transaction",
        "FATAL: the database system is starting up",
        "FATAL: terminating connection due to administrator command",
        "upstream connect error or disconnect/reset before headers",
        '{"ok":false,"error":"fatal_error"}',
    ),
)
