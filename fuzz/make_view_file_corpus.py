#!/usr/bin/env python3
"""Writes the corpus of fuzz_view_file, corpus/view_file/: the contents of saved views, without
their frames, of one small query per construct.

    fuzz/make_view_file_corpus.py [COLUMNSTONE]    the program (build/release/cli/columnstone)

The same files come out of every run of the same version.
"""

import pathlib
import subprocess
import sys
import tempfile

import corpus_files

TOP = pathlib.Path(__file__).parent
TYPES = TOP.parent / "tests" / "data" / "messages" / "shop.desc"
HEAD, DIGEST = 16, 32

SESSION = "from message shop.Session "
MESSAGES = [
    "output x = id",
    "output x = user",
    "output x = at",
    "output x = device",
    "output x = labels",
    'output x = labels["a"]',
    "output x = card",
    "output x = coupon.code",
    "output x = extra.(shop.Coupon).percent",
    "output x = event",
    "output x = event.result",
    "output x = event.result.price",
    "output x = event[0].query",
    "output x = event[-1].result[0].sku",
    "output x = event[1:].query",
    "output x = (event where clicked).query",
    "output x = size(event)",
    "output x = has(event)",
    "output x = sum(event.price)",
    "output x = max(event.result.price, per=event)",
    'output x = join(event.query, ",")',
    "output x = index(event)",
    "output x = record_index()",
    "output x = reverse(event).query",
    "output x = sort(event, by=price, descending=true).query",
    "output x = only(event, query, clicked)",
    "output x = without(event, result, after)",
    "output x = flatten(event.result, to=record).sku",
    "output x = {a: id, b: user}",
    "output x = dense(id)",
    "output x = dense(event.price[:3], shape=[3], default=0.0)",
    "output x = sparse(event.price)",
    "output x = sparse(user)",
    "output x = ragged(event.query)",
    "output x = ragged(event.result.price, row_splits=int32)",
    "output x = struct(only(event, query, price))",
    "output x = log1p(event.price)",
    "output x = hash(user, 100)",
    'output x = split(user, " ")',
    "output x = cast(id, float32) / 3",
    "output x = id // 2 + id % 3",
    "output x = if(id > 3, 1, 0)",
    'output x = fill_null(user, "nobody")',
    "output x = id in [1, 2, 3]",
    "output x = user is null",
    "keep *",
    "keep event.**",
    "drop event rename id as number keep *",
    "rows event keep query, clicked",
    "rows event rows result output s = sku",
    "let event.session = id output x = event.session",
    "let clicks = event where clicked output n = dense(size(clicks), default=0)",
    "param longest: int64 = 512 output x = event.query[:longest]",
    'param names: [string] = ["a"] output x = user in names',
]
OPTIONS = [
    "from message shop.Session with form = json output x = id",
    "from message shop.Session with form = text, enums = number output x = device",
    "from message shop.Session with unknown_fields = rest output x = id",
    "from message shop.Event with defaults = true, nullable_lists = true output x = price",
]
TABLES = [
    "from table [{id: int64, event: [{q: string, p: float32}]}] output x = event.q",
    "from table [{a: [[float64]], b: bytes}] output x = a output y = b",
]


def contents():
    program = sys.argv[1] if len(sys.argv) > 1 else TOP.parent / "build/release/cli/columnstone"
    texts = [SESSION + text for text in MESSAGES] + OPTIONS + TABLES
    with tempfile.TemporaryDirectory() as folder:
        query = pathlib.Path(folder, "q.cstq")
        view = pathlib.Path(folder, "v.cstv")
        for i, text in enumerate(texts):
            query.write_text(text, encoding="utf-8")
            of = [] if "from table" in text else ["--proto-set", TYPES]
            done = subprocess.run(
                [program, "view", "build", query, "-o", view, *of], capture_output=True, check=False
            )
            if done.returncode != 0:
                sys.exit(f"{text}\n{done.stderr.decode()}")
            yield f"{i:02}", view.read_bytes()[HEAD:-DIGEST]


if __name__ == "__main__":
    corpus_files.write(TOP / "corpus" / "view_file", contents())
