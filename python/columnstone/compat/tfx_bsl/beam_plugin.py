"""For Beam's pipeline option --beam_plugin=columnstone.compat.tfx_bsl.beam_plugin: makes the
`import tfx_bsl` of workers import Columnstone's modules."""

from . import install

install()
