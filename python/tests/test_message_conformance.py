"""Every corner of the wire format, with protobuf's upb as the judge: what it takes we take, with
the same values; what it refuses we refuse. (A corner that is `stricter` we refuse, as protobuf for
C++ does.) Where Arrow cannot hold what it takes, we say so.
"""

from __future__ import annotations

import functools

import columnstone as cst
import message_corners as corners
import message_reference as ref
import pytest
from google.protobuf.internal import api_implementation
from message_check import Expected, check_batch, check_refused, decoder_of, difference
from message_corners import Corner
from message_types import Case

CORNERS = corners.corners()
OPTIONS = ref.Options(unknown_fields="unknown", recursion=1)


def test_the_judge_is_upb() -> None:
    assert api_implementation.Type() == "upb"


@pytest.mark.parametrize("corner", CORNERS, ids=lambda corner: corner.name)
def test_corner(corner: Corner) -> None:
    reference, decoder = made(corner.case, OPTIONS)
    expected = Expected(corner.case, reference, corner.record)
    assert corner.taken == (
        expected.kind is not cst.errors.CorruptError or expected.refused is False
    )
    if expected.refused or corner.stricter:
        check_refused(decoder, corner.record, expected.kind)
    elif expected.refused is False:
        check_batch(decoder, reference, [corner.record], [expected.row])


@functools.cache
def made(case: Case, options: ref.Options) -> tuple[ref.Reference, cst.codec.Decoder]:
    return ref.Reference(case.cls.DESCRIPTOR, options), decoder_of(case, options)


WANTED = {"everything2": "id", "everything3": "id", "editions": "required"}


@pytest.mark.parametrize("package", WANTED)
def test_corners_of_which_one_field_is_wanted(package: str) -> None:
    """The others are stepped over, whatever they are."""
    options = ref.Options(columns=((WANTED[package],),))
    for corner in CORNERS:
        if corner.case.message.startswith(package + "."):
            reference, decoder = made(corner.case, options)
            expected = Expected(corner.case, reference, corner.record)
            if corner.stricter:
                check_refused(decoder, corner.record)
            elif expected.refused is False:
                check_batch(decoder, reference, [corner.record], [expected.row])
            elif expected.refused is None:
                assert difference(corner.case, reference, corner.record) is None, corner.name
