"""tfx_bsl's modules over Columnstone, for pipelines that were written for it:

    import columnstone.compat.tfx_bsl as compat

    compat.install()  # from here on `import tfx_bsl` imports this one

or, without a change of the program:

    python -m columnstone.compat.tfx_bsl pipeline.py ARGUMENT...

The modules have tfx_bsl's names and signatures (1.21); what they do is done by Columnstone. Each
can also be imported by its own name, columnstone.compat.tfx_bsl.arrow.array_util for instance,
which is where classes say that they come from: they unpickle in processes without install().
"""

from __future__ import annotations

from ._install import install, installed, uninstall

__version__ = "1.21.0"  # of tfx_bsl, whose names these are

__all__ = ["install", "installed", "uninstall"]
