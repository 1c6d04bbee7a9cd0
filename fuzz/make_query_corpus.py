#!/usr/bin/env python3
"""Writes the corpus of fuzz_query, corpus/query/: one small file per construct, and per refusal.

The same files come out of every run. The cases of the unit tests are taken as they are, so that a
new construct has a test and a seed at once.
"""

import ast
import pathlib
import re

import corpus_files

TOP = pathlib.Path(__file__).parent
TESTS = TOP.parent / "tests" / "unit"
STRING = r'"(?:[^"\\\n]|\\.)*"'
WHOLE = b"""# what the ranking model eats
from message shop.Session with enums = number, defaults = true
param longest: int64 = 512
let queries = event.query
let event.session_id = id
let clicks = event where clicked and price > 0
let num_clicks = size(clicks)
let event.log_price = log1p(event.price)
keep id, event.* depth 2
output label = dense(num_clicks, default=0)
output tokens = ragged(queries[:longest])
"""


def first_strings(path, start):
    """The first literal of each initialiser that begins so, unescaped as C does."""
    text = path.read_text(encoding="utf-8")
    for match in re.finditer(start + rf"({STRING})", text):
        yield ast.literal_eval("b" + match[1].replace("é", r"\xc3\xa9"))


def cases():
    yield "whole", WHOLE
    for i, text in enumerate(first_strings(TESTS / "test_expressions.c", r"      \{")):
        statement = text if text.startswith(b"let x") else b"let x = " + text
        yield f"expression-{i:03}", statement
    for i, text in enumerate(
        first_strings(TESTS / "test_statements.c", r"(?:      \{|check_query\()")
    ):
        yield f"statement-{i:03}", text
    yield "deep", b"output a = " + b"(" * 300 + b"b" + b")" * 300
    yield "deeper", b"output a = " + b"-" * 800 + b"b"
    yield "long", b"output a = b in [" + b"1, " * 300 + b"2]"


corpus_files.write(TOP / "corpus" / "query", cases(), corpus_files.noise(4, 14))
