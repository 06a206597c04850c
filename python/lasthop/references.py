"""Objects of the package by reference, whose modules are imported when the objects are used."""

from importlib import import_module
from typing import Any

__all__ = ["named"]


def named(reference: str) -> Any:
    """Import the object that a reference such as ``display.text:result_text`` names."""
    module, _, name = reference.partition(":")
    return getattr(import_module(f"lasthop.{module}"), name)
