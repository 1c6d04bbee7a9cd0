"""Store: the existing data, views, schemas, statistics and models, and what each was made from."""

from __future__ import annotations

import functools
import glob
import os
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from .. import _core
from .._base.arguments import at_least_1_or_0, integer, positive
from .._base.errors import NotFoundError, argument_error
from .._base.files import is_path
from .._base.markup import facts, or_text, titled
from .._base.public import public_in
from .._formats.options import KINDS, core_options, refuse, text_of
from .._message.options import OPTIONS as MESSAGE_OPTIONS
from .._message.options import check_names
from .._schema.schema import Schema
from . import detect, provide
from .artifact import (
    DOWN,
    OF_ARTIFACTS,
    OF_CONTEXTS,
    OF_EXECUTIONS,
    UP,
    Artifact,
    Context,
    Execution,
    Wanted,
    artifact_of,
    artifacts,
    check_own,
    context_of,
    contexts,
    executions,
)
from .choice import AS_BOUND, Choice
from .connection import CREATE, READ, WRITE, Connection, Opening
from .lease import Lease, LeaseRecord
from .openlineage import send
from .reading import Reading, read
from .run import Run
from .trace import Garbage, Node, StoreFault, faults_of, nodes_of
from .values import core_properties, micros, placed, seconds_of, when

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from contextlib import AbstractContextManager
    from datetime import datetime, timedelta
    from types import ModuleType, TracebackType
    from typing import Literal, Self, TypeAlias

    from .._base.files import Path
    from .._query.query import Query
    from .._query.view import View
    from .._schema.schema import SchemaLike
    from .values import Properties, Value

    ArtifactLike: TypeAlias = "Artifact | str | int"
    Artifacts: TypeAlias = "ArtifactLike | Iterable[ArtifactLike]"
    Files: TypeAlias = "Path | Iterable[Path] | Mapping[str, Path | Iterable[Path]]"
    References: TypeAlias = "Mapping[str, Artifacts]"

_WILDCARD = re.compile(rb"[*?[]")
_EXTERNAL, _NO_DIGEST, _MISSING, _REUSE, _PENDING = 1, 2, 4, 8, 16


@public_in("columnstone.lineage")
def open(
    path: str | os.PathLike[str],
    *,
    create: bool = False,
    read_only: bool = False,
    roots: Iterable[str | os.PathLike[str]] | None = None,
    shared: bool = False,
    timeout: int = 60,
) -> Store:
    """Opens a lineage store, which is an SQLite file. Many processes and threads can use it at the
    same time; writers wait for each other.

    create: create the store if it does not exist.
    read_only: write nothing, and hold no lease on artifacts that are read.
    roots: for a new store: the folders in which garbage may be deleted; by default, the folder of
        the store. ArgumentError if the store exists with others.
    shared: for a new store: other machines mount its folder.
    timeout: seconds to wait for other writers before DeadlineError.

    Raises NotFoundError if the file does not exist, FormatError if it is not a store, CorruptError
    if it is damaged, UnsupportedError if a later version wrote it. A store of an earlier version is
    copied and then upgraded.

    >>> store = cst.lineage.open("lineage.db", create=True)
    >>> trips = store.examples("trips.tfrecord", "trips")
    >>> trips.reference, len(cst.open(store["trips"]))
    ('trips@1', 4)
    >>> store.close()
    """
    if create and read_only:
        raise argument_error("create=True and read_only=True exclude each other")
    if not create and (roots is not None or shared):
        raise argument_error("roots and shared are only for a new store", "create=True")
    mode = CREATE if create else READ if read_only else WRITE
    of_roots = None if roots is None else tuple(map(placed, _listed(roots)))
    seconds = positive("timeout", timeout)
    from .._core import Store as Core

    core = Core(placed(path), mode, of_roots, bool(shared), seconds)
    again = Opening(core.path(), READ if read_only else WRITE, seconds)
    return Store(Connection(again, core))


