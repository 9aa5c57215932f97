"""Lazy: an attribute that is computed on first use, without a lock.

Up to Python 3.11 `functools.cached_property` has one lock for all objects of a class, so that an
answer that takes long, or waits for another computer, holds up every other visitor. Here two
threads that ask the same object at once may both compute it, and get equal values. Python 3.12 does
the same (https://docs.python.org/3/library/functools.html, read 2026-11-28).
"""

from functools import cached_property
from typing import Any, Self, TypeVar, overload

T_co = TypeVar("T_co", covariant=True)


class lazy(cached_property[T_co]):  # noqa: N801 - a decorator, as the one that it replaces
    """Attribute whose value is computed once and kept in the object."""

    @overload
    def __get__(self, instance: None, owner: type[Any] | None = None) -> Self: ...

    @overload
    def __get__(self, instance: object, owner: type[Any] | None = None) -> T_co: ...

    def __get__(self, instance: object | None, owner: type[Any] | None = None) -> Self | T_co:
        """Value of an object's attribute; for a class, the attribute itself."""
        if instance is None:
            return self
        kept = instance.__dict__
        name = str(self.attrname)
        if name not in kept:
            kept[name] = self.func(instance)
        value: T_co = kept[name]
        return value
