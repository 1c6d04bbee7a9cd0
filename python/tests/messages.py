"""The messages of tests/data/messages/shop.proto, as classes of protobuf and as serialized data."""

from __future__ import annotations

import functools
import pathlib
import types
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

FOLDER = pathlib.Path(__file__).parents[2] / "tests" / "data" / "messages"
SHOP = (FOLDER / "shop.desc").read_bytes()


@functools.cache
def _pool() -> descriptor_pool.DescriptorPool:
    pool = descriptor_pool.DescriptorPool()
    for file in descriptor_pb2.FileDescriptorSet.FromString(SHOP).file:
        pool.Add(file)
    return pool


def shop(name: str) -> Any:
    """The class of a message."""
    return message_factory.GetMessageClass(_pool().FindMessageTypeByName(f"shop.{name}"))


def module() -> types.ModuleType:
    """What protoc's Python code makes, as far as descriptors go."""
    made = types.ModuleType("shop_pb2")
    made.DESCRIPTOR = _pool().FindFileByName("shop.proto")  # type: ignore[attr-defined]
    made.Session = shop("Session")  # type: ignore[attr-defined]
    return made


def sessions(count: int) -> list[bytes]:
    """Serialized sessions; everything is there in some and absent in others."""
    made = []
    for i in range(count):
        session = shop("Session")(id=i, device=i % 4)
        if i % 2:
            session.user = f"user {i}"
            session.at.FromMilliseconds(1_700_000_000_000 + 1500 * i)
            session.labels["source"] = "mail" if i % 3 else ""
            session.labels["a"] = str(i)
        if i % 3 == 1:
            session.card = f"{i:04}"
        elif i % 3 == 2:
            session.coupon.code, session.coupon.percent = f"C{i}", i
        for j in range(i % 4):
            event = session.event.add(query=f"query {i} {j}", clicked=j % 2 == 0)
            event.after.FromMilliseconds(250 * j)
            for k in range(j):
                event.result.add(sku=f"sku {k}", price=k + 0.5)
            if event.clicked:
                event.price = i + j / 4
                if j:
                    event.result[0].score = 0.25
        if i % 5 == 4:
            session.extra.Pack(shop("Coupon")(code="extra", percent=i))
        made.append(session.SerializeToString(deterministic=True))
    return made
