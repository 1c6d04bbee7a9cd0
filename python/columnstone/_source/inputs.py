"""Distinguishes the inputs of cst.open: paths, file objects, and objects that export Arrow
streams."""

from __future__ import annotations

import contextlib
import functools
import os
import stat
import threading
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from .._arrow.objects import is_arrow, is_dataset, is_rows
from .._arrow.pointers import exported
from .._base.errors import NotFoundError, UnsupportedError, argument_error
from .._base.files import as_inputs, is_file, name_of, path_bytes
from .._base.text import printable
from .._formats import registry
from .._formats.options import values_of
from .._io import urls
from .._lineage.choice import Held
from .split import Split

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    from .._formats.registry import Format
    from .._io.cache import Cache
    from .._io.rules import Rule
    from .._lineage.lease import Hold

    # (columns or None, batch_size, threads) -> an object with __arrow_c_stream__
    Open: TypeAlias = Callable[..., object]
    # (the name of an entry of _OPENERS, its arguments), which pickles without naming this module
    Opener: TypeAlias = tuple[str, tuple[Any, ...]]
    # (file, begin, end, exact)
    CoreSplit: TypeAlias = tuple[bytes, int, int, bool, int]


class Stream(NamedTuple):
    """An input that is opened as an Arrow stream, for the compiled part.

    open: called once per pass and once more for the schema; the call that needed the stream raises
        its exceptions.
    name: for errors.
    once: it can be opened only once.
    projects: it returns exactly the wanted columns in their order; otherwise they are selected
        afterwards.
    nested: open accepts paths=, which replaces columns.
    divides: open accepts split=, the bytes of a split.
    limits: open accepts max_inflation=.
    format: the registered format that open belongs to: open accepts its options.
    size: bytes of the file that is read, for max_inflation and max_record_size; 0: not a file.
    """

    open: Open
    name: bytes
    once: bool = False
    projects: bool = False
    nested: bool = False
    divides: bool = False
    limits: bool = False
    format: Format | None = None
    size: int = 0

    def core(
        self, paths: tuple[str, ...] | None, options: dict[str, Any]
    ) -> tuple[Open, bytes, bool, bool, int]:
        """The input for the compiled part, with only these paths (None: all). options: of the
        source."""
        opener = self.open
        if self.nested and paths is not None:
            opener = functools.partial(opener, paths=paths)
        if self.limits:
            opener = functools.partial(opener, max_inflation=options["max_inflation"])
        if self.format is not None:
            values = values_of(self.format, options["format_options"])
            opener = functools.partial(opener, options=values)
        return opener, self.name, self.once, self.projects, self.size


class Inputs(NamedTuple):
    """One of the first three is not None."""

    paths: tuple[bytes, ...] | None = None
    files: tuple[tuple[Any, bytes, bool], ...] | None = None
    streams: tuple[Stream, ...] | None = None
    pickle: tuple[bytes, ...] | None = None  # the paths to open again
    again: Opener | None = None  # of what is not paths
    format: str | None = None  # that was found, where the library does not look
    splits: tuple[CoreSplit, ...] | None = None  # what is read of them; None: all
    has_numbers: bool = True  # no stream begins in the middle of a file
    hold: Hold | None = None  # the lease on what is read

    @contextlib.contextmanager
    def kept(self) -> Iterator[None]:
        """Restores the inputs after something is read from them: file objects go back to their
        previous position. ArgumentError for inputs that can be read only once."""
        files = self.files or ()
        once = any(stream.once for stream in self.streams or ())
        if once or not all(seekable for _, _, seekable in files):
            raise argument_error(
                "the type of the stream is unknown before it is read", "use Query(stream.schema)"
            )
        places = [(file, file.tell()) for file, _, _ in files]
        try:
            yield
        finally:
            for file, place in places:
                file.seek(place)


class Place(NamedTuple):
    """The location of the inputs, if not on local disks: arguments of open."""

    filesystem: object | None = None
    query: str | None = None
    driver: str | None = None
    database_options: dict[str, str] | None = None
    rule: Rule | None = None  # which URLs may be opened
    cache: Cache | None = None  # of remote files


def resolve(what: object, format: str | None, place: Place | None = None) -> Inputs:
    """The inputs of a source from the first argument of open."""
    if place is None:
        place = Place()
    what = exported(what)
    if isinstance(what, Held):
        return _held(what.hold, resolve(what.paths, format, place), format)
    if isinstance(what, Iterator) and not is_file(what) and not is_arrow(what):
        what = list(what)
    if isinstance(what, Split):
        what = [what]
    check_names(what, place.rule, place.filesystem)
    if isinstance(what, list | tuple) and what and all(isinstance(item, Split) for item in what):
        return _splits(what, format, place)
    if place.query is not None or place.driver is not None or urls.is_database(what):
        from .._formats import adbc

        query = adbc.query_of(what, place.query, place.driver, place.database_options)
        return _database(*query)
    if place.database_options is not None:
        raise argument_error(
            "database_options is given, but the input is not a database", 'query="select ..."'
        )
    if is_dataset(what):
        return _dataset(what)
    if not is_arrow(what) and (isinstance(what, Mapping) or is_rows(what)):
        from .._arrow.as_arrow import as_arrow

        what = as_arrow(what)
    if place.filesystem is not None or is_remote(what):
        return _remote_files(what, format, place.filesystem, place.rule, place.cache)
    if is_arrow(what):
        return Inputs(streams=(stream_of(what),))
    if isinstance(what, list | tuple) and any(is_arrow(item) for item in what):
        return _streams(what)
    paths, files = as_inputs(what)
    if paths is None:
        return _parquet_files(files) if format == "parquet" and files else Inputs(files=files)
    return from_paths(paths, format)


