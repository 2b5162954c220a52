# SPDX-License-Identifier: GPL-2.0-only
"""`dataclass` and `field` as far as qvctl needs them. Those of Python's library take longer to load
than a whole command."""

from __future__ import annotations

TYPE_CHECKING = False

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass, field as field
else:

    class field:
        """A default that is created separately for each record."""

        def __init__(self, default_factory):
            self.make = default_factory

    def _init(self, *values, **named):
        fields = self._fields
        named.update(zip(fields, values))
        for name in fields:
            if name in named:
                value = named[name]
            else:
                value = getattr(type(self), name)
                value = value.make() if isinstance(value, field) else value
            self.__dict__[name] = value

    def _key(self):
        return tuple(self.__dict__.values())

    def _same(self, other):
        return type(self) is type(other) and _key(self) == _key(other)

    def _less(self, other):
        return _key(self) < _key(other)

    def _text(self):
        fields = ", ".join(f"{name}={value!r}" for name, value in self.__dict__.items())
        return f"{type(self).__name__}({fields})"

    def dataclass(cls=None, **_):
        """Adds methods for initialization, comparison, order and text, from the fields that the
        class annotates."""
        if cls is None:
            return dataclass
        cls._fields = tuple(cls.__annotations__)
        cls.__init__, cls.__eq__, cls.__lt__, cls.__repr__ = _init, _same, _less, _text
        cls.__hash__ = lambda self: hash(_key(self))
        return cls
