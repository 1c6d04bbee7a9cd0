"""Random queries on random data: Columnstone gives what the reference gives, however it is run."""

from __future__ import annotations

import os
from random import Random

import pytest
import query_check
import query_programs

LONG = bool(os.environ.get("COLUMNSTONE_LONG"))
PARTS = 20
TABLES, MESSAGES = (3500, 1500) if LONG else (35, 15)  # programs of a part


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("kind", ["tables", "messages"])
def test_programs_give_what_the_reference_gives(kind: str, part: int) -> None:
    count = MESSAGES if kind == "messages" else TABLES
    for seed in range(part * count, (part + 1) * count):
        program, refused = query_programs.random_program(Random(seed), kind == "messages")
        if query_check.fault(program, refused) is not None:
            pytest.fail(f"{kind} {seed}\n{query_check.report(program, refused)}")


def test_files_that_are_read_through_views() -> None:
    """On the way of sources, with batches and threads of their own."""
    for seed in range(1200 if LONG else 60):
        program, refused = query_programs.random_program(Random(100_000 + seed), True)
        if refused or not program.records or query_check.LAZY.search(program.text):
            continue
        query_check.check_source(program)
