"""The base of every admin page, and accounts, groups and the queue's tables on it."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.contrib.auth import admin as auth_admin
from django.contrib.auth.models import Group, User
from django.core.paginator import Paginator
from django.db.models import Model, QuerySet
from django.http import HttpRequest
from django.utils.functional import cached_property
from django_q import admin as queue_admin  # noqa: F401  registers what is replaced below
from django_q.models import Failure, OrmQ, Schedule, Success
from unfold.admin import ModelAdmin
from unfold.forms import AdminPasswordChangeForm, UserChangeForm, UserCreationForm

from memory import audit
from memory.access import principal_of

#: Rows that a list counts and can be paged to: counting a million takes longer than showing fifty.
COUNTED = 10_000


class CappedPaginator(Paginator):  # type: ignore[type-arg]  # generic in the stubs alone
    """Counts no further than its end."""

    @cached_property
    def count(self) -> int:
        """The number of rows, at most `COUNTED`."""
        rows = self.object_list
        if isinstance(rows, QuerySet):
            return int(rows.order_by()[:COUNTED].count())
        return len(rows)


class GoclawAdmin(ModelAdmin):  # type: ignore[misc]  # unfold has no types
    """Lists in the order of an index, filtered by what they declare and by nothing else.

    Django lets the address filter by any column, which would tell what a hidden text begins with.
    """

    paginator = CappedPaginator
    show_full_result_count = False
    show_facets = admin.ShowFacets.NEVER
    list_per_page = 50
    list_max_show_all = 50
    sortable_by: tuple[str, ...] = ()

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest | None = None) -> bool:
        """Allow the declared filters only."""
        declared = {name for name in self.list_filter if isinstance(name, str)}
        column, _, kind = lookup.partition("__")
        return column in declared and kind in ("", "exact", "isnull", "gte", "lt", "id__exact")

    def log_addition(self, request: HttpRequest, obj: Model, message: Any) -> Any:
        """Note it in the audit trail, too."""
        self._note(request, "add", obj)
        return super().log_addition(request, obj, message)

    def log_change(self, request: HttpRequest, obj: Model, message: Any) -> Any:
        """The same for a change."""
        self._note(request, "change", obj)
        return super().log_change(request, obj, message)

    def log_deletions(self, request: HttpRequest, queryset: Any) -> Any:
        """The same for a delete of one or several."""
        for obj in queryset:
            self._note(request, "delete", obj)
        return super().log_deletions(request, queryset)

    def _note(self, request: HttpRequest, deed: str, obj: Model) -> None:
        subject = f"{self.opts.model_name}:{obj.pk}"
        audit.record(principal_of(request), f"admin.{deed}", subject[:64])


class ReadOnlyAdmin(GoclawAdmin):
    """A table that people look at and the engine writes."""

    def has_add_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Nobody adds a row by hand."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Nobody changes one."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Nobody deletes one."""
        return False


for _model in (User, Group, Success, Failure, OrmQ, Schedule):
    admin.site.unregister(_model)


@admin.register(User)
class AccountAdmin(auth_admin.UserAdmin, GoclawAdmin):  # type: ignore[type-arg,misc]  # unfold
    """People with a login."""

    form = UserChangeForm
    add_form = UserCreationForm
    change_password_form = AdminPasswordChangeForm
    ordering = ("username",)


@admin.register(Group)
class RoleAdmin(auth_admin.GroupAdmin, GoclawAdmin):  # type: ignore[misc]  # unfold
    """Roles: `admin` makes an administrator, `memory.write_access` names others."""


class TaskAdmin(ReadOnlyAdmin):
    """Calls that workers ran; what they answered may quote a text, so it is in the log alone."""

    list_display = ("name", "func", "started", "stopped", "attempt_count")
    fields = ("id", "name", "func", "started", "stopped", "attempt_count", "success")
    ordering = ("-started",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """Leave the pickled columns in the database."""
        return super().get_queryset(request).defer("args", "kwargs", "result")  # type: ignore[no-any-return]


@admin.register(Success)
class DoneAdmin(TaskAdmin):
    """Those that went well."""


@admin.register(Failure)
class FailedAdmin(TaskAdmin):
    """Those that did not."""


@admin.register(OrmQ)
class WaitingAdmin(ReadOnlyAdmin):
    """Calls that wait for a worker."""

    list_display = ("id", "key", "lock")
    fields = ("id", "key", "lock")
    ordering = ("id",)


@admin.register(Schedule)
class ScheduleAdmin(ReadOnlyAdmin):
    """The server's own schedules; the configuration sets their times."""

    list_display = ("name", "func", "schedule_type", "cron", "next_run")
    fields = ("name", "func", "schedule_type", "minutes", "cron", "next_run", "repeats")
    ordering = ("name",)