@public_in("columnstone.lineage")
class Store:
    """A lineage store. `columnstone.lineage.open` opens one.

    store["sessions@4"], store["sessions"] (the newest live version) and store[17] look up
    artifacts; iteration gives all of them. Threads take turns. Changes are on disk when a call
    returns, except inside a `transaction`. A store is a context manager. It pickles as its path; a
    forked process opens it again.
    """

    __slots__ = ("_connection",)

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    # Opening and closing

    @property
    def path(self) -> str:
        """The path of the file."""
        return self._connection.path

    def close(self) -> None:
        """Closes the file. Leases continue."""
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def __reduce__(self) -> Any:
        path, mode, timeout = self._connection.opening
        return functools.partial(open, read_only=mode == READ, timeout=timeout), (path,)

    def __repr__(self) -> str:
        return f"<columnstone.lineage.Store {self.path!r}>"

    @or_text
    def _repr_html_(self) -> str:
        known = self.info()
        roots = ", ".join(known.pop("roots"))
        return titled(f"Store {self.path}", facts([*known.items(), ("roots", roots)]))

    def info(self) -> dict[str, Any]:
        """Describes the store: the `version` of its format, the numbers of `artifacts`,
        `executions`, `contexts` and `leases`, and the `roots`, the folders in which garbage may be
        deleted."""
        batch, totals = self._connection.core.info()
        return {**totals, "roots": [os.fsdecode(path) for path in batch.to_pydict()["path"]]}

    def transaction(self) -> AbstractContextManager[None]:
        """A context manager: `with store.transaction():`. The changes of the block are kept
        together, or discarded if an exception leaves it. Other threads wait. A nested block is part
        of the outer one. Many additions are much faster within one transaction."""
        return self._connection.transaction()

    # Searching

    def __getitem__(self, reference: str | int) -> Artifact:
        return self._artifacts(reference)[0]

    def __contains__(self, reference: object) -> bool:
        if isinstance(reference, Artifact):
            return reference._connection.path == self.path and reference.id in self
        if not isinstance(reference, str | int) or isinstance(reference, bool):
            return False
        try:
            self._connection.core.lookup(str(reference))
        except NotFoundError:
            return False
        return True

    def __iter__(self) -> Iterator[Artifact]:
        return iter(self.find())

    def find(
        self,
        type: str | None = None,
        *,
        name: str | None = None,
        path: str | os.PathLike[str] | None = None,
        source_path: str | None = None,
        context: Context | None = None,
        created: tuple[datetime | None, datetime | None] | datetime | None = None,
        states: Iterable[str] | None = None,
        limit: int | None = None,
        **properties: Value,
    ) -> list[Artifact]:
        """Finds the artifacts that match all arguments, in the order in which they were added.

        name: can be a pattern with *, ? and [.
        path: artifacts with this file, or with a file in this folder.
        source_path: views that read this input field, or a field in it.
        created: a pair (start, end), with the end excluded; a single time is a start.
        states: by default all but "deleted" and "abandoned".
        limit: return only the newest ones, at most this many.
        properties: the values that they must have.
        """
        every = states is not None
        texts = (type, name, None if path is None else placed(path), source_path)
        most = at_least_1_or_0("limit", limit)
        numbers = (*self._numbers(context, created), 0 if every else most)
        wanted = Wanted(None, texts, core_properties(properties), numbers, every)
        found = artifacts(self._connection, wanted=wanted)
        if states is None:
            return found
        of = {states} if isinstance(states, str) else set(states)
        return [one for one in found if one.state in of][-most if most else 0 :]

    def executions(
        self,
        type: str | None = None,
        *,
        name: str | None = None,
        context: Context | None = None,
        created: tuple[datetime | None, datetime | None] | datetime | None = None,
        limit: int | None = None,
        **properties: Value,
    ) -> list[Execution]:
        """Finds the executions that match all arguments; see `find`."""
        numbers = (*self._numbers(context, created), at_least_1_or_0("limit", limit))
        texts = (type, name, None, None)
        wanted = Wanted(None, texts, core_properties(properties), numbers)
        return executions(self._connection, wanted=wanted)

    def contexts(
        self, type: str | None = None, *, name: str | None = None, **properties: Value
    ) -> list[Context]:
        """Finds the contexts that match all arguments; see `find`."""
        wanted = Wanted(None, (type, name, None, None), core_properties(properties))
        return contexts(self._connection, wanted=wanted)

    def trace(
        self,
        of: Artifacts,
        *,
        up: bool | None = None,
        down: bool | None = None,
        depth: int | None = None,
    ) -> list[Node]:
        """Follows executions and references from artifacts: up to what they were made from, down to
        what was made from them, or in both directions by default. Each node is returned once, the
        nearest first.

        depth: follow at most this many executions.
        """
        if up is None and down is None:
            up = down = True
        ways = (UP if up else 0) | (DOWN if down else 0)
        if not ways:
            raise argument_error("up and down are both False")
        ids = tuple(one.id for one in self._artifacts(of))
        return nodes_of(self._connection.core.trace(ids, ways, at_least_1_or_0("depth", depth)))

    def check(self, *, digests: bool = False) -> list[StoreFault]:
        """Reports problems of the store and its files: damage, files that are missing or have
        changed, and references to deleted artifacts.

        digests: also read the files and compare their content.
        """
        return faults_of(self._connection.core.check(bool(digests)))

    # Adding

    def add(
        self,
        type: str,
        files: Files = (),
        name: str | None = None,
        *,
        properties: Properties = None,
        references: References | None = None,
        parts: Mapping[str, Path] | None = None,
        external: bool = False,
        digest: bool = True,
        missing: bool = False,
        reuse: bool = False,
        pending: bool = False,
        created: datetime | None = None,
    ) -> Artifact:
        """Adds an artifact.

        type: "Examples", "DataView", "Schema", "Statistics", "Model", or a custom type.
        files: the path of a file or a folder, a glob, a URL, or a list of these; or a dict from
            split to these.
        name: adds a new version of this name. A name belongs to one type.
        properties: name -> bool, int, float, str or bytes.
        references: role -> artifact, or several, that it needs as long as it lives.
        parts: role -> file that is needed to read the others: "descriptors", "schema".
        external: never delete its files.
        digest: False: do not read the files to compute the SHA-256 of their content.
        missing: allow files that do not exist (yet).
        reuse: if there is a live artifact with the same type, name, content, properties and
            references, return it. Views and schemas are always reused.
        pending: a running execution is creating it as an output.
        """
        switches = (
            (_EXTERNAL if external else 0)
            | (0 if digest else _NO_DIGEST)
            | (_MISSING if missing else 0)
            | (_REUSE if reuse else 0)
            | (_PENDING if pending else 0)
        )
        of_roles = ((placed(path), None, role) for role, path in (parts or {}).items())
        all_files = (*_files_of(files, missing), *of_roles)
        needed = tuple(
            (role, one.id) for role, of in (references or {}).items() for one in self._artifacts(of)
        )
        id, _ = self._connection.core.add(
            type, name, all_files, core_properties(properties), needed, switches, micros(created)
        )
        return artifact_of(self._connection, id)

    def examples(
        self,
        files: Files,
        name: str | None = None,
        *,
        split: str | None = None,
        span: int | None = None,
        format: str | None = None,
        container: str | None = None,
        message: str | None = None,
        descriptors: str | os.PathLike[str] | None = None,
        schema: ArtifactLike | None = None,
        properties: Properties = None,
        references: References | None = None,
        external: bool = False,
        digest: bool = True,
        reuse: bool = False,
        created: datetime | None = None,
        **options: Any,
    ) -> Artifact:
        """Adds Examples: data, with everything that is needed to read it. The properties
        payload_format and file_format are detected from the first file.

        files: as for `add`; a dict, or a folder with folders such as "Split-train", defines splits.
            split: the split of all files.
        span: a number, such as that of a day.
        format, container, message, descriptors: as for `columnstone.open`, but message is a full
            name, and descriptors is a file (.proto, or a descriptor set).
        schema: a Schema artifact to read them with.
        options: other options of the format, such as delimiter for CSV; message_options. TypeError
            for an option that no format has.
        """
        if split is not None:
            if isinstance(files, Mapping):
                raise argument_error("split is given, but files is a dict of splits")
            files = {split: files}
        elif is_path(files) and os.path.isdir(placed(files)):
            files = detect.splits_of(placed(files)) or files
        of_messages = options.pop("message_options", None) or {}
        check_names(of_messages)
        _check_options(format, options)
        given = {
            "format": format,
            "container": container,
            "message": message,
            **of_messages,
            **options,
        }
        read = {f"read.{n}": _option(n, v) for n, v in given.items() if v is not None}
        listed = _files_of(files, False)
        kind = "message" if message is not None and format is None else format
        held = detect.look(listed[0][0], kind, container) if listed else detect.Held()
        said: dict[str, Any] = {**held._asdict(), "span": span}
        references = dict(references or {})
        if schema is not None:
            references["schema"] = schema
        return self.add(
            "Examples",
            files,
            name,
            properties=dict(core_properties(said, read, properties)),
            references=references,
            parts=None if descriptors is None else {"descriptors": descriptors},
            external=external,
            digest=digest,
            reuse=reuse,
            created=created,
        )

    def view(
        self,
        view: str | os.PathLike[str] | View | Query | ModuleType | Any,
        name: str | None = None,
        *,
        function: str | None = None,
        properties: Properties = None,
        external: bool = False,
        **options: Any,
    ) -> Artifact:
        """Adds a DataView, or returns the existing one with the same content.

        view: a saved view (.cstv). For anything else, a saved view is created beside the store: a
            View or a Query; the path of a query (.cstq); or a Python file (its path, which is run),
            a module or a function that returns a View or a Query.
        function: the function in the Python file or module; "make_query" by default.
        options: for a query in a file: message, descriptors, schema or type, as for
            `Query.from_text`; params: values of the query's parameters.
        """
        path = provide.view_file(self._connection, view, function, dict(options))
        return self.add("DataView", path, name, properties=properties, external=external)

    def schema(
        self,
        schema: str | os.PathLike[str] | SchemaLike,
        name: str | None = None,
        *,
        properties: Properties = None,
        external: bool = False,
    ) -> Artifact:
        """Adds a Schema, or returns the existing one with the same content. It is a .pbtxt file, or
        anything else that columnstone.Schema accepts; in this case a file is created beside the
        store."""
        if not is_path(schema) or isinstance(schema, bytes):
            data = Schema(schema).to_text().encode()
            schema = provide.kept_file(self._connection, data, ".pbtxt")
        return self.add("Schema", schema, name, properties=properties, external=external)  # type: ignore[arg-type]

    def statistics(
        self,
        statistics: Any,
        name: str | None = None,
        *,
        of: ArtifactLike | None = None,
        properties: Properties = None,
        external: bool = False,
    ) -> Artifact:
        """Adds Statistics: a file, or a columnstone.Statistics, for which a file is created beside
        the store.

        of: the Examples that they describe; recorded as an execution of type "StatisticsGen".
        """
        if not is_path(statistics):
            data = bytes(statistics)
            statistics = provide.kept_file(self._connection, data, ".cststats")
        if of is None:
            return self.add(
                "Statistics", statistics, name, properties=properties, external=external
            )
        with self.transaction(), self.execution("StatisticsGen", [of]) as run:
            made = self.add(
                "Statistics", statistics, name, properties=properties, external=external
            )
            return run.output(made, "statistics")

    def model(
        self,
        path: Path,
        name: str | None = None,
        *,
        properties: Properties = None,
        references: References | None = None,
        external: bool = False,
        digest: bool = True,
    ) -> Artifact:
        """Adds a Model: a folder or a file."""
        return self.add(
            "Model",
            path,
            name,
            properties=properties,
            references=references,
            external=external,
            digest=digest,
        )

    def bind(self, examples: ArtifactLike, view: ArtifactLike, name: str | None = None) -> Artifact:
        """Adds Examples with the same files and properties that are read through a view, or returns
        the existing ones. Recorded as an execution of type "DataViewBinder".

        name: the name of the result; by default that of the examples, in a new version.
        """
        core = self._connection.core
        return self[core.bind(self._artifact(examples).id, self._artifact(view).id, name)]

    def set(self, of: Artifact | Execution | Context, **properties: Value) -> None:
        """Sets properties of an artifact, an execution or a context. Other properties stay."""
        kinds = {Artifact: OF_ARTIFACTS, Execution: OF_EXECUTIONS, Context: OF_CONTEXTS}
        kind = kinds.get(type(of))
        if kind is None:
            raise TypeError(f"expected an Artifact, Execution or Context, not {type(of).__name__}")
        check_own(self._connection, of)
        self._connection.core.set(kind, of.id, core_properties(properties))

    # Recording

    def execution(
        self,
        type: str,
        inputs: Artifacts | Mapping[str, Artifacts] = (),
        *,
        name: str | None = None,
        contexts: Iterable[Context] = (),
        lease: timedelta | float = 300,
        **properties: Value,
    ) -> Run:
        """Records what makes artifacts from other artifacts: `with store.execution("train",
        inputs=[...]) as run:`, and `run.output(artifact)` in the block.

        inputs: artifacts, or a dict of artifacts by the names that the execution uses.
        contexts: the contexts that the execution belongs to.
        lease: after a crash, the execution counts as failed after this many seconds.

        >>> store = cst.lineage.open("runs.db", create=True)
        >>> trips = store.examples("trips.tfrecord", "trips")
        >>> with store.execution("Train", inputs=[trips]) as run:
        ...     run.set(loss=0.25)
        >>> store.executions()[0].properties
        {'loss': 0.25}
        >>> store.close()
        """
        by_path = inputs if isinstance(inputs, Mapping) else {None: inputs}
        events = tuple(
            (one.id, path) for path, of in by_path.items() for one in self._artifacts(of)
        )
        within = tuple(self._own_id(context) for context in contexts)
        what = (type, name, events, core_properties(properties))
        return Run(self._connection, what, within, seconds_of("lease", lease))

    def context(self, type: str, name: str, **properties: Value) -> Context:
        """Returns the context of a type and name, such as "pipeline" and "ranking". Creates it if
        needed, with these properties."""
        with self.transaction():
            core = self._connection.core
            id = core.context(type, name)
            if properties:
                core.set(OF_CONTEXTS, id, core_properties(properties))
            return context_of(self._connection, id)

    def reading(
        self,
        examples: Artifacts,
        view: ArtifactLike | Choice | None = AS_BOUND,
        splits: Iterable[str] | None = None,
    ) -> Reading:
        """How Examples are read together, as `columnstone.open` does it, for custom readers. These
        should hold a `lease`. ArgumentError names the artifacts that break a rule.

        view: None: read without a view; an artifact: read through it; by default, through the view
            that all of them are bound to, or as they are.
        """
        of_view = view if view is None or isinstance(view, Choice) else self._artifact(view)
        return read(self._artifacts(examples), of_view, splits)

    # Leases and garbage

    def lease(
        self,
        artifacts: Artifacts,
        *,
        holder: str | None = None,
        seconds: timedelta | float = 300,
        detached: bool = False,
    ) -> Lease:
        """Keeps the files of artifacts, and everything that they refer to, until it is closed.
        Sources opened from artifacts have a lease of their own.

        holder: a description for people; by default the machine and the process.
        seconds: how long it lasts after a crash; until then a thread renews it.
        detached: the lease is not renewed, and closing does not end it: for readers on other
            machines.
        """
        ids = tuple(one.id for one in self._artifacts(artifacts))
        span = seconds_of("seconds", seconds)
        return Lease(self._connection.core.lease(ids, holder, span, bool(detached), 0), ids)

    def leases(self) -> list[LeaseRecord]:
        """All leases that anyone holds."""
        found = self._connection.core.leases()[0].to_pydict()
        return [
            LeaseRecord(
                id,
                holder,
                when(expires),
                tuple(one["id"] for one in of),
                tuple(one["reference"] for one in of),
            )
            for id, holder, expires, of in zip(
                found["id"], found["holder"], found["expires"], found["artifacts"], strict=True
            )
        ]

    def gc(
        self,
        *,
        keep: int | None = None,
        max_age: timedelta | float | None = None,
        group_by: Iterable[str] | None = None,
        types: Iterable[str] | None = None,
        keep_ancestors_of: Iterable[str] | None = None,
        dry_run: bool = False,
        now: datetime | None = None,
    ) -> Garbage:
        """Deletes artifacts that no policy keeps and nobody needs. The result reports what stays,
        and why.

        keep: keep this many of the newest artifacts of each group.
        max_age: keep younger artifacts (seconds or a timedelta). Without keep and max_age, no live
            artifact is deleted.
        group_by: properties, or "name" and "type". By default, and for artifacts without these
            properties, by name.
        types: delete only artifacts of these types.
        keep_ancestors_of: keep the ancestors of live artifacts of these types, such as ["Model"].
        dry_run: report what would be deleted, and delete nothing.

        A live artifact also stays while a lease or a running execution holds it, and while an
        artifact that stays refers to it. Files stay if they belong to an artifact that stays, are
        external, lie outside the roots, or have changed since they were added.
        """
        numbers = (
            at_least_1_or_0("keep", keep),
            seconds_of("max_age", max_age),
            micros(now),
        )
        found = self._connection.core.gc(
            numbers,
            _names(group_by),
            _names(types),
            _names(keep_ancestors_of),
            bool(dry_run),
        )
        return Garbage(found, bool(dry_run))

    # Export

    def graph(
        self,
        artifacts: Artifacts | None = None,
        *,
        format: Literal["html", "svg", "dot"] = "html",
        up: bool | None = None,
        down: bool | None = None,
        depth: int | None = None,
    ) -> str:
        """Draws artifacts and executions in a text format: the whole store, or what `trace` returns
        for some artifacts."""
        ids = None
        if artifacts is not None:
            ids = tuple(one.id for one in self._artifacts(artifacts))
        ways = (UP if up else 0) | (DOWN if down else 0)
        return self._connection.core.graph(format, ids, ways, at_least_1_or_0("depth", depth))

    def openlineage(
        self,
        executions: Iterable[Execution] | None = None,
        *,
        namespace: str | None = None,
        url: str | Literal[True] | None = None,
        api_key: str | None = None,
    ) -> str:
        """Returns executions (all by default) as OpenLineage run events, one line of JSON each.

        namespace: of the jobs; "columnstone" by default.
        url: a server to post them to, one by one ("http://host:5000", or with the path of its
            endpoint); True: $OPENLINEAGE_URL.
        api_key: sent as a bearer token. $OPENLINEAGE_API_KEY is sent only to $OPENLINEAGE_URL.
        """
        ids = None if executions is None else tuple(self._own_id(one) for one in executions)
        events = self._connection.core.openlineage(namespace, ids)
        if url is not None:
            send(events, url, api_key)
        elif api_key is not None:
            raise argument_error("api_key is given without url")
        return events

    # Arguments

    def _artifacts(self, given: Artifacts) -> list[Artifact]:
        """Artifacts given as objects, references or ids, one or several."""
        one = isinstance(given, Artifact | str | int) or not hasattr(given, "__iter__")
        core, ids = self._connection.core, []
        for item in [given] if one else given:  # type: ignore[union-attr]
            if isinstance(item, Artifact):
                check_own(self._connection, item)
                ids.append(item.id)
            else:
                ids.append(core.lookup(str(_id(item))))  # type: ignore[arg-type]
        if not ids:
            return []
        if len(ids) == 1:
            return [artifact_of(self._connection, ids[0])]
        by_id = {found.id: found for found in artifacts(self._connection, tuple(set(ids)))}
        return [by_id.get(id) or artifact_of(self._connection, id) for id in ids]

    def _artifact(self, given: ArtifactLike) -> Artifact:
        """An artifact given as an object, a reference or an id."""
        if isinstance(given, Artifact):
            check_own(self._connection, given)
        return self[_id(given)]

    def _own_id(self, record: Execution | Context) -> int:
        check_own(self._connection, record)
        return record.id

    def _numbers(
        self,
        context: Context | None,
        created: tuple[datetime | None, datetime | None] | datetime | None,
    ) -> tuple[int, int, int]:
        """The context and the times of a search."""
        begin, end = created if isinstance(created, tuple) else (created, None)
        of = 0 if context is None else self._own_id(context)
        return of, micros(begin), micros(end)


