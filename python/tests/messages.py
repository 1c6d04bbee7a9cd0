"""The messages of tests/data/messages/shop.proto, as classes of protobuf and as serialized data."""

from __future__ import annotations

import datetime
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


def rows(records: list[bytes]) -> list[dict[str, Any]]:
    """The same as what pyarrow's to_pylist gives of the columns that they are decoded to."""
    return [_session(shop("Session").FromString(record)) for record in records]


def _session(session: Any) -> dict[str, Any]:
    return {
        "id": session.id,
        "user": _optional(session, "user"),
        "at": session.at.ToDatetime(datetime.UTC) if session.HasField("at") else None,
        "device": ["DEVICE_UNKNOWN", "PHONE", "TABLET", "DESKTOP"][session.device],
        "event": [_event(event) for event in session.event],
        "labels": sorted(session.labels.items()),  # as they are serialized
        "card": _optional(session, "card"),
        "coupon": _plain(session, "coupon", "code", "percent"),
        "extra": _plain(session, "extra", "type_url", "value"),
    }


def _event(event: Any) -> dict[str, Any]:
    return {
        "query": event.query,
        "result": [
            {"sku": item.sku, "price": item.price, "score": _optional(item, "score")}
            for item in event.result
        ],
        "clicked": event.clicked,
        "price": _optional(event, "price"),
        "after": event.after.ToTimedelta() if event.HasField("after") else None,
    }


def _optional(message: Any, field: str) -> Any:
    return getattr(message, field) if message.HasField(field) else None


def _plain(message: Any, field: str, *names: str) -> dict[str, Any] | None:
    found = _optional(message, field)
    return None if found is None else {name: getattr(found, name) for name in names}
