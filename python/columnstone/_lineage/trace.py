"""The results of tracing, checking and garbage collection, as rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from .._arrow.findings import rows
from .._base.markup import bounded, counted, or_text, table, titled
from .._base.public import public_in
from .._base.text import printable
from .values import path_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .. import _core


@public_in("columnstone.lineage")
class Link(NamedTuple):
    """The origin of a node: kind and id of the other node, and how they are connected: "input",
    "output", or the role of a reference, such as "view"."""

    kind: str
    id: int
    how: str


@public_in("columnstone.lineage")
class Node(NamedTuple):
    """An artifact or an execution that `Store.trace` reaches.

    kind: "artifact" or "execution". label: "sessions@4". depth: the distance from the start (0) in
        executions; negative: towards the origins. sources: its direct origins among the returned
        nodes.
    """

    kind: str
    id: int
    type: str
    label: str
    state: str
    depth: int
    sources: tuple[Link, ...]

    def __str__(self) -> str:
        return f"{self.depth:+d}  {self.kind} {printable(self.label)} ({printable(self.type)})"


class Nodes(list[Node]):
    """The list of a trace, which notebooks show as a table."""

    __slots__ = ()

    @or_text
    def _repr_html_(self) -> str:
        rows = [
            (
                f"{node.depth:+d}",
                f"{node.kind} {node.id}",
                node.label,
                node.type,
                node.state,
                ", ".join(f"{link.how}: {link.kind} {link.id}" for link in bounded(node.sources)),
            )
            for node in bounded(self)
        ]
        names = ("depth", "node", "label", "type", "state", "came from")
        return titled(counted(len(self), "node"), table(names, rows, count=len(self)))


def nodes_of(found: _core.Findings) -> Nodes:
    return Nodes(rows(found[0], Node, sources=Link))


@public_in("columnstone.lineage")
class StoreFault(NamedTuple):
    """A problem that `Store.check` has found: an artifact (None: the store itself), one of its
    files, and the problem."""

    artifact: int | None
    reference: str | None
    path: str | None
    fault: str

    def __str__(self) -> str:
        of = [printable(part) for part in (self.reference, self.path) if part is not None]
        return ": ".join([*of, self.fault])


def faults_of(found: _core.Findings) -> list[StoreFault]:

    def make(path: bytes | None, **columns: Any) -> StoreFault:
        return StoreFault(path=path_of(path), **columns)

    return rows(found[0], make)


@public_in("columnstone.lineage")
class GarbageFile(NamedTuple):
    """A file of an artifact, and what happens to it: "keep", "delete", or "gone"."""

    path: str
    action: str
    reason: str | None


@public_in("columnstone.lineage")
class GarbageRow(NamedTuple):
    """An artifact, and what garbage collection did, or would do, with it: "keep" or "delete", and
    the reason."""

    id: int
    type: str
    reference: str
    state: str
    action: str
    reason: str | None
    files: tuple[GarbageFile, ...]


@public_in("columnstone.lineage")
class Garbage:
    """The result of a garbage collection, or of a dry run. Iteration returns all artifacts; the
    printed report lists what is deleted, and why everything else stays."""

    __slots__ = ("_rows", "_totals", "is_dry_run")

    is_dry_run: bool

    def __init__(self, found: _core.Findings, is_dry_run: bool) -> None:
        batch, self._totals = found
        self._rows = rows(batch, GarbageRow, files=_file)
        self.is_dry_run = is_dry_run

    @property
    def deleted(self) -> list[GarbageRow]:
        """The deleted artifacts."""
        return [row for row in self._rows if row.action == "delete"]

    @property
    def kept(self) -> list[GarbageRow]:
        """The artifacts that stay."""
        return [row for row in self._rows if row.action != "delete"]

    @property
    def num_files(self) -> int:
        """The number of deleted files."""
        return self._totals["files"]

    @property
    def num_bytes(self) -> int:
        """The size of the deleted files in bytes."""
        return self._totals["bytes"]

    def __iter__(self) -> Iterator[GarbageRow]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)

    def __bool__(self) -> bool:
        """Whether anything is deleted."""
        return bool(self.deleted)

    def __str__(self) -> str:
        return "\n".join([*map(_row_text, self._rows), self._summary()])

    def _summary(self) -> str:
        would = "would be deleted" if self.is_dry_run else "deleted"
        gone, files, size = len(self.deleted), self.num_files, self.num_bytes
        return f"{gone} of {len(self)} artifacts {would}: {files} files, {size} bytes"

    def __repr__(self) -> str:
        return f"<columnstone.lineage.Garbage: {self._summary()}>"

    @or_text
    def _repr_html_(self) -> str:
        rows = [(one.action, one.reference, one.type, one.reason) for one in self._rows]
        names = ("action", "artifact", "type", "reason")
        return titled(f"Garbage: {self._summary()}", table(names, rows))


def _file(path: bytes, **columns: Any) -> GarbageFile:
    return GarbageFile(path_of(path), **columns)


def _row_text(row: GarbageRow) -> str:
    why: Any = f": {row.reason}" if row.reason else ""
    return f"{row.action:6}  {printable(row.reference)} ({printable(row.type)}){why}"
