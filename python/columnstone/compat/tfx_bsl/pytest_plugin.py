"""pytest -p columnstone.compat.tfx_bsl.pytest_plugin: tests whose `import tfx_bsl` imports
Columnstone's."""

from . import install

install()
