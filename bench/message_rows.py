"""The rows on protobuf messages: columns of them and back, against ptars, protobuf for Python
(upb), struct2tensor and a bound in C.

A pass decodes or encodes all records of a shape in batches of 1,024 (wide ones: 100), each released
before the next. Every result of ours is compared with the peer's before it is timed. A peer that is
not installed leaves its rows unmeasured. The loop alone is timed in C, by decode_bench, in turns
with the bound.
"""

from __future__ import annotations

import dataclasses
import importlib.util
import json
import pathlib
import statistics
import subprocess
from collections.abc import Callable
from typing import Any

import columnstone as cst
import loop_rows
import message_convert
import message_data
import pyarrow as pa
import timing
from decode_rows import Settings
from message_data import Shape
from report import Figure, Results, faster, rate

TOP = pathlib.Path(__file__).resolve().parents[1]
BOUND = "message_bound"
STRUCT2TENSOR = TOP / "build" / "venv-struct2tensor" / "bin" / "python"
BATCH = 1024
PTARS, PARSE, READ_ALL, MADE = "ptars", "upb, parse only", "upb, read all in Python", "protobuf"

Batches = list[Any]


def unmeasured(label: str, why: str) -> Figure:
    return Figure(label, f"not measured: {why}")


def has_ptars() -> bool:
    return importlib.util.find_spec("ptars") is not None


def ptars_handler(of_type: Any) -> Any:
    import ptars

    return ptars.HandlerPool([of_type.DESCRIPTOR.file]).get_for_message(of_type.DESCRIPTOR)


# The loop alone, in C


@dataclasses.dataclass(frozen=True)
class Loop:
    """The command lines of the decoder's loop in C, and of the bound."""

    settings: Settings
    shape: Shape
    columns: str = ""
    arguments: tuple[str, ...] = ()

    def ours(self) -> list[str | pathlib.Path]:
        descriptors = self.settings.folder / "messages.desc"
        descriptors.parent.mkdir(parents=True, exist_ok=True)
        descriptors.write_bytes(message_data.descriptor_set())
        path = self.shape.path(self.settings.folder)
        message = f"{message_data.PACKAGE}.{self.shape.message}"
        command = [loop_rows.DECODE_BENCH, path, descriptors, "--message", message, *self.arguments]
        command += ["--columns", self.columns] if self.columns else []
        return [*command, "--batch", str(self.shape.batch), "--repeat", "49"]

    def bound(self) -> list[str | pathlib.Path]:
        program = loop_rows.bound_program(BOUND, self.settings.folder)
        command = [program, self.shape.path(self.settings.folder), self.shape.bound]
        return [*command, "one"] if self.columns else command


def loop_figure(loop: Loop, what: str, goal: float | None) -> Figure:
    label = f"messages, {loop.shape.label}, {what}, the loop in C against the bound"
    if not loop_rows.DECODE_BENCH.exists():
        return unmeasured(label, "decode_bench is not built")
    if not loop_rows.has_bound(BOUND):
        (own,) = loop_rows.medians([loop.ours()], loop.settings.rounds)
        return unmeasured(label, f"{rate(own)}, but message_bound.c is not beside the repository")
    own, bound = loop_rows.medians([loop.ours(), loop.bound()], loop.settings.rounds)
    text = f"{own / bound:.2f} ({rate(own)}, {rate(bound)})"
    return Figure(label, text, f"≥ {goal:g}" if goal else "", own / bound >= goal if goal else None)


def loops(settings: Settings) -> list[Figure]:
    made = []
    for shape in message_data.SHAPES:
        made.append(loop_figure(Loop(settings, shape), "all", 0.85))
        made.append(loop_figure(Loop(settings, shape, shape.one), "one leaf", None))
    return made


def wide_and_deep(settings: Settings) -> list[Figure]:
    """Per byte against the message of the same kind that is neither: as fast, but for noise."""
    recursive = Loop(
        settings, message_data.TREE, arguments=("--recursion", str(message_data.LEVELS - 1))
    )
    pairs: list[tuple[Loop, Shape, float | None]] = [(recursive, message_data.DEEP, 0.95)]
    pairs += [
        (Loop(settings, shape), message_data.FLAT_100, None if shape.share < 1 else 0.95)
        for shape in message_data.WIDE
    ]
    made = []
    for loop, other, goal in pairs:
        label = f"messages, {loop.shape.label}, speed per byte against {other.message}"
        if not loop_rows.DECODE_BENCH.exists():
            made.append(unmeasured(label, "decode_bench is not built"))
            continue
        own, plain = loop_rows.medians([loop.ours(), Loop(settings, other).ours()], settings.rounds)
        text = f"{own / plain:.2f} ({rate(own)}, {rate(plain)})"
        good = own / plain >= goal if goal else None
        made.append(Figure(label, text, f"≥ {goal:g}" if goal else "", good))
    return made