def _id(given: ArtifactLike) -> str | int:
    if isinstance(given, Artifact):
        return given.id
    if isinstance(given, str):
        return given
    if isinstance(given, bool):
        raise TypeError("an artifact is an Artifact, a reference or an id, not bool")
    return integer("an artifact's id", given)


def _listed(given: Any) -> list[Any]:
    return [given] if is_path(given) else list(given)


def _names(given: Iterable[str] | None) -> tuple[str, ...] | None:
    if given is None:
        return None
    return (given,) if isinstance(given, str) else tuple(given)


def _files_of(files: Files, missing: bool) -> tuple[tuple[bytes, str | None, None], ...]:
    """Each file with its split; globs are resolved."""
    by_split = files if isinstance(files, Mapping) else {None: files}
    return tuple(
        (path, split, None)
        for split, of in by_split.items()
        for item in _listed(of)
        for path in _expanded(placed(item), missing)
    )


def _expanded(path: bytes, missing: bool) -> list[bytes]:
    is_glob = _WILDCARD.search(path) is not None and b"://" not in path
    if missing or not is_glob or os.path.lexists(path):
        return [path]
    found = sorted(glob.glob(path))
    if not found:
        name, hint = os.fsdecode(path), "check the pattern"
        raise NotFoundError(f"{name}: no file matches ({hint})", file=name, hint=hint)
    return found


def _check_options(format: str | None, options: Mapping[str, Any]) -> None:
    """As `columnstone.open` refuses options that it does not have, or the format does not."""
    of_format = {
        name: value
        for name, value in options.items()
        if name not in _core.SOURCE_OPTIONS and name not in MESSAGE_OPTIONS
    }
    told = core_options("examples", of_format, format)
    if format in _core.FORMATS:
        own = _core.FORMAT_OPTIONS.get(format, {})
        refuse(format, tuple(option for option in told if option[0] not in own))


def _option(name: str, value: Any) -> str:
    """An option of `columnstone.open` as a text."""
    if name in KINDS:
        return text_of(name)(name, value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str | int):
        return str(value)
    raise TypeError(f"{name} must be a str, int or bool here, not {type(value).__name__}")
