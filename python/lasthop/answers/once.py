"""Cached property that gives all threads the same object."""

from functools import cached_property
from typing import Any, TypeVar, overload

__all__ = ["once"]

T = TypeVar("T")


class once(cached_property[T]):
    """Cached property. If several threads read it first, one value is stored, and all threads get
    this value. `cached_property` of Python 3.12 and later can return a different value to each
    thread.
    """

    @overload
    def __get__(self, instance: None, owner: type[Any] | None = None) -> "once[T]": ...
    @overload
    def __get__(self, instance: object, owner: type[Any] | None = None) -> T: ...
    def __get__(self, instance: object | None, owner: type[Any] | None = None) -> "T | once[T]":
        if instance is None:
            return self
        assert self.attrname is not None  # set by the class statement
        # The attribute in `__dict__` hides this descriptor, so this code runs for the first
        # accesses only. `setdefault` stores the first value and returns it to every thread.
        value: T = instance.__dict__.setdefault(self.attrname, self.func(instance))
        return value
