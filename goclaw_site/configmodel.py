"""The configuration as a whole; its sections declare names, defaults and bounds, each once."""

from collections.abc import Iterable
from typing import Annotated, Self
from zoneinfo import ZoneInfo

from pydantic import AfterValidator, Field
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from goclaw_site.configbase import Hiding
from goclaw_site.configdata import Backup, Database
from goclaw_site.configmemory import Ai, Memory, Wiki
from goclaw_site.configserver import Keys, Log, Login, Queue, Server, Worker


def _time_zone(name: str) -> str:
    try:
        ZoneInfo(name)
    except (ValueError, OSError, KeyError):
        raise ValueError(f"{name!r} is not a time zone, such as Europe/Berlin") from None
    return name


class Config(Hiding, BaseSettings):
    """All keys; the path of an attribute is the dotted key."""

    model_config = SettingsConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    database: Database = Database()
    server: Server = Server()
    keys: Keys = Keys()
    login: Login = Login()
    worker: Worker = Worker()
    queue: Queue = Queue()
    timezone: Annotated[str, AfterValidator(_time_zone)] = Field(
        "UTC", description="Time zone of schedules and of the pages."
    )
    log: Log = Log()
    backup: Backup = Backup()
    memory: Memory = Memory()
    ai: Ai = Ai()
    wiki: Wiki = Wiki()

    def starred(self, keys: Iterable[str]) -> Self:
        """The same configuration, which prints the values of these keys as stars."""
        for key in keys:
            self.hide(key.split("."))
        return self

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """The values handed in are all there is: `load_config` reads file and environment."""
        return (init_settings,)
