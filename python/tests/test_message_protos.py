"""The .proto files of tests/data/messages and the descriptor sets beside them say the same."""

from __future__ import annotations

import pathlib
import subprocess
import sys

import google
import pytest
from grpc_tools import protoc

FOLDER = pathlib.Path(__file__).parents[2] / "tests" / "data" / "messages"


@pytest.mark.parametrize("proto", sorted(p.name for p in FOLDER.glob("*.proto")))
def test_the_set_is_current(proto: str, tmp_path: pathlib.Path) -> None:
    known = [pathlib.Path(protoc.__file__).parent / "_proto"]
    known += [pathlib.Path(path).parent for path in google.__path__]  # google/type
    made = tmp_path / "made.desc"
    include = [f"-I{folder}" for folder in [FOLDER, *known]]
    arguments = [*include, "--include_imports", f"-o{made}", proto]
    assert protoc.main(["protoc", *arguments]) == 0
    assert made.read_bytes() == (FOLDER / proto).with_suffix(".desc").read_bytes()


def test_the_files_that_are_built_in_are_current() -> None:
    tool = FOLDER.parents[2] / "tools" / "make_builtin_files"
    done = subprocess.run([sys.executable, tool, "--check"], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
