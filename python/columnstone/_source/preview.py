"""What repr() of a source reads: the first rows of a file on this machine, once."""

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
    """The first rows of a file, as a RecordBatch, and perhaps one more than are shown; what is not
    known without all data, as the types of columns, is found from these. None if there are none, or
    if looking at them would wait for others, or call functions of the caller's."""
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
