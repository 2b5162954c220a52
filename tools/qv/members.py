# SPDX-License-Identifier: GPL-2.0-only
"""`Enum`, the base of the enumerations. The Enum of Python's library takes longer to load than a
whole command."""

from __future__ import annotations

TYPE_CHECKING = False

if TYPE_CHECKING:
    from enum import IntEnum

    class Enum(IntEnum):
        """Type checkers see this class."""
else:

    class Member(int):
        """A value of an enum. `name` is set by _Members."""

        @property
        def value(self):
            return int(self)

    class _Members(type):
        """Makes members of a class's constants."""

        def __init__(cls, name, bases, space):
            super().__init__(name, bases, space)
            cls.by_value = {}
            for key, value in space.items():
                if key.isupper():
                    member = Member(value)
                    member.name = key
                    setattr(cls, key, member)
                    cls.by_value[value] = member

        def __iter__(cls):
            return iter(cls.by_value.values())

        def __call__(cls, value):
            if value not in cls.by_value:
                raise ValueError(f"{value} is not of {cls.__name__}")
            return cls.by_value[value]

    class Enum(metaclass=_Members):
        """Works as enum.IntEnum, as far as qvctl needs it."""
