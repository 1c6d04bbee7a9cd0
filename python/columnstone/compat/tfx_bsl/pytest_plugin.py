"""pytest -p columnstone.compat.tfx_bsl.pytest_plugin: runs tests whose `import tfx_bsl` imports
Columnstone's modules."""

from . import install

install()
