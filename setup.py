"""Packages of the wheel; everything else is in pyproject.toml.

Templates and static files stand at the root of the repository. In a wheel they lie below
`goclaw_assets`, where `goclaw_site.settings` looks for them.
"""

from setuptools import find_packages, setup

CODE = ["goclaw_site", "memory", "wiki", "agents"]
ASSETS = {"goclaw_assets.templates": "templates", "goclaw_assets.static": "static"}

setup(
    packages=find_packages(include=[f"{name}{rest}" for name in CODE for rest in ("", ".*")])
    + list(ASSETS),
    package_dir=ASSETS,
    package_data={"": ["*.json", "*.txt", "*.yaml"], **{key: ["**/*"] for key in ASSETS}},
)