# From Python


@dataclasses.dataclass(frozen=True)
class Held:
    """A shape's records in batches, and what reads them."""

    settings: Settings
    shape: Shape
    batches: list[list[bytes]]
    of_type: Any
    megabytes: float

    def decoder(self, columns: list[str] | None = None) -> Any:
        return cst.decoder("message", message=self.of_type, columns=columns)

    def passes(
        self, run: Callable[[Any], Any], inputs: Batches | None = None
    ) -> Callable[[], None]:
        """One call of `run` per batch."""
        items = self.batches if inputs is None else inputs

        def all_batches() -> None:
            for item in items:
                run(item)

        return all_batches

    def figures(
        self,
        what: str,
        ours: Callable[[], None],
        peers: dict[str, tuple[Callable[[], None], float | None]],
    ) -> list[Figure]:
        """Times ours and the peers in turns: a figure per peer, with its goal."""
        own, *theirs = timing.seconds_of(
            [ours, *(call for call, _ in peers.values())], self.settings.rounds
        )
        made = []
        for (name, (_, goal)), other in zip(peers.items(), theirs, strict=True):
            details = f"{rate(self.megabytes / own)}, {rate(self.megabytes / other)}"
            label = f"messages, {self.shape.label}, {what}, against {name}"
            made.append(faster(label, name, other / own, details, goal))
        return made


def held(settings: Settings, shape: Shape) -> Held:
    records = shape.records(settings.folder)
    size = sum(map(len, records)) / 1e6
    of_type = message_data.message_class(shape.message)
    return Held(settings, shape, timing.batches_of(records, BATCH), of_type, size)


def same(shape: Shape, peer: str, ours: Any, theirs: Any) -> None:
    if ours != theirs:
        raise AssertionError(f"{shape.name}: ours and {peer} give different values")


def leaves_of(rows: list[dict[str, Any]], name: str) -> list[Any]:
    """Per record what values_of() reads of it."""
    paths = message_data.leaf_paths(name)

    def at(row: Any, path: list[str]) -> Any:
        return at(row[path[0]], path[1:]) if path else row

    return [[at(row, path) for path in paths] for row in rows]


def decode(held: Held, ptars_goal: float, read_goal: float | None) -> list[Figure]:
    """All leaves, from lists of bytes."""
    decoder, name = held.decoder(), held.shape.message
    parse, read = held.of_type.FromString, message_data.values_of(name)
    first = pa.record_batch(decoder.decode(held.batches[0])).to_pylist()
    same(held.shape, "upb", leaves_of(first, name), [read(parse(r)) for r in held.batches[0]])
    peers: dict[str, tuple[Callable[[], None], float | None]] = {
        PARSE: (held.passes(lambda batch: [parse(record) for record in batch]), None),
        READ_ALL: (held.passes(lambda batch: [read(parse(record)) for record in batch]), read_goal),
    }
    if has_ptars():
        handler = ptars_handler(held.of_type)
        theirs = handler.list_to_record_batch(held.batches[0]).to_pylist()
        same(held.shape, PTARS, first, theirs)
        peers = {PTARS: (held.passes(handler.list_to_record_batch), ptars_goal), **peers}
    made = held.figures("all, decode", held.passes(decoder.decode), peers)
    return made + decode_arrays(held, ptars_goal)


def decode_arrays(held: Held, ptars_goal: float) -> list[Figure]:
    """All leaves, from Arrow arrays that were made before the clock started."""
    if not has_ptars():
        return []
    decoder, handler, arrays = held.decoder(), ptars_handler(held.of_type), arrays_of(held)
    small = [pa.array(batch, pa.binary()) for batch in held.batches]  # as ptars wants them
    peers = {PTARS: (held.passes(handler.array_to_record_batch, small), ptars_goal)}
    return held.figures("all, decode from arrays", held.passes(decoder.decode, arrays), peers)


