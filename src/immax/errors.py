"""Errors in what the caller asked for, as distinct from failures while carrying it out."""

from __future__ import annotations

__all__ = ["WrongCall"]


class WrongCall(ValueError):  # noqa: N818
    """A request that cannot be carried out; the message gives the reason."""
