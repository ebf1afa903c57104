"""The page about models: what serves, what needs one, what was used, and setting one."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from goclaw_site.errors import Conflict, GoclawError, NotFound
from memory.access import principal_of
from memory.pages import modelforms, modelwords
from memory.pages.base import UNPROCESSABLE, admin_page, go, show
from memory.pages.modelforms import ModelForm
from memory.providers import trials
from memory.providers.chat import choosing, saved
from memory.providers.chat.choices import KINDS


@admin_page
@require_safe
def overview(request: HttpRequest) -> HttpResponse:
    """Show what serves, what is off without a model, and what was used."""
    return render(request, "memory/models.html", modelwords.overview())


@sensitive_post_parameters("key")
@admin_page
@require_http_methods(["GET", "HEAD", "POST"])
def edit(request: HttpRequest, role: str) -> HttpResponse:
    """Set the model of a role: it is tried before it is kept."""
    _check_role(role)
    if request.method != "POST":
        return _form(request, role, modelforms.filled(role))
    _refuse_configured(role)
    form = modelforms.posted(request.POST, role)
    try:
        choice = modelforms.choice_of(form, role)
    except GoclawError as error:
        return _form(request, role, form.failed(error), UNPROCESSABLE)
    act = request.POST.get("act", "")
    if act != "keep":
        form = form.tried(modelforms.attempt(choice, role))
        if act == "try" or form.problems:
            return _form(request, role, form, UNPROCESSABLE if form.problems else 200)
    saved.save(principal_of(request), role, choice)
    messages.success(request, f"{choice.model} serves from the next call on.")
    return go(request, reverse("models"))


@admin_page
@require_http_methods(["GET", "HEAD", "POST"])
def clear(request: HttpRequest, role: str) -> HttpResponse:
    """Ask, then forget the model of a role and its key."""
    _check_role(role)
    _refuse_configured(role)
    if request.method != "POST":
        context = {"role": modelwords.role(role), "kept": saved.read(role)}
        return render(request, "memory/model_clear.html", context)
    saved.clear(principal_of(request), role)
    messages.success(request, "The model is off, and its key is gone from the vault.")
    return go(request, reverse("models"))


@admin_page
@require_POST
def attempt(request: HttpRequest, part: str) -> HttpResponse:
    """Try what serves now; a success also closes its circuit."""
    if part == trials.EMBEDDINGS:
        trial = trials.embeddings()
    else:
        _check_role(part)
        trial = trials.role(part)
    words, good = modelwords.outcome(trial)
    (messages.success if good else messages.error)(request, words)
    return go(request, reverse("models"))


def _form(request: HttpRequest, role: str, form: ModelForm, status: int = 200) -> HttpResponse:
    context: dict[str, Any] = {
        "form": form,
        "role": modelwords.role(role),
        "kinds": KINDS.values(),
        "configured": choosing.is_configured(role),
        "kept": saved.read(role) is not None,
    }
    return show(request, "memory/model.html", "memory/parts/model_form.html", context, status)


def _check_role(role: str) -> None:
    if role not in choosing.ROLES:
        raise NotFound("There is no such role.")


def _refuse_configured(role: str) -> None:
    if choosing.is_configured(role):
        raise Conflict(f"The configuration sets ai.{role}, and it comes first: change it there.")
