"""The import hook that loads modules named tfx_bsl from here."""

from __future__ import annotations

import importlib
import importlib.util
import sys
import warnings
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType

_THEIRS = "tfx_bsl"
_OURS = __package__


class _Loader(Loader):
    """Provides a module of this package under tfx_bsl's name: the same object under both names."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._spec: ModuleSpec | None = None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = importlib.import_module(self._name)
        self._spec = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self._spec  # which importlib has set to the one with the other name


def _is_import() -> bool:
    """Whether a finder is called by an import, which gets the error that helps; not by
    importlib.util.find_spec and the like, which ask whether a module is there."""
    finding = sys._getframe(2)
    callers = [frame.f_code.co_filename for frame in (finding, finding.f_back) if frame is not None]
    return callers == ["<frozen importlib._bootstrap>"] * 2


class _Finder(MetaPathFinder):
    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name != _THEIRS and not name.startswith(_THEIRS + "."):
            return None
        ours = _OURS + name[len(_THEIRS) :]
        found = None if "._" in ours.removeprefix(_OURS) else importlib.util.find_spec(ours)
        if found is None and not _is_import():
            return None
        if found is None:
            raise ModuleNotFoundError(
                f"columnstone.compat.tfx_bsl has no module {name!r}; docs/tfx-bsl.md lists what it "
                "has. uninstall() brings back the tfx_bsl that is installed, if one is",
                name=name,
            )
        return ModuleSpec(
            name, _Loader(ours), is_package=found.submodule_search_locations is not None
        )


_finder = _Finder()
_before: dict[str, ModuleType] = {}  # theirs, which cannot be imported twice: its extension


def _modules() -> list[str]:
    return [name for name in sys.modules if name == _THEIRS or name.startswith(_THEIRS + ".")]


def installed() -> bool:
    """Whether `import tfx_bsl` imports Columnstone's modules."""
    return _finder in sys.meta_path


def install() -> None:
    """Makes `import tfx_bsl` import Columnstone's modules in this process; nothing is written to
    disk.

    Call it before anything imports tfx_bsl. If tfx_bsl is installed, it is replaced, and a warning
    says so. Modules that have already imported it keep using it, and the warning names them. A
    second call does nothing.
    """
    if installed():
        return
    before = _modules()
    if before:
        warnings.warn(
            f"tfx_bsl was imported before install() ({len(before)} modules): modules that imported "
            "names from it keep using them; call install() first",
            RuntimeWarning,
            stacklevel=2,
        )
    elif importlib.util.find_spec(_THEIRS) is not None:
        warnings.warn(
            "columnstone.compat.tfx_bsl takes the place of the tfx_bsl that is installed",
            RuntimeWarning,
            stacklevel=2,
        )
    _before.clear()
    _before.update({name: sys.modules.pop(name) for name in before})
    sys.meta_path.insert(0, _finder)


def uninstall() -> None:
    """Undoes install(): the next `import tfx_bsl` imports the installed package, if there is one.
    Modules that have imported Columnstone's modules keep using them."""
    if not installed():
        return
    sys.meta_path.remove(_finder)
    for name in _modules():
        del sys.modules[name]
    sys.modules.update(_before)
    _before.clear()
