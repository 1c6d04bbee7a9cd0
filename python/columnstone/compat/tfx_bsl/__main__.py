"""python -m columnstone.compat.tfx_bsl [-m] PROGRAM ARGUMENT...: runs a Python program, or with -m
a module, whose `import tfx_bsl` imports Columnstone's."""

from __future__ import annotations

import os
import runpy
import sys

from . import install


def main() -> None:
    words = sys.argv[1:]
    is_module = words[:1] == ["-m"]
    if is_module:
        words = words[1:]
    if not words or (words[0].startswith("-") and words[0] != "-"):
        print((__doc__ or "").strip(), file=sys.stderr)
        raise SystemExit(0 if words[:1] in (["-h"], ["--help"]) else 2)
    install()
    sys.argv = words
    if is_module:
        sys.path[0] = os.getcwd()
        runpy.run_module(words[0], run_name="__main__", alter_sys=True)
    else:
        sys.path[0] = os.path.dirname(os.path.abspath(words[0]))
        runpy.run_path(words[0], run_name="__main__")


if __name__ == "__main__":
    main()
