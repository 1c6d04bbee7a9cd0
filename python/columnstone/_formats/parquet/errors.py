"""pyarrow's exceptions as the exceptions of this package, and the import of pyarrow.parquet."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

from ..._base.errors import (
    CorruptError,
    Error,
    FileError,
    NotFoundError,
    UnsupportedError,
)
from ..._base.optional import need

if TYPE_CHECKING:
    from collections.abc import Iterator


def pyarrow_parquet() -> Any:
    """pyarrow.parquet, or an error that says what to install."""
    return need("pyarrow.parquet", "Parquet")


@contextlib.contextmanager
def pyarrow_errors(path: str, of_system: bool = True) -> Iterator[None]:
    """Turns pyarrow's exceptions into the exceptions of this package, with the file. of_system:
    errors with a number come from the system; otherwise they come from a file object and are raised
    unchanged. Without pyarrow, the error says what to install."""
    pa = need("pyarrow", "Parquet")
    try:
        yield
    except Error:
        raise
    except FileNotFoundError:
        raise NotFoundError(f"{path}: there is no such file or folder", file=path) from None
    except pa.ArrowNotImplementedError as error:
        raise UnsupportedError(f"{path}: parquet: {first_line(error)}", file=path) from error
    except (pa.ArrowInvalid, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            if not of_system:
                raise
            raise FileError(f"{path}: {first_line(error)}", file=path) from error
        raise CorruptError(f"{path}: parquet: {first_line(error)}", file=path) from error
    except UnicodeDecodeError as error:
        hint = "rewrite the file with UTF-8 names"
        text = f"{path}: parquet: a column name is not valid UTF-8 ({hint})"
        raise CorruptError(text, file=path, hint=hint) from error


def first_line(error: BaseException) -> str:
    """The first line of an error's text, at most 200 characters."""
    lines = str(error).splitlines()
    return (lines[0] if lines else type(error).__name__)[:200]
