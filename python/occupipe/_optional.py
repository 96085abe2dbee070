# SPDX-License-Identifier: MIT
"""Packages that are imported when they are first needed."""

from __future__ import annotations

import importlib
from typing import Any

from ._errors import MissingPackage


def need(name: str, for_what: str) -> Any:
    """The module, or MissingPackage that says how to get it."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        package = name.partition(".")[0]
        raise MissingPackage(f"{for_what} needs {package}: pip install {package}", name=package) from error