def check_names(what: object, rule: Rule | None, filesystem: object) -> None:
    """The rule applies to file names, local ones included, and to databases, but not to objects."""
    if rule is None or not rule.refuses:
        return
    if filesystem is not None:
        raise argument_error("schemes and hosts are for URLs, but filesystem is given")
    for item in what if isinstance(what, list | tuple) else [what]:
        name = item.file if isinstance(item, Split) else item
        if isinstance(name, str | bytes | os.PathLike):
            rule.check(os.fsdecode(name))


def written_format(paths: tuple[bytes, ...], format: str | None) -> Format | None:
    """The format of the files, if it is implemented in Python."""
    if format is not None or paths[0] == b"-":
        return registry.by_name(format)
    return registry.by_bytes(expand(paths[:1])[0] if _is_glob(paths[0]) else paths[0])


def from_paths(paths: tuple[bytes, ...], format: str | None) -> Inputs:
    """Inputs by path: those of a format implemented in Python are opened with its function."""
    written = written_format(paths, format)
    if written is None:
        return Inputs(paths=paths, pickle=None if b"-" in paths else paths)
    files = expand(paths)
    keywords = {"nested": "paths", "divides": "split", "limits": "max_inflation"}
    flags: dict[str, Any] = {flag: name in written.takes for flag, name in keywords.items()}
    streams = tuple(
        Stream(
            functools.partial(_open_file, written, p),
            p,
            **flags,
            format=written if written.options else None,
            size=_size(p),
        )
        for p in files
    )
    return Inputs(streams=streams, pickle=files, format=written.name)


def _restore_paths(paths: tuple[bytes, ...], format: str | None, registered: bool) -> Inputs:
    if registered and registry.by_name(format) is None:
        hint = "import the module that calls columnstone.format.register"
        raise NotFoundError(f"no format {format!r} is registered ({hint})", hint=hint)
    return from_paths(paths, format)


# Artifacts


def _held(hold: Hold, inputs: Inputs, format: str | None) -> Inputs:
    """The inputs with the lease on them. If they cannot be opened again, neither can the lease."""
    again = inputs.again
    if again is None and inputs.pickle is not None:
        again = ("paths", (inputs.pickle, format, inputs.format is not None))
    if again is not None:
        again = ("held", (*hold.key, again))
    return inputs._replace(hold=hold, again=again)


def _hold_again(opening: tuple[Any, ...], artifacts: tuple[int, ...], again: Opener) -> Inputs:
    from .._lineage.lease import hold_again

    inputs = reopen(again)
    hold = hold_again(opening, artifacts)
    return inputs._replace(hold=hold, again=("held", (opening, artifacts, again)))


# Splits


def _splits(splits: Sequence[Split], format: str | None, place: Place) -> Inputs:
    """The files of splits, each once, and the parts of them to read."""
    files = tuple(dict.fromkeys(split.file for split in splits))
    whole = resolve(list(files), format, place)
    given = whole.paths or tuple(item[1] for item in whole.files or whole.streams or ())
    names = dict(zip(files, given, strict=True))
    if len(set(given)) < len(given):
        raise argument_error(
            "two of the URLs differ only in their parameters", "open them separately"
        )
    again = ("splits", (tuple(splits), format, place))
    if whole.streams is not None and all(stream.divides for stream in whole.streams):
        by_file = dict(zip(files, whole.streams, strict=True))
        streams = tuple(_part_of_stream(by_file[s.file], s) for s in splits)
        has_numbers = all(s.begin == 0 for s in splits)
        return whole._replace(again=again, streams=streams, has_numbers=has_numbers)
    parts = tuple((names[s.file], s.begin, s.end, s.exact, s.record) for s in splits)
    return whole._replace(again=again, splits=parts)


def _part_of_stream(stream: Stream, split: Split) -> Stream:
    opener = functools.partial(stream.open, split=(split.begin, split.end))
    return stream._replace(open=opener)


# Remote inputs


def _database(*fields: Any) -> Inputs:
    from .._formats import adbc

    query = adbc.Query(*fields)
    open_stream, name = adbc.stream_of(query)
    return Inputs(streams=(Stream(open_stream, name),), again=("database", tuple(query)))


def is_remote(what: object) -> bool:
    """True for URLs."""
    items = what if isinstance(what, list | tuple) and what else [what]
    return all(urls.is_remote(item) for item in items)


