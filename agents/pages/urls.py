"""The addresses of the pages."""

from __future__ import annotations

from django.urls import path, re_path

from agents.pages import channels, keys, people, start, trail

urlpatterns = [
    path("keys/", keys.own, name="keys"),
    path("keys/make/", keys.make, name="keys-make"),
    path("keys/<slug:prefix>/rotate/", keys.rotate, name="keys-rotate"),
    path("keys/<slug:prefix>/revoke/", keys.revoke, name="keys-revoke"),
    path("people/", people.everybody, name="people"),
    path("people/invite/", people.invite, name="people-invite"),
    path("people/<int:person_id>/", people.one, name="people-one"),
    path("people/<int:person_id>/delete/", people.delete, name="people-delete"),
    re_path(
        rf"^people/(?P<person_id>\d{{1,18}})/(?P<action>{'|'.join(people.ACTIONS)})/$",
        people.act,
        name="people-act",
    ),
    path("identities/", channels.everywhere, name="identities"),
    path("identities/<int:identity_id>/confirm/", channels.confirm, name="identities-confirm"),
    path("identities/<int:identity_id>/link/", channels.link, name="identities-link"),
    path("audit/", trail.trail, name="audit"),
    path("start/", start.start, name="start"),
    path("start/light/<slug:prefix>/", start.light, name="start-light"),
]
