"""Columnstone's queries against the reference: what is wrong with a program, and the smallest one
with the same fault."""

from __future__ import annotations

import re
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import columnstone as cst
import pyarrow as pa
import query_data
import query_syntax as syntax
from query_programs import Program
from query_reference import Query
from query_reference_functions import Failed, Refused
from query_syntax import BadQuery, Statement

SIZES = (1, 7)
# Whether a list that is let into a struct below is one with another depends on nulls.
OTHER_LISTS = re.compile("stand in|several values|another list|one value|lists of the same structs")
# What asks for no values does not compute them.
LAZY = re.compile(r"\b(index|index_from_end|size|has|count|zip|only|without)\(|\{")
LINES = re.compile(r" +\(line \d+\)")


class Difference(Exception):
    """What is wrong."""


def check(program: Program, refused: bool = False) -> None:
    """Raises Difference."""
    if refused:
        try:
            bound(program).view(program.params)
        except cst.Error:
            return
        raise Difference("taken, not refused")
    expected = program.understood()
    try:
        query = bound(program)
        view = query.view(program.params)
    except cst.errors.SchemaError as error:
        if expected.has_own_lists and OTHER_LISTS.search(str(error)):
            return
        raise
    except cst.errors.UnsupportedError as error:
        if "no values that a tensor can hold" in str(error):
            return  # structs without any field
        raise
    if view.outputs != tuple(c.name for c in expected.columns):
        raise Difference(f"columns {view.outputs}, not {[c.name for c in expected.columns]}")
    check_builder(program, query)
    check_values(program, expected, view)
    check_saved(program, view)


def bound(program: Program) -> cst.Query:
    if program.case is not None:
        return cst.Query.from_text(program.text, descriptors=program.case.descriptors)
    assert program.batch is not None
    return cst.Query.from_text(program.text, type=program.batch.schema)


# ---- the same query, made otherwise ----


def check_builder(program: Program, query: cst.Query) -> None:
    if program.case is not None:
        made = cst.Query(program.case.message, descriptors=program.case.descriptors)
    else:
        assert program.batch is not None
        made = cst.Query(program.batch.schema)
    for s in program.statements:
        made = built(made, s)
    again = cst.Query.from_text(query.text)
    if not query.text == made.text == again.text:
        raise Difference(f"text\n{query.text}\nbuilder\n{made.text}\nagain\n{again.text}")
    if not any(s.kind == "param" and s.value is None for s in program.statements):
        plans = {LINES.sub("", q.explain()) for q in (query, made)}
        if len(plans) > 1:
            raise Difference("plans differ\n" + "\n".join(plans))


def built(query: cst.Query, s: Statement) -> cst.Query:
    path = syntax.path_text(s.path)
    if s.kind == "param":
        return query.param(s.name, s.type, None if s.value is None else s.value.value)
    if s.kind == "let":
        return query.let(path, syntax.expr_text(s.value))
    if s.kind == "rows":
        return query.rows(path)
    if s.kind == "rename":
        return query.rename(path, s.name)
    if s.kind == "output":
        return query.output(s.name, syntax.expr_text(s.value))
    patterns = [syntax.path_text(p) for p in s.patterns]
    return query.keep(*patterns, depth=s.depth) if s.kind == "keep" else query.drop(*patterns)


# ---- values ----


def run(view: cst.View, program: Program, rows: Sequence[int] | None = None) -> pa.RecordBatch:
    if program.case is not None:
        given: Any = list(program.serialized)
        given = given if rows is None else [given[i] for i in rows]
        made = view.run(given)
    else:
        assert program.batch is not None
        batch = program.batch
        if rows is not None:
            if list(rows) == list(range(rows[0], rows[-1] + 1)) if rows else True:
                batch = batch.slice(rows[0] if rows else 0, len(rows))
            else:
                batch = taken(batch, rows)
        made = view.run(batch)
    result = pa.record_batch(made)
    result.validate(full=True)
    return result


def taken(batch: pa.RecordBatch, rows: Sequence[int]) -> pa.RecordBatch:
    """pyarrow cannot take of every type."""
    if not rows:
        return batch.slice(0, 0)
    table = pa.concat_tables([pa.Table.from_batches([batch.slice(i, 1)]) for i in rows])
    return table.combine_chunks().to_batches()[0]


