"""tfx_bsl.version: the version of tfx_bsl whose names this package has."""

from __future__ import annotations

from . import __version__

__all__ = ["__version__"]
