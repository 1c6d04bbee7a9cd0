"""An execution while it runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._base.errors import Error, StateError
from .._base.public import public_in
from .artifact import OF_EXECUTIONS, Artifact, Execution, check_own, execution_of
from .values import core_properties

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self

    from .. import _core
    from .connection import Connection
    from .values import CoreProperties, Value

_COMPLETE, _FAILED, _CANCELED = 1, 2, 3
_MOST = 1000  # characters of an error


@public_in("columnstone.lineage")
class Run:
    """An execution while it runs: `with store.execution("train", inputs=[...]) as run:`.

    At the end of the block, its state becomes "complete". If an exception leaves the block, it
    becomes "failed", and the property "error" names the exception; after a KeyboardInterrupt it
    becomes "canceled". During the block, a lease holds its inputs and outputs, and shows others
    that it runs; after a crash it ends as failed.
    """

    def __init__(
        self,
        connection: Connection,
        what: tuple[str, str | None, tuple[tuple[int, str | None], ...], CoreProperties],
        contexts: tuple[int, ...],
        lease_seconds: int,
    ) -> None:
        self._connection = connection
        self._what = what
        self._contexts = contexts
        self._lease_seconds = lease_seconds
        self._lease: _core.Lease | None = None
        self._id: int | None = None

    @property
    def id(self) -> int:
        """The id of the execution. StateError before the block has begun."""
        if self._id is None:
            hint = "with store.execution(...) as run:"
            raise StateError(f"the execution has not started ({hint})", hint=hint)
        return self._id

    @property
    def execution(self) -> Execution:
        """Looks the execution up again."""
        return execution_of(self._connection, self.id)

    def output(self, artifact: Artifact, path: str | None = None) -> Artifact:
        """Adds an output and returns it. path: the name of the output in the execution. An artifact
        that was added with pending=True becomes live when the execution is complete."""
        if not isinstance(artifact, Artifact):
            raise TypeError(f"an output must be an Artifact, not {type(artifact).__name__}")
        check_own(self._connection, artifact)
        self._connection.core.output(self.id, artifact.id, path)
        return artifact

    def set(self, **properties: Value) -> None:
        """Sets properties of the execution; others stay."""
        self._connection.core.set(OF_EXECUTIONS, self.id, core_properties(properties))

    def check(self) -> None:
        """StateError if its lease has expired, for example while the machine was suspended."""
        if self._lease is not None:
            self._lease.check()

    def __enter__(self) -> Self:
        if self._id is not None:
            raise StateError("the execution has already started")
        core = self._connection.core
        with self._connection.transaction():
            begun = core.start(*self._what, 0)
            for context in self._contexts:
                core.join(context, OF_EXECUTIONS, begun)
        self._id = begun
        inputs = tuple(dict.fromkeys(id for id, _ in self._what[2]))
        if self._connection.is_in_transaction:  # which others do not see
            return self
        try:
            self._lease = core.lease(inputs, None, self._lease_seconds, False, begun)
        except BaseException:
            core.finish(begun, _FAILED)
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        try:
            self._end(error)
        except Error as failure:
            if error is None:
                raise
            error.add_note(f"in addition, the execution {self._id} could not be ended: {failure}")
        finally:
            if self._lease is not None:
                self._lease.close()

    def _end(self, error: BaseException | None) -> None:
        core = self._connection.core
        if error is None:
            core.finish(self.id, _COMPLETE)
            return
        text = f"{type(error).__name__}: {error}"[:_MOST]
        core.set(OF_EXECUTIONS, self.id, (("error", _printable(text)),))
        core.finish(self.id, _CANCELED if isinstance(error, KeyboardInterrupt) else _FAILED)

    def __repr__(self) -> Any:
        kind, state = self._what[0], "not begun" if self._id is None else str(self._id)
        return f"<columnstone.lineage.Run of {kind!r}: {state}>"


def _printable(text: str) -> str:
    """The text without the characters that UTF-8 cannot represent."""
    return text.encode("utf-8", "backslashreplace").decode()
