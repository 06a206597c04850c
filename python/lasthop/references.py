"""Import of objects of the package by a reference in text, when they are first used."""

from importlib import import_module
from typing import Any

__all__ = ["named"]


def named(reference: str) -> Any:
    """Import the object that a reference such as ``display.text:result_text`` names."""
    module, _, name = reference.partition(":")
    return getattr(import_module(f"lasthop.{module}"), name)
