"""Parameters of other libraries' classifiers that are typed by habit, and what to use instead."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any, ClassVar, Self

__all__ = ["RefusesForeignParameters"]


class RefusesForeignParameters:
    """Base of estimators that say what takes the place of parameters they do not have.

    ``_foreign`` maps the names to what to use. Python's own error says only that a keyword
    argument is unexpected.
    """

    _foreign: ClassVar[Mapping[str, str]] = {}

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "__init__" in cls.__dict__:
            # What help() and editors show is the signature of __init__, not that of __new__.
            own = inspect.signature(cls.__dict__["__init__"])
            parameters = list(own.parameters.values())[1:]
            cls.__signature__ = own.replace(  # type: ignore[attr-defined]
                parameters=parameters, return_annotation=inspect.Signature.empty
            )

    def __new__(cls, *args: Any, **parameters: Any) -> Self:  # noqa: ARG004
        """Raise TypeError for a parameter of another library."""
        known = inspect.signature(cls.__init__).parameters
        for name in parameters:
            if name not in known and name in cls._foreign:
                raise TypeError(f"{cls.__name__} has no parameter {name!r}: {cls._foreign[name]}")
        return super().__new__(cls)
