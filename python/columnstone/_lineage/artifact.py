"""The contents of a store: artifacts, executions and contexts, as they were when they were looked
up."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from .._arrow.findings import row_dicts, rows
from .._base.errors import CorruptError, NotFoundError, argument_error
from .._base.markup import facts, or_text, table, titled
from .._base.public import public_in
from .._base.text import printable
from .choice import ArtifactBase
from .connection import Connection, Opening, shared
from .values import path_of, properties_of, when

if TYPE_CHECKING:
    from datetime import datetime

    from .values import CoreProperties, Value

_One = TypeVar("_One")

OF_ARTIFACTS, OF_EXECUTIONS, OF_CONTEXTS = 0, 1, 2
UP, DOWN = 1, 2


@public_in("columnstone.lineage")
class File(NamedTuple):
    """A file or a folder of an artifact, or a URL.

    split: of Examples, such as "train". role: None: the data; "descriptors", "schema": a file that
        is needed to read the data. size, digest: of the content (SHA-256), if they are known.
    """

    path: str
    split: str | None = None
    role: str | None = None
    size: int | None = None
    digest: str | None = None


@public_in("columnstone.lineage")
class Reference(NamedTuple):
    """Something that an artifact needs as long as it lives: "view", "schema", "statistics", or a
    custom role."""

    role: str
    id: int
    reference: str


@public_in("columnstone.lineage")
class Field(NamedTuple):
    """An output of a view, and a field of its input that it is computed from."""

    output: str
    path: str


@public_in("columnstone.lineage")
class Event(NamedTuple):
    """An input or an output of an execution; path: its name in the execution."""

    id: int
    reference: str
    path: str | None = None


class _Record:
    """The common part of the three. Two are equal if they are the same record of the same store.
    They pickle with the path of the store, which is opened when it is needed."""

    id: int
    _connection: Connection

    def _key(self) -> tuple[Any, ...]:
        return type(self), self._connection.path, self.id

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Record) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_connection": tuple(self._connection.opening)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        connection = shared(Opening(*state["_connection"]))
        self.__dict__.update(state, _connection=connection)


@public_in("columnstone.lineage")
@dataclass(frozen=True, eq=False, repr=False)
class Artifact(_Record, ArtifactBase):
    """Data, a view, a schema, statistics, a model, or another type of artifact, as it was when it
    was looked up.

    `columnstone.open(artifact)`, `make_tfxio` and the engines open Examples.

    name, version, reference: "sessions", 4 and "sessions@4"; without a name, the reference is the
        id. Each name has its own versions.
    state: "live", "pending" (an execution is making it), "marked" (its files are being deleted),
        "deleted", or "abandoned" (its execution failed).
    uri: the file, or the folder of all files; None: no files.
    digest: SHA-256 of the content; for a view, `View.digest`.
    is_external: its files are never deleted.
    files, properties, references: those of the artifact.
    fields: for a view: the fields of its input that each output is computed from.
    splits: the splits chosen with `split`; None: all.
    """

    id: int
    type: str
    name: str | None
    version: int | None
    reference: str
    state: str
    uri: str | None
    digest: str | None
    is_external: bool
    created: datetime
    updated: datetime
    files: tuple[File, ...]
    properties: dict[str, Value]
    references: tuple[Reference, ...]
    fields: tuple[Field, ...]
    _connection: Connection = field(repr=False)
    splits: tuple[str, ...] | None = None

    def _key(self) -> tuple[Any, ...]:
        return *super()._key(), self.splits

    @property
    def paths(self) -> list[str]:
        """The paths of its data in the chosen splits."""
        return [
            file.path
            for file in self.files
            if file.role is None and (self.splits is None or file.split in self.splits)
        ]

    def split(self, *names: str) -> Artifact:
        """Returns the artifact with only these splits: `cst.open(examples.split("train"))`."""
        there = {file.split for file in self.files if file.split is not None}
        for name in names:
            if name not in there:
                has = ", ".join(sorted(there)) or "none"
                hint = f"it has {has}"
                raise NotFoundError(f"{self.reference} has no split {name!r} ({hint})", hint=hint)
        return dataclasses.replace(self, splits=tuple(names))

    def refresh(self) -> Artifact:
        """Looks the artifact up again."""
        found = artifact_of(self._connection, self.id)
        return dataclasses.replace(found, splits=self.splits)

    @property
    def inputs(self) -> list[Artifact]:
        """The artifacts that it was made from, by the executions that have it as an output."""
        return self._beside(UP)

    @property
    def outputs(self) -> list[Artifact]:
        """The artifacts that were made from it."""
        return self._beside(DOWN)

    def _beside(self, direction: int) -> list[Artifact]:
        """Follows executions only; `references` has the artifacts that it refers to."""
        batch, _ = self._connection.core.trace((self.id,), direction, 1)
        nodes = batch.to_pydict()
        sources = {
            (kind, id): [(s["kind"], s["id"]) for s in of if s["how"] in ("input", "output")]
            for kind, id, of in zip(nodes["kind"], nodes["id"], nodes["sources"], strict=True)
        }
        me = ("artifact", self.id)
        if direction == UP:
            made_by = [node for node in sources.get(me, ()) if node[0] == "execution"]
            ids = {id for node in made_by for kind, id in sources.get(node, ()) if kind != node[0]}
        else:
            readers = {node for node, of in sources.items() if node[0] == "execution" and me in of}
            ids = {node[1] for node, of in sources.items() if readers & set(of)}
        return artifacts(self._connection, tuple(sorted(ids))) if ids else []

    def __repr__(self) -> str:
        where = "" if self.uri is None else f": {printable(self.uri)}"
        name = printable(self.reference)
        return f"<columnstone.lineage.Artifact {name}, {printable(self.type)}, {self.state}{where}>"

    @or_text
    def _repr_html_(self) -> str:
        known = [("type", self.type), ("state", self.state), ("uri", self.uri)]
        files = [(one.path, one.split, one.role, one.size) for one in self.files]
        names = ("file", "split", "role", "bytes")
        parts = [table(names, files)] if files else []
        return titled(f"Artifact {self.reference}", facts(known + _rest(self)), *parts)


@public_in("columnstone.lineage")
@dataclass(frozen=True, eq=False, repr=False)
class Execution(_Record):
    """A process that made artifacts from others, as it was when it was looked up.

    state: "running", "complete", "failed" or "canceled". ended: None while it runs.
    """

    id: int
    type: str
    name: str | None
    state: str
    started: datetime
    ended: datetime | None
    properties: dict[str, Value]
    inputs: tuple[Event, ...]
    outputs: tuple[Event, ...]
    _connection: Connection = field(repr=False)

    def __repr__(self) -> str:
        name = "" if self.name is None else f" {printable(self.name)}"
        made = ", ".join(printable(event.reference) for event in self.outputs) or "nothing"
        kind = printable(self.type)
        return f"<columnstone.lineage.Execution {self.id}, {kind}{name}, {self.state}: made {made}>"

    @or_text
    def _repr_html_(self) -> str:
        known: list[tuple[str, object]] = [
            ("type", self.type),
            ("name", self.name),
            ("state", self.state),
            ("started", self.started),
            ("ended", self.ended),
            ("inputs", ", ".join(event.reference for event in self.inputs)),
            ("outputs", ", ".join(event.reference for event in self.outputs)),
        ]
        return titled(f"Execution {self.id}", facts(known + _rest(self)))


@public_in("columnstone.lineage")
@dataclass(frozen=True, eq=False, repr=False)
class Context(_Record):
    """A named group, such as a pipeline or one of its runs, as it was when it was looked up: the
    ids of the artifacts, executions and contexts in it."""

    id: int
    type: str
    name: str
    properties: dict[str, Value]
    artifacts: tuple[int, ...]
    executions: tuple[int, ...]
    children: tuple[int, ...]
    _connection: Connection = field(repr=False)

    def add(self, *members: Artifact | Execution | Context) -> Context:
        """Adds artifacts, executions and other contexts to the context, and returns its new
        state."""
        for member in members:
            kind = _KINDS.get(type(member))
            if kind is None:
                raise TypeError(
                    "a context contains artifacts, executions and contexts, not "
                    f"{type(member).__name__}"
                )
            check_own(self._connection, member)
            self._connection.core.join(self.id, kind, member.id)
        return context_of(self._connection, self.id)

    def __repr__(self) -> str:
        kind, name = printable(self.type), printable(self.name)
        return f"<columnstone.lineage.Context {kind} {name}>"

    @or_text
    def _repr_html_(self) -> str:
        members = (("artifacts", self.artifacts), ("executions", self.executions))
        known: list[tuple[str, object]] = [("type", self.type)]
        known += [(name, f"{len(ids):,}") for name, ids in members]
        return titled(f"Context {self.name}", facts(known + _rest(self)))


def _rest(one: Artifact | Execution | Context) -> list[tuple[str, object]]:
    """Its properties, for the notebook view."""
    return list(one.properties.items())


_KINDS: dict[type, int] = {
    Artifact: OF_ARTIFACTS,
    Execution: OF_EXECUTIONS,
    Context: OF_CONTEXTS,
}


class Wanted(NamedTuple):
    """The conditions of a search."""

    ids: tuple[int, ...] | None = None
    texts: tuple[str | None, str | None, bytes | None, str | None] = (None, None, None, None)
    properties: CoreProperties = ()
    numbers: tuple[int, int, int, int] = (0, 0, 0, 0)  # context, from, to, limit
    every_state: bool = False


def check_own(connection: Connection, record: _Record) -> None:
    """ArgumentError for a record of another store, where its id has another meaning."""
    if record._connection.path != connection.path:
        raise argument_error(
            f"{_label(record)} belongs to the store {record._connection.path}, not to "
            f"{connection.path}"
        )


def _label(record: _Record) -> str:
    if isinstance(record, Artifact):
        return record.reference
    if isinstance(record, Context):
        return f"context {record.name}"
    return f"execution {record.id}"


def artifact_of(connection: Connection, id: int) -> Artifact:
    return _only(connection, artifacts(connection, (id,)), "artifact", id)


def execution_of(connection: Connection, id: int) -> Execution:
    return _only(connection, executions(connection, (id,)), "execution", id)


def context_of(connection: Connection, id: int) -> Context:
    return _only(connection, contexts(connection, (id,)), "context", id)


def _only(connection: Connection, found: list[_One], kind: str, id: int) -> _One:
    """The record with this id. It must exist, unless tables and indexes disagree."""
    if len(found) != 1:
        if kind == "artifact":
            connection.core.lookup(str(id))  # NotFoundError: as after a transaction that failed
        hint = "call Store.check for details"
        raise CorruptError(
            f"{connection.path}: the store is damaged: {kind} {id} exists but cannot be found "
            f"({hint})",
            file=connection.path,
            hint=hint,
        )
    return found[0]


def _found(connection: Connection, kind: int, wanted: Wanted) -> Any:
    return connection.core.find(kind, *wanted)[0]


def artifacts(
    connection: Connection, ids: tuple[int, ...] | None = None, wanted: Wanted | None = None
) -> list[Artifact]:
    """Artifacts by their ids, in any state, or those that match; in the order of ids."""
    batch = _found(connection, OF_ARTIFACTS, wanted or Wanted(ids, every_state=True))
    made = []
    for row in row_dicts(batch, files=_file, references=Reference, fields=Field):
        row.update(
            uri=path_of(row["uri"]),
            created=when(row["created"]),
            updated=when(row["updated"]),
            properties=properties_of(row["properties"]),
            _connection=connection,
            splits=None,
        )
        artifact = object.__new__(Artifact)  # a frozen dataclass sets its fields slowly
        artifact.__dict__.update(row)
        made.append(artifact)
    return made


def executions(
    connection: Connection, ids: tuple[int, ...] | None = None, wanted: Wanted | None = None
) -> list[Execution]:
    """Executions, in the same way."""

    def make(started: int, ended: int | None, properties: Any, **columns: Any) -> Execution:
        return Execution(
            **columns,
            started=when(started),
            ended=when(ended),
            properties=properties_of(properties),
            _connection=connection,
        )

    batch = _found(connection, OF_EXECUTIONS, wanted or Wanted(ids))
    return rows(batch, make, inputs=Event, outputs=Event)


def contexts(
    connection: Connection, ids: tuple[int, ...] | None = None, wanted: Wanted | None = None
) -> list[Context]:
    """Contexts, in the same way."""

    def make(properties: Any, **columns: Any) -> Context:
        columns.pop("created", None)
        return Context(**columns, properties=properties_of(properties), _connection=connection)

    batch = _found(connection, OF_CONTEXTS, wanted or Wanted(ids))
    return rows(batch, make, artifacts=_id, executions=_id, children=_id)


def _file(path: bytes, **columns: Any) -> File:
    return File(path_of(path), **columns)


def _id(id: int) -> int:
    return id
