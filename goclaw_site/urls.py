"""The roots of all addresses."""

from django.contrib import admin
from django.urls import include, path, re_path
from django.views.generic import RedirectView
from drf_spectacular.views import SpectacularAPIView

from agents import oidc
from agents.pages import signing
from goclaw_site import views

handler400 = "goclaw_site.views.bad_request"
handler403 = "goclaw_site.views.permission_denied"
handler404 = "goclaw_site.views.not_found"
handler500 = "goclaw_site.views.server_error"

urlpatterns = [
    re_path(r"^healthz/?$", views.healthz, name="healthz"),
    re_path(r"^readyz/?$", views.readyz, name="readyz"),
    path("login/", signing.SignIn.as_view(), name="login"),
    path("login/provider/", oidc.start, name="oidc-start"),
    path("login/provider/return/", oidc.finish, name="oidc-finish"),
    path("logout/", signing.SignOut.as_view(), name="logout"),
    path("invited/<uidb64>/<token>/", signing.Invited.as_view(), name="invited"),
    path("password/", views.PasswordView.as_view(), name="password"),
    path("admin/login/", RedirectView.as_view(pattern_name="login", query_string=True)),
    path("admin/", admin.site.urls),
    re_path(r"^api/schema/?$", SpectacularAPIView.as_view(), name="schema"),
    re_path(r"^api/docs/?$", views.api_docs, name="api-docs"),
    path("", include("memory.urls")),
    path("", include("wiki.urls")),
    path("", include("agents.urls")),
]