def check_values(program: Program, expected: Query, view: cst.View) -> None:
    """Records that fail are told of, and then left out."""
    results = expected.run(program.records)
    bad = [i for i, r in enumerate(results) if isinstance(r, Failed)]
    good = [i for i, r in enumerate(results) if not isinstance(r, Failed)]
    if bad:
        check_failure(view, program, bad)
    rows = good if bad else None
    results = expected.run([program.records[i] for i in good])
    if any(isinstance(r, Failed) for r in results) or not good:
        return  # by their new numbers; a constant fails without any record
    batch = run(view, program, rows)
    compare(batch, expected, results)
    check_projected(program, expected, rows)
    numbered = "record_index" in program.text
    for size in SIZES:
        if not numbered and len(good) > size:
            for i in range(0, len(good), size):
                part = run(view, program, good[i : i + size])
                compare(part, expected, results[i : i + size], f"in batches of {size}")
    check_threads(view, program, rows, batch)


def check_failure(view: cst.View, program: Program, bad: Sequence[int]) -> None:
    try:
        run(view, program)
    except cst.Error as error:
        if error.record not in bad:
            raise Difference(f"record {error.record} refused, not one of {bad}: {error}") from None
        return
    if not LAZY.search(program.text):
        raise Difference(f"the records {bad} are taken")


def compare(batch: pa.RecordBatch, expected: Query, results: Sequence[Any], how: str = "") -> None:
    rows = [row for result in results for row in result]
    names = batch.schema.names
    for c in expected.columns:
        kind = query_data.expected_type(c)
        found = query_data.kind_text(batch.schema.field(c.name).type) if c.name in names else None
        if kind is not None and found != kind:
            raise Difference(f"{c.name} is {found}, not {kind}")
        ours = query_data.values_of(batch, c)
        wanted = [row[c.name] for row in rows]
        if not query_data.rows_equal(ours, wanted):
            raise Difference(f"{c.name} {how}\ngot      {ours}\nexpected {wanted}")


def check_projected(program: Program, expected: Query, rows: Sequence[int] | None) -> None:
    """Each output alone."""
    query = bound(program)
    records = program.records if rows is None else [program.records[i] for i in rows]
    for c in expected.columns:
        view = query.view(program.params, outputs=[c.name])
        wanted = [row[c.name] for r in expected.run(records, [c.name]) for row in r]
        ours = query_data.values_of(run(view, program, rows), c)
        if not query_data.rows_equal(ours, wanted):
            raise Difference(f"{c.name} alone\ngot      {ours}\nexpected {wanted}")


def check_threads(
    view: cst.View, program: Program, rows: Sequence[int] | None, batch: pa.RecordBatch
) -> None:
    """Two at once give what one gave."""
    found: list[Any] = [None, None]

    def work(i: int) -> None:
        found[i] = run(view, program, rows)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(2)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    if any(f is None or text_of(f) != text_of(batch) for f in found):
        raise Difference("two threads give something else")


def check_source(program: Program) -> None:
    """A file of the messages that is read through the saved view, by batches and threads; bad
    records are left out."""
    assert program.case is not None
    expected = program.understood()
    results = expected.run(program.records)
    rows = [row for r in results if not isinstance(r, Failed) for row in r]
    with tempfile.TemporaryDirectory() as folder:
        file, saved = f"{folder}/x.tfrecord", f"{folder}/x.cstv"
        bound(program).view(program.params).save(saved)
        with cst.codec.TFRecordWriter(file) as writer:
            for record in program.serialized:
                writer.write(record)
        for size, threads in [(1, 1), (2, 2)]:
            source = cst.open(file, view=saved, batch_size=size, threads=threads, on_error="skip")
            batches = [pa.record_batch(b) for b in source]
            for c in expected.columns:
                ours = [v for b in batches for v in query_data.values_of(b, c)]
                wanted = [row[c.name] for row in rows]
                if not query_data.rows_equal(ours, wanted):
                    how = f"{c.name} of a file, {threads} threads"
                    raise Difference(f"{how}\ngot      {ours}\nexpected {wanted}")


def text_of(batch: pa.RecordBatch) -> str:
    return str([c.to_pylist() for c in batch.columns])


