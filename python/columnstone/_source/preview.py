"""The part of a local file that repr() of a source reads, once: the first rows."""

from __future__ import annotations

import os
import stat
from contextlib import closing
from typing import TYPE_CHECKING, Any

from .._arrow.show import ROWS
from .inputs import reopen

if TYPE_CHECKING:
    from collections.abc import Callable

    from .inputs import Inputs

    Open = Callable[[Inputs, dict[str, Any]], Any]  # a source


def first_rows(open: Open, name: str, options: dict[str, Any], registered: bool) -> Any:
    """The first rows of a file as a RecordBatch, possibly one more than are shown. Properties that
    depend on all data, such as inferred types, are taken from these rows. None if there are no
    rows, or if reading them would block or call functions of the user."""
    on_error = options["on_error"]
    if options["view"] is not None or (on_error is not None and on_error[1] is not None):
        return None
    path = os.fsencode(name)
    how = {"batch_size": ROWS + 1, "sample_records": ROWS + 1, "threads": 1}
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            return None
        file = reopen(("paths", ((path,), options["format"], registered)))
        with closing(open(file, {**options, **how})) as source, closing(iter(source)) as batches:
            return next(batches, None)
    except Exception:  # what is wrong, the first pass says
        return None
