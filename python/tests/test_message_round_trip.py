"""Messages to columns and back: decoded, encoded and decoded again they are the same, and where
nothing is left out the bytes are those of protobuf's deterministic serialisation.
"""

from __future__ import annotations

import os
from dataclasses import replace
from random import Random
from typing import Any

import columnstone as cst
import message_reference as ref
import pytest
from message_check import (
    Expected,
    decoded,
    decoder_of,
    encoder_of,
    random_options,
    rows_of,
)
from message_normal import normal
from message_types import Case, random_case, stored_case
from message_wire import random_record

CASES = 20
RECORDS = 15
SEEDS = range(1000 if os.environ.get("COLUMNSTONE_LONG") else 10)


def good_records(
    r: Random, case: Case, reference: ref.Reference, count: int
) -> tuple[list[bytes], list[Expected]]:
    records = [random_record(r, case, i % 3 > 0, False) for i in range(count)]
    expected = [Expected(case, reference, record) for record in records]
    good = [(a, b) for a, b in zip(records, expected, strict=True) if b.refused is False]
    return [a for a, _ in good], [b for _, b in good]


def random_whole(r: Random, case: Case) -> ref.Options:
    """All columns, and null where nothing is: what can go back."""
    return replace(random_options(r, case), columns=None, defaults=False)


def is_lossless(options: ref.Options) -> bool:
    units = (options.timestamp_unit, options.duration_unit, options.time_unit)
    return set(units) == {"ns"}


def check_round_trip(case: Case, options: ref.Options, r: Random, count: int) -> None:
    reference = ref.Reference(case.cls.DESCRIPTOR, options)
    records, expected = good_records(r, case, reference, count)
    decoder = decoder_of(case, options)
    encoder = encoder_of(case, options)
    made = encoder.encode(decoded(decoder, records)).to_pylist()
    again = rows_of(decoded(decoder, made))
    text = f"{case.message} {options.keywords()} of the set {case.descriptors.hex()}"
    for record, row, e, out in zip(records, again, expected, made, strict=True):
        assert e.row == row, f"{text}: {record.hex()} came back as {out.hex()}"
        if is_lossless(options) and not reference.has_opaque:
            message: Any = normal(e.message, options)
            whole = message.SerializePartialToString(deterministic=True)
            assert whole == out, f"{text}: {record.hex()} became {out.hex()}, not {whole.hex()}"


@pytest.mark.parametrize("seed", SEEDS)
def test_random_types(seed: int) -> None:
    r = Random(seed)
    for _ in range(CASES):
        case = random_case(r)
        check_round_trip(case, random_whole(r, case), r, RECORDS)
        check_round_trip(case, ref.Options(unknown_fields="unknown"), r, RECORDS)


@pytest.mark.parametrize("name", ["everything2", "everything3", "editions"])
def test_stored_types(name: str) -> None:
    r = Random(name)
    case = stored_case(name)
    for options in [ref.Options(), ref.Options(unknown_fields="rest"), random_whole(r, case)]:
        check_round_trip(case, options, r, 40)


def test_what_a_field_cannot_hold_is_an_error() -> None:
    case = stored_case("everything3", "Scalars")
    encoder = encoder_of(case, ref.Options())
    with pytest.raises(cst.errors.UnsupportedError) as caught:
        encoder.encode(cst.array([{"f_int32": 1}, {"f_int32": 2**40}]))
    assert (caught.value.record, caught.value.path) == (1, "f_int32")
