"""python -m columnstone.compat.tfx_bsl [-m] PROGRAM ARGUMENT...: runs a Python program, or with -m
a module, whose `import tfx_bsl` imports Columnstone's."""

from __future__ import annotations

import io
import os
import runpy
import sys
from types import ModuleType

from . import install


def main() -> None:
    words = sys.argv[1:]
    is_module = words[:1] == ["-m"]
    if is_module:
        words = words[1:]
    if not words or words[0].startswith("-"):
        print((__doc__ or "").strip(), file=sys.stderr)
        raise SystemExit(0 if words[:1] in (["-h"], ["--help"]) else 2)
    if not is_module and not os.path.exists(words[0]):
        print(f"there is no file {words[0]!r}", file=sys.stderr)
        raise SystemExit(2)
    install()
    sys.argv = words
    if is_module:
        sys.path[0] = os.getcwd()
        runpy.run_module(words[0], run_name="__main__", alter_sys=True)
    elif os.path.isfile(words[0]) and not words[0].endswith((".zip", ".pyz")):
        _run_script(os.path.abspath(words[0]))
    else:
        runpy.run_path(words[0], run_name="__main__")


def _run_script(path: str) -> None:
    """Its module stays __main__ until the process ends, for threads, exit handlers, and the classes
    that they pickle; after runpy.run_path() it would be this module again."""
    sys.path[0] = os.path.dirname(os.path.realpath(path))
    module = ModuleType("__main__")
    module.__file__ = path
    module.__dict__["__builtins__"] = __builtins__
    sys.modules["__main__"] = module
    with io.open_code(path) as source:
        program = source.read()
    exec(compile(program, path, "exec"), module.__dict__)


if __name__ == "__main__":
    main()