def encode(held: Held) -> list[Figure]:
    """Each contender is given the batches that its own decoder made. For protobuf, which has no
    columns, pyarrow makes dicts of the rows; without a goal also the messages alone, of dicts that
    were made before the clock started."""
    decoder, encoder = held.decoder(), cst.encoder("message", message=held.of_type)
    batches = [decoder.decode(batch) for batch in held.batches]
    columns = [pa.record_batch(batch) for batch in batches]
    rows = [batch.to_pylist() for batch in columns]
    of_type = held.of_type

    def made(batch: list[dict[str, Any]]) -> list[bytes]:
        return [of_type(**row).SerializeToString() for row in batch]

    first = pa.array(encoder.encode(batches[0])).to_pylist()
    same(held.shape, MADE, first, made(rows[0]))
    peers: dict[str, tuple[Callable[[], None], float | None]] = {
        f"{MADE}, from columns": (held.passes(lambda b: made(b.to_pylist()), columns), 40),
        f"{MADE}, from dicts": (held.passes(made, rows), None),
    }
    if has_ptars():
        handler = ptars_handler(of_type)
        theirs = [handler.list_to_record_batch(batch) for batch in held.batches]
        back = handler.list_to_record_batch(first)
        same(held.shape, PTARS, back.to_pylist(), theirs[0].to_pylist())
        peers = {PTARS: (held.passes(handler.record_batch_to_array, theirs), 5), **peers}
    return held.figures("encode", held.passes(encoder.encode, batches), peers)


def struct2tensor_seconds(held: Held, field: str) -> list[float]:
    """From lists of bytes, and from string tensors."""
    script = pathlib.Path(__file__).parent / "message_struct2tensor.py"
    path = held.shape.path(held.settings.folder)
    rounds = 10 * held.settings.rounds
    command = [STRUCT2TENSOR, script, path, held.shape.message, str(rounds)]
    command += [field] if field else []
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return [statistics.median(times) for times in json.loads(done.stdout)]


def arrays_of(held: Held) -> Batches:
    return [pa.array(batch, pa.large_binary()) for batch in held.batches]


def against_struct2tensor(held: Held, goal: float | None, field: str = "") -> list[Figure]:
    """From lists of bytes, and each from what is native to it, made before the clock started: an
    Arrow array, a string tensor. In a process of its own, whose results it compares with
    protobuf's."""
    what = f"messages, {held.shape.label}, {'one leaf' if field else 'all'}, decode"
    if not STRUCT2TENSOR.exists():
        return [unmeasured(f"{what}, against struct2tensor", "struct2tensor is not installed")]
    decode = held.decoder([field] if field else None).decode
    theirs = struct2tensor_seconds(held, field)
    own = timing.seconds_of(
        [held.passes(decode), held.passes(decode, arrays_of(held))], held.settings.rounds
    )
    made = []
    for name, mine, other in zip(["lists", "arrays and tensors"], own, theirs, strict=True):
        details = f"{rate(held.megabytes / mine)}, {rate(held.megabytes / other)}"
        label = f"{what} from {name}, against struct2tensor"
        made.append(faster(label, "struct2tensor", other / mine, details, goal))
    return made


@dataclasses.dataclass(frozen=True)
class Goals:
    ptars: float
    one_leaf: float
    read_all: float | None = None


GOALS = {
    message_data.DEEP: Goals(ptars=5, one_leaf=15, read_all=100),
    message_data.FLAT: Goals(ptars=4.5, one_leaf=6),
    message_data.FLAT_100: Goals(ptars=3, one_leaf=4),
}


def decodes(settings: Settings) -> list[Figure]:
    made = []
    for shape, goals in GOALS.items():
        made += decode(held(settings, shape), goals.ptars, goals.read_all)
    return made


def encodes(settings: Settings) -> list[Figure]:
    return [figure for shape in GOALS for figure in encode(held(settings, shape))]


def structs_to_tensors(settings: Settings) -> list[Figure]:
    made = []
    for shape, goals in GOALS.items():
        all_of_it = held(settings, shape)
        made += against_struct2tensor(all_of_it, None)
        made += against_struct2tensor(all_of_it, goals.one_leaf, shape.one)
    return made


def rows(settings: Settings, results: Results) -> dict[str, Callable[[], None]]:
    """What `--only` can name, and what it does."""
    table = {
        "messages_loop": loops,
        "messages_decode": decodes,
        "messages_encode": encodes,
        "messages_struct2tensor": structs_to_tensors,
        "messages_wide": wide_and_deep,
        "messages_to_parquet": message_convert.to_parquet,
    }
    return {
        name: lambda measure=measure: results.figures.extend(measure(settings))
        for name, measure in table.items()
    }