def check_saved(program: Program, view: cst.View) -> None:
    data = view.to_bytes()
    again = cst.View(data)
    if again.to_bytes() != data or again.digest != view.digest or again.text != view.text:
        raise Difference("a saved view is not what it was")
    try:
        batch = run(view, program)
    except cst.Error as error:
        try:
            run(again, program)
        except cst.Error as other:
            if (type(error), error.record) != (type(other), other.record):
                raise Difference(f"saved: {other}, not {error}") from None
            return
        raise Difference("a saved view takes what it did not") from None
    if text_of(run(again, program)) != text_of(batch):
        raise Difference("a saved view gives something else")


# ---- the smallest program ----


def fault(program: Program, refused: bool = False) -> str | None:
    try:
        check(program, refused)
    except Difference as error:
        return f"{error}"
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return None


def kind_of(text: str) -> str:
    return text.split(":")[0][:12]


def shrunk(program: Program, refused: bool, most: int = 600) -> Program:
    """With as little left as shows a fault of the same kind."""
    wrong = fault(program, refused)
    assert wrong is not None
    tries = 0
    changed = True
    while changed and tries < most:
        changed = False
        for smaller in smaller_programs(program):
            tries += 1
            if tries >= most:
                break
            try:
                smaller.understood()
                taken = True
            except (Refused, BadQuery):
                taken = False
            if taken == refused:
                continue
            found = fault(smaller, refused)
            if found is not None and kind_of(found) == kind_of(wrong):
                program, changed = smaller, True
                break
    return program


def smaller_programs(p: Program) -> Iterator[Program]:
    for i in reversed(range(len(p.statements))):
        kinds = {s.kind for k, s in enumerate(p.statements) if k != i}
        if p.case is not None and not kinds & {"output", "keep"}:
            continue  # all of a message may have no end
        yield p._replace(statements=p.statements[:i] + p.statements[i + 1 :])
    for i in range(len(p.records)):
        if p.batch is not None:
            rows = [k for k in range(len(p.records)) if k != i]
            yield p._replace(batch=taken(p.batch, rows), records=[p.records[k] for k in rows])
        else:
            yield p._replace(
                serialized=[*p.serialized[:i], *p.serialized[i + 1 :]],
                records=[*p.records[:i], *p.records[i + 1 :]],
            )
    for i, s in enumerate(p.statements):
        for smaller in smaller_values(s.value):
            statements = list(p.statements)
            statements[i] = s._replace(value=smaller)
            yield p._replace(statements=statements)


def smaller_values(e: Any) -> Iterator[Any]:
    """The expression without one of its operations."""
    if not isinstance(e, tuple) or isinstance(e, syntax.Literal | syntax.Name):
        return
    for child in children(e):
        yield child
    for rebuild, child in parts(e):
        for smaller in smaller_values(child):
            yield rebuild(smaller)


def children(e: Any) -> list[Any]:
    return [child for _, child in parts(e)]


def parts(e: Any) -> list[tuple[Callable[[Any], Any], Any]]:
    if isinstance(e, syntax.Call):
        found: list[tuple[Callable[[Any], Any], Any]] = []
        for i, a in enumerate(e.args):
            found.append((lambda x, i=i: e._replace(args=(*e.args[:i], x, *e.args[i + 1 :])), a))
        for i, (key, a) in enumerate(e.keys):
            found.append(
                (
                    lambda x, i=i, key=key: e._replace(
                        keys=(*e.keys[:i], (key, x), *e.keys[i + 1 :])
                    ),
                    a,
                )
            )
        return found
    if isinstance(e, syntax.Slice):
        return [(lambda x: e._replace(base=x), e.base)]
    if isinstance(e, syntax.StructOf):
        return [
            (lambda x, i=i, n=n: syntax.StructOf((*e.fields[:i], (n, x), *e.fields[i + 1 :])), f)
            for i, (n, f) in enumerate(e.fields)
        ]
    return [
        (lambda x, n=n: e._replace(**{n: x}), getattr(e, n))
        for n in e._fields
        if isinstance(getattr(e, n), tuple)
    ]


def report(program: Program, refused: bool) -> str:
    """For people: what to run to see it again."""
    small = shrunk(program, refused)
    data: Any = (
        [r.hex() for r in small.serialized] if small.batch is None else small.batch.to_pylist()
    )
    of = small.case.descriptors.hex() if small.case else small.batch.schema  # type: ignore[union-attr]
    return f"{small.text}\n--\n{fault(small, refused)}\n--\nrecords {data}\nof {of}"
