"""tfx_bsl's modules, implemented with Columnstone, for pipelines written for tfx_bsl:

    import columnstone.compat.tfx_bsl as compat

    compat.install()  # from here on `import tfx_bsl` imports this one

or, without changing the program:

    python -m columnstone.compat.tfx_bsl pipeline.py ARGUMENT...

The modules have the names and signatures of tfx_bsl 1.21; Columnstone does the work. Each can also
be imported under its own name, such as columnstone.compat.tfx_bsl.arrow.array_util. Classes have
this name as their module, so that they can be unpickled in processes without install().
"""

from __future__ import annotations

from ._install import install, installed, uninstall

__version__ = "1.21.0"  # of tfx_bsl, whose names these are

__all__ = ["install", "installed", "uninstall"]
