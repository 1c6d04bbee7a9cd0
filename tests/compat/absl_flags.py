"""pytest -p absl_flags: the flags of absl as they are without arguments, for tests that ask for
their temporary folder and are not run by absltest.main()."""

from __future__ import annotations

from absl import flags
from absl.testing import absltest

assert absltest  # which defines the flags
flags.FLAGS.mark_as_parsed()
