"""Both of them in one process: the tfx_bsl that is installed, and ours in its place."""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING

from columnstone.compat import tfx_bsl as compat

if TYPE_CHECKING:
    from types import ModuleType


def real(name: str) -> ModuleType:
    """A module of the tfx_bsl that is installed, such as "tfx_bsl.arrow.array_util", whether ours
    has its place or not."""
    was_installed = compat.installed()
    ours = {key: value for key, value in sys.modules.items() if key.split(".")[0] == "tfx_bsl"}
    compat.uninstall()
    sys.modules.update(_theirs)
    try:
        return importlib.import_module(name)
    finally:
        for key in [key for key in sys.modules if key.split(".")[0] == "tfx_bsl"]:
            _theirs[key] = sys.modules.pop(key)
        if was_installed:
            compat.install()
        sys.modules.update(ours)


_theirs: dict[str, ModuleType] = {}
