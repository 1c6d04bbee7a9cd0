#!/usr/bin/env python3
"""Writes the corpus of fuzz_query_run: corpus/query_run/, one small file per query and batch.

The language is that of fuzz_query_run.c; nodes are those of fuzz_arrow. The same files come out of
every run.
"""

import itertools
import pathlib

import corpus_files
from make_arrow_corpus import VALIDITY, fill, leaves, lists, node, number
from make_structured_corpus import structs

FOLDER = pathlib.Path(__file__).parent / "corpus" / "query_run"

# Of rows {x: [{x: number, i: [leaf]}], i: number, n: bool}.
QUERIES = [
    "keep **",
    "output o = x.i",
    "let a = x.x output o = a",
    "let a = x.i output o = a output p = size(a)",
    "let x.a = i output o = x.a",
    "let x.a = i + x.x output o = x.a",
    "let c = x where x > 1 output o = c.i output p = size(c)",
    "let x.c = i where it > 1 output o = x.c",
    "rows x output o = i output p = x",
    "rows x output o = record_index()",
    "rows x.i output o = it",
    "output o = x[1:].i",
    "output o = x[::-1].x output p = x[:-1:2].i",
    "output o = x[0].i output p = x[-1].x",
    "output o = x[i].x output p = x[i:].x",
    "output o = reverse(x).i",
    "output o = sort(x, by=x).i",
    "output o = sort(x.i) output p = sort(x.x, descending=true)",
    "output o = sum(x.x) output p = mean(x.x) output q = max(x.x)",
    "output o = count(x.i) output p = has(x) output q = size(x.i)",
    "output o = first(x.i) output p = last(x.i)",
    "output o = index(x) output p = index_from_end(x)",
    "let z = zip(a=x.x, b=x.i) output o = z.a",
    "output o = dense(x.x, shape=[3], default=0)",
    "output o = dense(x.x, shape=[2])",
    "output o = dense(i)",
    "output o = dense(x.x[:2], shape=[2], default=7)",
    "output o = sparse(x.x) output p = sparse(x.i)",
    "output o = ragged(x.x, default=1) output p = ragged(x.i)",
    "output o = struct(x)",
    "output o = drop_null(x.x)",
    "output o = flatten(x.i, to=x)",
    "output o = {a: i, b: x}",
    "output o = x.x // i",
    "output o = x.x * x.x * x.x",
    "output o = cast(x.x, string)",
    "output o = if(x.x > 2, x.x, i)",
    "output o = x where n",
    "drop x.i rename x as y output o = y",
    "let a = x let a.b = size(a.i) output o = a.b",
    "output o = cast(i, string) + cast(i, string)",
    'output o = split(cast(i, string), "1")',
    'output o = join(cast(x.x, string), ",")',
    "param p: int64 = 1 output o = x[p:].x",
    "let a = x.x in [1, 2] output o = a",
    "output o = x.x is null",
    "output o = only(x, i) output p = without(x, i)",
]


def integers(length, *values, **more):
    pattern = b"".join(value.to_bytes(8, "little") for value in values)
    return number("l", length, *pattern, **more)


def batch(rows, leaf, kind="+L", **more):
    inner = structs(2 * rows, integers(2 * rows, 1, 3), lists(kind, 2 * rows, 2, leaf), **more)
    outer = lists(kind, rows, 2, inner, **more)
    return structs(rows, outer, integers(rows, 1, 2), node("b", rows))


def program(query, node, flags=0):
    return query.encode() + b"\0" + bytes([flags]) + node


def each_query():
    leaf = integers(12, 2, 5)
    nulls = {"flags": VALIDITY, "validity": fill(0x2B)}
    for i, query in enumerate(QUERIES):
        yield f"query-{i:02}", program(query, batch(3, leaf))
        yield f"nulls-{i:02}", program(query, batch(3, integers(12, 3, **nulls), **nulls))


def each_type():
    for name, leaf in leaves(12):
        query = "let a = x.i output o = a[1:] output p = sort(x, by=x).i"
        yield f"type-{name}", program(query, batch(3, leaf))
    for kind in ("+l", "+vl", "+vL", "+w:2", "+m"):
        column = batch(3, integers(12, 5), kind)
        query = "let c = x where x > 1 output o = c.i output p = x"
        yield f"lists-{kind[1:].replace(':', '')}", program(query, column)


def growing():
    """Texts and lists that double with every let: refused before they take memory."""
    names = "abcdefghijklmnopqrstuvwxyz"
    texts = [f"let {new}{new} = {old}{old} + {old}{old}" for old, new in itertools.pairwise(names)]
    lists_of = [
        f"let x.{new}{new} = {old}{old}{old} let {new}{new}{new} = x.{new}{new}"
        for old, new in itertools.pairwise(names[:12])
    ]
    rows = batch(3, integers(12, 1))
    yield "texts", program(" ".join(["let aa = cast(i, string)", *texts, "output o = zz"]), rows)
    yield "lists", program(" ".join(["let aaa = x.i", *lists_of, "output o = lll"]), rows)


def damaged():
    whole = batch(2, integers(8, 1))
    for at in range(0, len(whole), 3):
        bad = whole[:at] + bytes([whole[at] ^ 0x41]) + whole[at + 1 :]
        yield f"damaged-{at:03}", program("keep **", bad, 1)


if __name__ == "__main__":
    corpus_files.write(
        FOLDER, each_query(), each_type(), growing(), damaged(), corpus_files.noise(4, 15)
    )
