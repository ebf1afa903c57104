"""What the browser tests of the wiki share."""

import base64

from memory.access import Principal
from wiki.models import WikiPage, WikiRevision

AGENT_FIELDS = {"name": "claude", "gateway": True, "run_kind": "cron", "key": "abcd"}
PNG = base64.b64encode(
    bytes.fromhex(
        "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de"
        "0000000c49444154789c63606060000000040001f61738550000000049454e44ae426082"
    )
).decode()
PASTE = """(data) => {
  const bytes = Uint8Array.from(atob(data), (sign) => sign.charCodeAt(0));
  const carrier = new DataTransfer();
  carrier.items.add(new File([bytes], 'rack.png', {type: 'image/png'}));
  document.querySelector('#body').dispatchEvent(
    new ClipboardEvent('paste', {clipboardData: carrier, bubbles: true, cancelable: true}));
}"""


def body(slug: str) -> str:
    page = WikiPage.objects.get(slug=slug)
    return WikiRevision.objects.get(page=page, revision=page.revision).body


def agent():
    return Principal(**AGENT_FIELDS)


def saved(page) -> None:
    """Wait for the word of the server; what failed says "saved" too, but not that it was."""
    page.wait_for_selector(".toast.success:has-text('Saved')")
