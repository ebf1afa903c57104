"""Whose address a request comes from, and whether a proxy of ours handed it over."""

from __future__ import annotations

from ipaddress import IPv6Address, IPv6Network, ip_address, ip_network

from django.http import HttpRequest

from goclaw_site.config import get_config


def client_address(request: HttpRequest) -> str:
    """Return the client's address; behind trusted proxies the last one they did not add themselves.

    Empty where there is none.
    """
    peer = peer_address(request)
    if not get_config().server.secure or not is_trusted(peer):
        return peer
    hops = [hop.strip() for hop in request.headers.get("X-Forwarded-For", "").split(",")]
    return next((hop for hop in reversed(hops) if hop and not is_trusted(hop)), peer)


def peer_address(request: HttpRequest) -> str:
    """Return the address at the other end of the connection."""
    return str(request.META.get("REMOTE_ADDR") or "")


def is_trusted(address: str) -> bool:
    """Whether `server.trusted_proxies` names the address."""
    try:
        parsed = ip_address(address)
    except ValueError:
        return False
    networks = (ip_network(name, strict=False) for name in get_config().server.trusted_proxies)
    return any(parsed in network for network in networks)


def household(address: str) -> str:
    """Return what is counted for an address: of IPv6 its /64, which one customer has whole."""
    try:
        parsed = ip_address(address)
    except ValueError:
        return address[:64]
    if isinstance(parsed, IPv6Address):
        return str(IPv6Network((parsed, 64), strict=False))
    return str(parsed)
