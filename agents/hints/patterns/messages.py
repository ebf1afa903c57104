"""Messages to people: Slack, Telegram, Discord, Teams, Matrix, mail."""

from agents.hints.types import MESSAGES, Pattern


def _pattern(name: str, category: str, regex: str, hint: str, *examples: str) -> Pattern:
    return Pattern(f"message_{name}", MESSAGES, category, regex, examples, hint)


PATTERNS = (
    _pattern(
        "channel",
        "unknown_recipient",
        r"channel_not_found|chat not found|unknown channel|no such (?:channel|room|chat)|"
        r"room (?:not found|\S{1,80} not known)|conversation ?not ?found|unknown_channel",
        "There is no such channel or chat. List the channels and use its id (C0123…, -1001234…), not "
        "its name.",
        '{"ok":false,"error":"channel_not_found"}',
        '{"ok":false,"error_code":400,"description":"Bad Request: chat not found"}',
        '{"message": "Unknown Channel", "code": 10003}',
        '{"error":{"code":"ConversationNotFound","message":"Conversation not found."}}',
    ),
    _pattern(
        "user",
        "unknown_recipient",
        r"users?_not_found|unknown user|user not found|user_not_visible|invalid recipients?|"
        r"recipient address rejected|user unknown|no such user|mailbox (?:not found|unavailable)|"
        r"\b55[013][ -]5\.1\.[0-9]|bad recipient address|does not exist here|cannot_dm_bot",
        "That person is not known there. Look the id or the address up in the directory, and write "
        "to that.",
        '{"ok":false,"error":"user_not_found"}',
        "550 5.1.1 <anna@example.con>: Recipient address rejected: User unknown",
        "501 5.1.3 Bad recipient address syntax",
        '{"message": "Unknown User", "code": 10013}',
    ),
    _pattern(
        "membership",
        "not_a_member",
        r"not_in_channel|is_archived|cant_post_message|group chat was (?:upgraded|deactivated)",
        "Nothing can be posted there: the channel is archived, was moved, or the bot has not joined. "
        "Join it, or choose another channel.",
        '{"ok":false,"error":"not_in_channel"}',
        '{"ok":false,"error":"is_archived"}',
        '{"ok":false,"error_code":400,"description":"Bad Request: group chat was upgraded to a '
        'supergroup chat","parameters":{"migrate_to_chat_id":-1001234}}',
    ),
    _pattern(
        "long",
        "too_long",
        r"msg_too_long|msg_blocks_too_long|message is too long|caption is too long|"
        r"be \d{1,6} or fewer in length|message size exceeds|m_too_large|"
        r"http error 413|request entity too large|text_too_long|messagesizetoobig|message size too large",
        "The message is too long. Shorten it or send it in parts (Slack 4,000 characters, "
        "Telegram 4,096, Discord 2,000), with the rest as a file.",
        '{"ok":false,"error":"msg_too_long"}',
        '{"ok":false,"error_code":400,"description":"Bad Request: message is too long"}',
        '{"message": "Invalid Form Body", "code": 50035, "errors": {"content": {"_errors": [{"code": '
        '"BASE_TYPE_MAX_LENGTH", "message": "Must be 2000 or fewer in length."}]}}}',
        "552 5.3.4 Message size exceeds fixed limit",
        "Webhook message delivery failed with error: Microsoft Teams endpoint returned HTTP error 413",
    ),
    _pattern(
        "empty",
        "missing_argument",
        r"\"no_text\"|message text is empty|cannot send an empty message|summary or text is required|"
        r"text must be non-empty|message_text_empty|message body is empty",
        "The message has no text. Send one in the field text (Discord: content), beside blocks or "
        "files too.",
        '{"ok":false,"error":"no_text"}',
        '{"ok":false,"error_code":400,"description":"Bad Request: message text is empty"}',
        '{"message": "Cannot send an empty message", "code": 50006}',
        "Summary or Text is required.",
    ),
    _pattern(
        "markup",
        "syntax",
        r"can't parse entities(?:: (?P<name>[^\"\n]{1,120}))?|invalid_blocks(?:_format)?|"
        r"invalid_attachments|failed to parse[^\n]{0,30}(?:markup|entities)",
        "The markup is not valid: {name}. Escape _*[]().!- in MarkdownV2, close every tag, or "
        "send it as plain text.",
        '{"ok":false,"error_code":400,"description":"Bad Request: can\'t parse entities: Can\'t find '
        'end of the entity starting at byte offset 12"}',
        '{"ok":false,"error":"invalid_blocks"}',
    ),
    _pattern(
        "thread",
        "not_found",
        r"thread_not_found|message_not_found|cant_update_message|unknown message|"
        r"(?:message|reply)[\w ]{0,30} not found|message to (?:be replied|edit|reply)|"
        r"message is not modified|edit_window_closed",
        "The message to answer or change is not there, or has not changed. Use the ts or id that the "
        "channel gave, from the same channel, or post a new message.",
        '{"ok":false,"error":"thread_not_found"}',
        '{"ok":false,"error_code":400,"description":"Bad Request: message to be replied not found"}',
        '{"message": "Unknown Message", "code": 10008}',
        '{"ok":false,"error_code":400,"description":"Bad Request: message is not modified: specified '
        'new message content is exactly the same"}',
    ),
    _pattern(
        "payload",
        "bad_json",
        r"invalid_payload|bad payload received|invalid_json|json_not_object|m_not_json|m_bad_json|"
        r"invalid json|invalid_post_type|webhook bad request|can't parse (?:reply|inline) keyboard|"
        r"not a valid JSON",
        'The payload is not what this webhook takes. Send a JSON object such as {{"text": "…"}} '
        "with Content-Type application/json.",
        "invalid_payload",
        "Bad payload received by generic incoming webhook.",
        '{"errcode":"M_NOT_JSON","error":"Content not JSON."}',
    ),
    _pattern(
        "method",
        "unknown_method",
        r"unknown_method|m_unrecognized|\"description\": ?\"not found\"",
        "There is no such method. Use the exact name, as chat.postMessage or sendMessage.",
        '{"ok":false,"error":"unknown_method"}',
        '{"ok":false,"error_code":404,"description":"Not Found"}',
    ),
)

#: Said of much, also of what nobody can mend: asked after that.
GENERAL = (
    _pattern(
        "arguments",
        "wrong_argument",
        r"invalid_arguments|invalid_arg_name|invalid form body|missing_argument|m_missing_param|"
        r"m_invalid_param|no_channel|is not a valid|value_error|"
        r"bad request: (?P<name>[^\"\n]{1,120})",
        "A field is missing or wrong: {name}. Compare the fields with the method's page, and send the "
        "message again.",
        '{"ok":false,"error":"invalid_arguments","response_metadata":{"messages":["[ERROR] missing '
        'required field: channel"]}}',
        '{"message": "Invalid Form Body", "code": 50035, "errors": {"embeds": {"0": {"_errors": '
        '[{"code": "DICT_TYPE_CONVERT"}]}}}}',
        '{"ok":false,"error_code":400,"description":"Bad Request: wrong file identifier/HTTP URL '
        'specified"}',
    ),
)
