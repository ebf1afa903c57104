"""GitLab: REST answers {"message": …} or {"error": …}, GraphQL lists errors."""

from agents.hints.types import Pattern

_FAMILIES = ("gitlab",)


def _pattern(name: str, category: str, regex: str, hint: str, *examples: str) -> Pattern:
    return Pattern(f"gitlab_{name}", _FAMILIES, category, regex, examples, hint)


PATTERNS = (
    _pattern(
        "project",
        "not_found",
        r"404 (?:project|group|namespace|user) not found",
        "No such project, group or user is visible. Use the numeric id, or the full path with / as "
        "%2F (group%2Fproject); search with GET /projects?search=name.",
        '{"message":"404 Project Not Found"}',
        '{"message":"404 Group Not Found"}',
    ),
    _pattern(
        "file",
        "not_found",
        r"404 (?:file|tree|blob|path) not found|a file with this name doesn't exist",
        "There is no such file or folder at that ref. Encode / in the file path as %2F, set ref to an "
        "existing branch, and list the folder with GET /projects/:id/repository/tree.",
        '{"message":"404 File Not Found"}',
        '{"message":"404 Tree Not Found"}',
        '{"message":"A file with this name doesn\'t exist"}',
    ),
    _pattern(
        "ref",
        "not_found",
        r"404 (?:commit|branch|tag|reference) not found|reference not found|invalid reference name|"
        r"invalid revision|you can only create or edit files when you are on a branch",
        "There is no such branch, tag or commit. List them with GET /projects/:id/repository/branches; "
        "the default branch may be main or master.",
        '{"message":"404 Commit Not Found"}',
        '{"message":"404 Branch Not Found"}',
        '{"message":"Invalid reference name: release/9"}',
        '{"message":{"base":["Reference not found"]}}',
    ),
    _pattern(
        "missing",
        "missing_argument",
        r"\"error\": ?\"(?P<name>[\w\[\], ]{1,120}?) (?:is|are) (?:missing|empty)(?!, (?:at least|exactly))",
        "The parameter {name} is required. Send it and try again.",
        '{"error":"ref is missing"}',
        '{"error":"branch is missing, commit_message is missing, actions is missing"}',
        '{"error":"title is empty"}',
    ),
    _pattern(
        "value",
        "wrong_argument",
        r"\"error\": ?\"(?P<name>[\w\[\], ]{1,120}?) (?:does not have a valid value|is invalid|"
        r"has invalid value)",
        "The value of {name} is not one that GitLab takes. Look up the allowed values of this "
        "parameter; ids are numbers, states are words such as opened, closed, merged, all.",
        '{"error":"state does not have a valid value"}',
        '{"error":"per_page does not have a valid value"}',
        '{"error":"id is invalid"}',
    ),
    _pattern(
        "exclusive",
        "wrong_argument",
        r"\"error\": ?\"(?P<name>[\w\[\], ]{1,120}?) are (?:mutually exclusive|missing, at least one|"
        r"missing, exactly one)",
        "Send exactly one of {name}.",
        '{"error":"labels, add_labels are mutually exclusive"}',
        '{"error":"assignee_id, milestone_id, labels are missing, at least one parameter must be '
        'provided"}',
    ),
    _pattern(
        "exists",
        "conflict",
        r"already exists(?: for this source branch: (?P<name>![0-9]{1,9}))?|has already been taken",
        "It is there already: {name}. Read it and update it, or choose another name.",
        '{"message":["Another open merge request already exists for this source branch: !12"]}',
        '{"message":"Branch already exists"}',
        '{"message":{"name":["has already been taken"],"path":["has already been taken"]}}',
    ),
    _pattern(
        "validation",
        "wrong_argument",
        r"\"(?P<name>\w{1,60})\": ?\[ ?\"(?P<said>(?:is missing|is empty|can't be|cannot be|is too|must|is not|should|has|"
        r"does not|contains|only)[^\"\n]{1,120})",
        "{name} {said}. Correct that field and send the request again.",
        '{"message":{"title":["can\'t be blank"]}}',
        '{"message":{"title":["is too long (maximum is 255 characters)"]}}',
        '{"message":{"source_branch":["does not exist"]}}',
    ),
    _pattern(
        "graphql",
        "unknown_field",
        r"field '(?P<name>\w{1,80})' doesn't exist on type '(?P<type>\w{1,80})'|"
        r"argument '(?P<argument>\w{1,80})' on field[^\n]{1,80} has an invalid value|"
        r"field '(?P<bare>\w{1,80})' doesn't accept argument",
        "GraphQL: {name}{argument}{bare} does not fit {type}. Read the type with __type(name: …) "
        "and use its fields and arguments.",
        "Field 'fullpath' doesn't exist on type 'Project'",
        "Field 'issues' doesn't accept argument 'status'",
    ),
    _pattern(
        "sha",
        "conflict",
        r"sha does not match head of source branch",
        "The branch has moved on. Read the merge request again and send its newest sha.",
        '{"message":"SHA does not match HEAD of source branch: 4f1c2d3a"}',
    ),
)

#: Said of much, also of what nobody can mend: asked after that.
GENERAL = (
    _pattern(
        "method",
        "wrong_method",
        r"405 method not allowed|branch cannot be merged|406 branch cannot",
        "This resource does not take that method now: a merge request must be open and mergeable, "
        "other resources take GET, POST or PUT. Read the resource and its state first.",
        '{"message":"405 Method Not Allowed"}',
        '{"message":"Branch cannot be merged"}',
    ),
    _pattern(
        "bad_request",
        "wrong_argument",
        r"400 \(?bad request\)?(?: - |\) )?(?P<said>[^\"}\n]{0,120})",
        "GitLab does not take these values: {said}. Correct them and send the request again.",
        '{"message":"400 Bad request - Note {:note=>[\\"can\'t be blank\\"]}"}',
        '{"message":"400 (Bad request) \\"Start line\\" not given"}',
    ),
    _pattern(
        "other",
        "not_found",
        r"404 (?P<name>[\w ]{0,40}?) ?not found",
        "Not found: {name}. Use the iid (the number shown as !12 or #12 in the project), not the "
        "global id, and check the project's id.",
        '{"message":"404 Not found"}',
        '{"message":"404 Merge Request Not Found"}',
        '{"message":"404 Issue Not Found"}',
    ),
)
