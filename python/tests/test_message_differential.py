"""Random messages of random types, ours against protobuf's upb: the same is taken, with the same
values, and the same is refused. 10,000 of them, a million with --long.
"""

from __future__ import annotations

import os
from random import Random

import columnstone as cst
import message_reference as ref
import pytest
from message_check import (
    Expected,
    check_batch,
    check_refused,
    decoder_of,
    difference,
    has_field_zero,
    random_options,
    report,
)
from message_types import Case, random_case, stored_case
from message_wire import damaged, random_record

CASES = 20  # types that a test takes
RECORDS = 25  # of each
SEEDS = range(2000 if os.environ.get("COLUMNSTONE_LONG") else 20)
STORED = [
    ("everything2", "Everything"),
    ("everything3", "Everything"),
    ("editions", "Everything"),
    ("shop", "Session"),
]


def random_records(r: Random, case: Case, count: int) -> list[bytes]:
    """A quarter as writers write them, a quarter damaged, the others in all legal forms."""
    records = [random_record(r, case, i % 4 > 0) for i in range(count)]
    return [damaged(r, record) if i % 4 == 3 else record for i, record in enumerate(records)]


def check(case: Case, options: ref.Options, records: list[bytes]) -> None:
    reference = ref.Reference(case.cls.DESCRIPTOR, options)
    try:
        decoder = decoder_of(case, options)
    except cst.errors.LimitError:
        assert reference.num_columns > 50_000
        return
    expected = [Expected(case, reference, record) for record in records]
    good = [i for i, e in enumerate(expected) if e.refused is False]
    if has_field_zero(decoder, *(records[i] for i in good)):
        good = [i for i in good if not has_field_zero(decoder, records[i])]
    try:
        check_batch(decoder, reference, [records[i] for i in good], [expected[i].row for i in good])
        for record, e in zip(records, expected, strict=True):
            if e.refused:
                check_refused(decoder, record, e.kind)
            elif e.refused is None and difference(case, reference, record) is not None:
                raise AssertionError
    except (AssertionError, cst.Error, pytest.fail.Exception) as error:
        bad = [x for x in records if difference(case, reference, x) is not None]
        raise AssertionError(report(case, reference, bad[0]) if bad else str(error)) from error


@pytest.mark.parametrize("seed", SEEDS)
def test_random_types(seed: int) -> None:
    r = Random(seed)
    for _ in range(CASES):
        case = random_case(r)
        check(case, random_options(r, case), random_records(r, case, RECORDS))


@pytest.mark.parametrize("name, message", STORED)
def test_stored_types(name: str, message: str) -> None:
    r = Random(name)
    case = stored_case(name, message)
    for _ in range(4):
        check(case, random_options(r, case), random_records(r, case, 40))
