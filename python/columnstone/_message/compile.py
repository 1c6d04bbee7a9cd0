"""Compiles .proto files to a FileDescriptorSet, with grpcio-tools or protoc."""

from __future__ import annotations

import importlib.util
import os
import re
import sys
from typing import TYPE_CHECKING

from .._base.errors import NotFoundError, SchemaError, UnsupportedError
from .._base.programs import PYTHON, find_program, run

if TYPE_CHECKING:
    from collections.abc import Sequence

# "shop.proto:5:3: Expected ..."; warnings are not errors.
_ERROR = re.compile(r"^(.+?):(\d+):(\d+): (?!warning: )", re.MULTILINE)


def compile_protos(paths: Sequence[str], include: Sequence[str]) -> bytes:
    """The files and everything that they import, as the bytes of a FileDescriptorSet. Imports are
    searched in `include`, in the files' own folders, and among the files that come with protobuf
    and googleapis-common-protos, in this order."""
    import tempfile

    for path in paths:
        if not os.path.isfile(path):
            hint = "check the path"
            raise NotFoundError(f"{path}: there is no such file ({hint})", file=path, hint=hint)
    files = [os.path.abspath(path) for path in paths]
    own = [os.path.dirname(file) for file in files]
    folders = dict.fromkeys([*map(os.path.abspath, include), *own, *_installed()])
    with tempfile.TemporaryDirectory(prefix="columnstone-") as folder:
        made = os.path.join(folder, "set")
        empty = os.path.join(folder, "empty")
        os.mkdir(empty)
        arguments = [*(f"-I{folder}" for folder in folders), "--include_imports", f"-o{made}"]
        status, said = run([*_compiler(paths[0]), *arguments, *files], empty)
        if status != 0:
            raise _refused(said, files, paths)
        with open(made, "rb") as file:
            return file.read()


def _installed() -> list[str]:
    """The folders of Python packages that contain google/..., and google/type."""
    spec = importlib.util.find_spec("google")
    places = spec.submodule_search_locations if spec is not None else None
    return [os.path.dirname(os.path.abspath(place)) for place in places or ()]


def _compiler(path: str) -> list[str]:
    if _has_grpcio_tools():
        return [*PYTHON, "-m", "grpc_tools.protoc"]
    found = find_program("protoc")
    if found is None:
        hint = (
            "pip install grpcio-tools; or give the file that `protoc --include_imports -o` writes"
        )
        raise UnsupportedError(
            f"{path}: a .proto file needs grpcio-tools, or protoc on the PATH ({hint})",
            file=path,
            hint=hint,
        )
    return [found]


def _has_grpcio_tools() -> bool:
    return bool(sys.executable) and importlib.util.find_spec("grpc_tools") is not None


def _refused(said: str, files: Sequence[str], paths: Sequence[str]) -> SchemaError:
    """The compiler's message, with the position of the first error."""
    said = said.strip()
    place = _ERROR.search(said)
    hint = None
    if "not found" in said:
        hint = "give the folder that the import is relative to: Descriptors(path, include=[...])"
        if "google/type/" in said:
            hint = "pip install googleapis-common-protos"
    text = said if hint is None else f"{said} ({hint})"
    if place is None:
        return SchemaError(f"{', '.join(paths)}: {text}", hint=hint)
    name = place[1]
    own = [p for p, f in zip(paths, files, strict=True) if f"{os.sep}{f}".endswith(os.sep + name)]
    return SchemaError(
        text,
        file=own[0] if own else name,
        line=int(place[2]),
        column=int(place[3]),
        hint=hint,
    )
