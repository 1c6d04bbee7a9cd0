"""Providers: they create the files of views, schemas and statistics that do not have one yet.

Such a file lies beside the store ("lineage.db": "lineage.db.files/") and is named after the digest
of its content: the same content is the same file, and so the same artifact.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import os
import sys
import tempfile
from types import ModuleType
from typing import TYPE_CHECKING, Any

from .._base.errors import NotFoundError, argument_error
from .._base.files import path_bytes
from .._query.query import Query
from .._query.view import View

if TYPE_CHECKING:
    from collections.abc import Callable

    from .connection import Connection

FUNCTION = "make_query"  # of a module, unless another one is named


def kept_file(connection: Connection, data: bytes, ending: str, digest: str | None = None) -> str:
    """Creates a file with this content. It has its name only when it is complete."""
    folder = f"{connection.path}.files"
    name = (digest or hashlib.sha256(data).hexdigest())[:32]
    path = os.path.join(folder, f"{name}{ending}")
    if os.path.exists(path):
        return path
    os.makedirs(folder, exist_ok=True)
    handle, temporary = tempfile.mkstemp(prefix=".", suffix=ending, dir=folder)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
    return path


def view_file(connection: Connection, what: Any, function: str | None, options: Any) -> str:
    """The file of a view. A saved view (.cstv) is used itself. For a query (.cstq), a View, a
    Query, or a module (.py) or a function that returns one of these, a file is created.

    options: for a query in a text: message, descriptors, schema and type; params for any query.
    """
    params = options.pop("params", None)
    if isinstance(what, str | os.PathLike):
        path = os.fsdecode(path_bytes(what))
        if path.endswith(".py"):
            what = _called(_loaded(path), function)
        elif path.endswith(".cstq"):
            what = Query.from_file(path, **options)
            options = {}
        else:
            _refuse(
                function is not None or params or options,
                "a saved view does not take function, params or options",
            )
            return path
    elif isinstance(what, ModuleType):
        what = _called(what, function)
    elif callable(what):
        what = what()
    _refuse(options, f"{', '.join(options)} is only for a query in a file (.cstq)")
    if isinstance(what, Query):
        what = what.view(params)
    elif isinstance(what, View) and params:
        what = what.again(params)
    if not isinstance(what, View):
        raise TypeError(
            "expected a View, a Query, a .cstv, .cstq or .py file, a module or a "
            f"function, not {type(what).__name__}"
        )
    return kept_file(connection, what.to_bytes(), ".cstv", what.digest)


def _refuse(when: object, message: str) -> None:
    if when:
        raise argument_error(message)


def _loaded(path: str) -> ModuleType:
    """Loads a file as a module under a name of its own. Each call runs it again."""
    if not os.path.exists(path):
        hint = "check the path"
        raise NotFoundError(f"{path}: there is no such file ({hint})", file=path, hint=hint)
    name = f"_columnstone_view_{hashlib.sha256(os.path.abspath(path).encode()).hexdigest()[:16]}"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # for classes that it defines
    try:
        spec.loader.exec_module(module)
    finally:
        sys.modules.pop(name, None)
    return module


def _called(module: ModuleType, function: str | None) -> Any:
    name = function or FUNCTION
    found: Callable[[], Any] | None = getattr(module, name, None)
    if not callable(found):
        where = getattr(module, "__file__", None) or module.__name__
        hint = 'name another one: function="..."'
        raise NotFoundError(f"{where}: there is no function {name!r} ({hint})", hint=hint)
    return found()
