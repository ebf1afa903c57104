"""One ASGI server: mounted applications by prefix, everything else to Django on threads."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from typing import Any, cast

from a2wsgi import WSGIMiddleware
from asgiref.typing import ASGI3Application, ASGIReceiveCallable, ASGISendCallable, Scope

from goclaw_site.config import get_config
from goclaw_site.wsgi import application as django_application

# isort: split
# Needs the settings, which the application above has read.
from agents.mcp import Door

Lifespan = Callable[[], AbstractAsyncContextManager[Any]]


class Dispatcher:
    """Django's own ASGI handler is seven times slower for views like ours (measured)."""

    def __init__(
        self,
        fallback: ASGI3Application,
        mounts: list[tuple[str, ASGI3Application]],
        lifespans: list[Lifespan],
    ) -> None:
        self.fallback = fallback
        self.mounts = mounts
        self.lifespans = lifespans

    async def __call__(
        self, scope: Scope, receive: ASGIReceiveCallable, send: ASGISendCallable
    ) -> None:
        """The three kinds of scope of the ASGI specification."""
        if scope["type"] == "lifespan":
            await self._live(receive, send)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1000, "reason": ""})
        else:
            await self._application(scope["path"])(scope, receive, send)

    def _application(self, path: str) -> ASGI3Application:
        for prefix, application in self.mounts:
            if path == prefix or path.startswith(prefix + "/"):
                return application
        return self.fallback

    async def _live(self, receive: ASGIReceiveCallable, send: ASGISendCallable) -> None:
        async with AsyncExitStack() as stack:
            await receive()
            try:
                for lifespan in self.lifespans:
                    await stack.enter_async_context(lifespan())
            except Exception as error:
                await send({"type": "lifespan.startup.failed", "message": repr(error)})
                return
            await send({"type": "lifespan.startup.complete"})
            await receive()
        await send({"type": "lifespan.shutdown.complete"})


_mcp = Door()
MOUNTS: list[tuple[str, ASGI3Application]] = [("/mcp", cast("ASGI3Application", _mcp))]
LIFESPANS: list[Lifespan] = [_mcp.lifespan]

_bridge = WSGIMiddleware(cast("Any", django_application), workers=get_config().server.threads)
application = Dispatcher(cast("ASGI3Application", _bridge), MOUNTS, LIFESPANS)
app = application
