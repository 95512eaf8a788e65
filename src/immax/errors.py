"""Errors of whoever calls, as distinct from those of a job that fails."""

from __future__ import annotations

__all__ = ["WrongCall"]


class WrongCall(ValueError):  # noqa: N818
    """What was asked for cannot be done as it was asked; says why."""
