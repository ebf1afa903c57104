"""Text that looks like a credential: found by kind, never quoted, kept or logged."""

from __future__ import annotations

import re
from functools import cache

from detect_secrets.plugins import (
    aws,
    azure_storage_key,
    basic_auth,
    discord,
    github_token,
    gitlab_token,
    mailchimp,
    openai,
    private_key,
    pypi_token,
    sendgrid,
    slack,
    square_oauth,
    stripe,
    telegram_token,
    twilio,
)
from detect_secrets.plugins.base import RegexBasedDetector

#: The tag on records that look so; people may remove it.
CREDENTIAL = "credential"
#: Rules of detect-secrets that match a form. Those that guess by entropy flag every hash and id of
#: an organisation's notes; those for npm and JSON web tokens take seconds on a crafted line.
_RULES: tuple[type[RegexBasedDetector], ...] = (
    aws.AWSKeyDetector,
    azure_storage_key.AzureStorageKeyDetector,
    basic_auth.BasicAuthDetector,
    discord.DiscordBotTokenDetector,
    github_token.GitHubTokenDetector,
    gitlab_token.GitLabTokenDetector,
    mailchimp.MailchimpDetector,
    openai.OpenAIDetector,
    private_key.PrivateKeyDetector,
    pypi_token.PypiTokenDetector,
    sendgrid.SendGridDetector,
    slack.SlackDetector,
    square_oauth.SquareOAuthDetector,
    stripe.StripeDetector,
    telegram_token.TelegramBotTokenDetector,
    twilio.TwilioKeyDetector,
)
#: What those rules lack: our own keys, tokens of npm and JWT, passwords said in a sentence.
_OWN = {
    "GoClaw key": re.compile(r"\bgc_[0-9a-f]{10}_[A-Za-z0-9_-]{32}"),
    "JSON web token": re.compile(
        r"\beyJ[A-Za-z0-9_-]{8,2000}\.[A-Za-z0-9_-]{8,4000}\.[A-Za-z0-9_-]{8,2000}"
    ),
    "npm token": re.compile(r"\bnpm_[A-Za-z0-9]{36}\b"),
    "Password": re.compile(
        r"\b(?:password|passwort|passwd|passphrase|kennwort|mot de passe|contraseña|密码"
        r"|パスワード)"
        r"(?:\s+(?:for|of|to|für|zu)\s+\S{1,40}){0,2}\s*(?:is|ist|est|es|是|は|[:=：])\s*[\"'“]?"
        r"(?=\S{0,40}[\d!@#$%^&*?+=])[^\s\"'”]{6,}",
        re.IGNORECASE,
    ),
    "Secret": re.compile(
        r"\b(?:api[ _-]?key|secret|access[ _-]?token|token)\s*(?:is|[:=])\s*[\"'“]?"
        r"(?=\S{0,80}\d)[A-Za-z0-9_+/=.-]{16,}",
        re.IGNORECASE,
    ),
}
_CARD = re.compile(r"(?<![\d.-])(?:\d[ -]?){12,18}\d(?![\d-])")
#: Nothing is found in text without one of these, and most text has none.
_HINT = re.compile(
    r"[A-Za-z0-9+/=_.:-]{20}|-----BEGIN|://|(?:\d[ -]?){13}|token|secret|key"
    r"|pass|kennwort|contrase|密码|パスワード",
    re.IGNORECASE,
)


def found(text: str) -> tuple[str, ...]:
    """Return the kinds of credentials that the text seems to hold, each once."""
    if not _HINT.search(text):
        return ()
    kinds = [name for name, rule in _OWN.items() if rule.search(text)]
    kinds += [rule.secret_type for rule in _rules() if _matches(rule, text)]
    if any(_is_card(match.group()) for match in _CARD.finditer(text)):
        kinds.append("Card number")
    return tuple(dict.fromkeys(kinds))


def warning(kinds: tuple[str, ...]) -> str:
    """Return the sentence for whoever wrote it."""
    return (
        f"This looks like it holds a credential ({', '.join(kinds)}). It is kept as it was "
        "written, and whoever may read the record can read it. If it is one: replace it where it "
        "is used, and delete this record."
    )


@cache
def _rules() -> tuple[RegexBasedDetector, ...]:
    return tuple(rule() for rule in _RULES)


def _matches(rule: RegexBasedDetector, text: str) -> bool:
    """The values themselves are looked at and dropped."""
    return next(iter(rule.analyze_string(text)), None) is not None


def _is_card(digits: str) -> bool:
    """The check digit of ISO/IEC 7812 (Luhn)."""
    numbers = [int(sign) for sign in digits if sign.isdigit()]
    if len(set(numbers)) == 1:
        return False
    doubled = [sum(divmod(2 * n, 10)) for n in numbers[-2::-2]]
    return (sum(numbers[-1::-2]) + sum(doubled)) % 10 == 0
