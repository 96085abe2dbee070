# SPDX-License-Identifier: MIT
"""What goes wrong, as exceptions. The C++ part raises them, too."""

from __future__ import annotations

from typing import Optional


class InputError(ValueError):
    """A file or a value that cannot be used. ``str()`` is one line that says where and why.

    Attributes are None where they are not known.
    """

    file: Optional[str]
    """The file that holds what is wrong."""
    line: Optional[int]
    """Its line, from 1 on."""
    column: Optional[int]
    """Its column, from 1 on."""
    key: Optional[str]
    """Path of the field, such as ``instructions.fma.f32.cpi``, or the name of an argument."""

    def __init__(
        self,
        message: str,
        file: Optional[str] = None,
        line: Optional[int] = None,
        column: Optional[int] = None,
        key: Optional[str] = None,
    ) -> None:
        super().__init__(message)
        self.file, self.line, self.column, self.key = file, line, column, key

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (str(self), self.file, self.line, self.column, self.key)


class DeviceError(RuntimeError):
    """No compiler or device for what was asked."""


class LimitReached(RuntimeError):
    """A limit that the caller set ended the work before there was an answer."""


class MissingPackage(ImportError):
    """An optional package (pandas, matplotlib) that is needed for what was called is not there."""
