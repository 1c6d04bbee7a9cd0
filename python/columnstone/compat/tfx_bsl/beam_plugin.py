"""--beam_plugin=columnstone.compat.tfx_bsl.beam_plugin, an option of Beam's pipelines: the `import
tfx_bsl` of their workers imports Columnstone's."""

from . import install

install()