def _remote_files(
    what: object,
    format: str | None,
    filesystem: object | None,
    rule: Rule | None,
    cache: Cache | None,
) -> Inputs:
    """Files of a file system. Formats implemented in Python only read paths."""
    from .._formats import names
    from .._io.listing import open_files

    again = ("files", (what, format, filesystem, rule, cache))
    files = open_files(what, filesystem, rule, cache)
    name = format if format is not None else names.format_of(files)
    if name == "parquet":
        from .._formats.parquet.reader import open_remote

        streams = tuple(
            Stream(
                functools.partial(open_remote, f),
                name_of(f),
                nested=True,
                divides=True,
                limits=True,
                size=f.size or 0,
            )
            for f in files
        )
        return Inputs(streams=streams, again=again, format=name)
    if not files:
        raise argument_error("the list of files is empty")
    return Inputs(files=tuple((f, name_of(f), True) for f in files), again=again, format=name)


# Objects


def _dataset(dataset: object) -> Inputs:
    """A dataset of Hugging Face."""
    from .._arrow.huggingface import Rows

    name = f"<{type(dataset).__name__}>".encode()
    stream = Stream(lambda columns, batch_size, threads: Rows(dataset, batch_size), name)
    return Inputs(streams=(stream,), again=("dataset", (dataset,)))


def is_once(item: object) -> bool:
    """True for readers, whose first consumer uses up the stream; tables and frames return a new
    stream each time."""
    return any(
        hasattr(item, name) for name in ("__next__", "read_next_batch", "read_next", "read_all")
    )


def stream_of(item: object) -> Stream:
    name = f"<{type(item).__name__}>".encode("utf-8", "replace")
    return Stream(lambda columns, batch_size, threads: item, name, once=is_once(item))


def _parquet_files(files: tuple[tuple[object, bytes, bool], ...]) -> Inputs:
    """File objects of Parquet, the one format that must seek in them."""
    for _, name, can_seek in files:
        if not can_seek:
            shown = os.fsdecode(name)
            raise UnsupportedError(f"{shown}: Parquet needs a file object that can seek")
    return Inputs(streams=tuple(_parquet_stream(f, n) for f, n, _ in files), format="parquet")


def _parquet_stream(file: object, name: bytes) -> Stream:
    from .._formats.parquet.reader import open_stream

    opener = functools.partial(open_stream, file, threading.Lock(), os.fsdecode(name))
    return Stream(opener, name, nested=True, limits=True)


def _streams(items: list[object] | tuple[object, ...]) -> Inputs:
    for i, item in enumerate(items):
        if not is_arrow(item):
            raise TypeError(f"paths[{i}] is {type(item).__name__}, but others export Arrow streams")
    return Inputs(streams=tuple(stream_of(item) for item in items))


# Files of formats implemented in Python


def _open_file(
    format: Format,
    path: bytes,
    columns: list[str] | None,
    batch_size: int,
    threads: int,
    paths: tuple[str, ...] | None = None,
    split: tuple[int, int] | None = None,
    max_inflation: int | None = None,
    options: Mapping[str, Any] = MappingProxyType({}),
) -> object:
    given: dict[str, object] = {"columns": columns, "batch_size": batch_size, "threads": threads}
    given.update(paths=paths, split=split, max_inflation=max_inflation)
    wanted = {name: value for name, value in given.items() if name in format.takes}
    made = format.open(os.fsdecode(path), **wanted, **options)
    if not is_arrow(made):
        raise TypeError(
            f"open() of the format {format.name!r} returned {type(made).__name__}, which has no "
            "__arrow_c_stream__"
        )
    return made


def _size(path: bytes) -> int:
    """0 if it is not a regular file, or if the size is unknown; opening it will report the
    error."""
    try:
        info = os.stat(path)
    except OSError:
        return 0
    return info.st_size if stat.S_ISREG(info.st_mode) else 0


def _is_glob(path: bytes) -> bool:
    return any(c in path for c in b"*?[") and not os.path.lexists(path)


def expand(paths: tuple[bytes, ...]) -> tuple[bytes, ...]:
    """Globs resolved and sorted by bytes, as in the library; every file exists."""
    import glob

    found: list[bytes] = []
    for path in paths:
        if path == b"-":
            raise argument_error("formats written in Python cannot read standard input")
        if _is_glob(path):
            matches = sorted(glob.glob(path))
            if not matches:
                raise _missing(path, "no file matches", "check the pattern")
            found.extend(matches)
        elif not os.path.exists(path_bytes(path)):
            raise _missing(path, "there is no such file", "check the path")
        else:
            found.append(path)
    return tuple(found)


def _missing(path: bytes, what: str, hint: str) -> NotFoundError:
    name = os.fsdecode(path)
    shown = printable(name)
    return NotFoundError(f"{shown}: {what} ({hint})", file=name, hint=hint)


_OPENERS: dict[str, Callable[..., Inputs]] = {
    "paths": _restore_paths,
    "splits": _splits,
    "files": _remote_files,
    "database": _database,
    "dataset": _dataset,
    "held": _hold_again,
}


def reopen(opener: Opener) -> Inputs:
    """The inputs again, in another process too."""
    name, arguments = opener
    return _OPENERS[name](*arguments)
