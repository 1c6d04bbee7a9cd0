"""The query language as a tree of Python values: a parser of its own, and a printer that puts every
operation in parentheses. Shares nothing with Columnstone's.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any, NamedTuple


class BadQuery(Exception):
    """What the language does not allow."""


class Literal(NamedTuple):
    value: Any  # None, bool, int, float, str, bytes; a list of them for `in`


class Name(NamedTuple):
    name: str


class It(NamedTuple):
    pass


class Record(NamedTuple):
    pass


class Step(NamedTuple):
    base: Any
    name: str


class At(NamedTuple):
    base: Any
    index: Any


class Slice(NamedTuple):
    base: Any
    bounds: tuple[Any, Any, Any]


class Where(NamedTuple):
    base: Any
    condition: Any


class Call(NamedTuple):
    """Operators are calls, too: `a + b` is one of "add"."""

    name: str
    args: tuple[Any, ...]
    keys: tuple[tuple[str, Any], ...] = ()


class StructOf(NamedTuple):
    fields: tuple[tuple[str, Any], ...]


Expr = Literal | Name | It | Record | Step | At | Slice | Where | Call | StructOf


class Statement(NamedTuple):
    kind: str  # "from", "param", "let", "rows", "keep", "drop", "rename", "output"
    path: tuple[str, ...] = ()
    name: str = ""
    value: Any = None
    patterns: tuple[tuple[str, ...], ...] = ()
    depth: int | None = None
    type: str = ""


RESERVED = {"and", "or", "not", "in", "is", "null", "true", "false", "where", "it", "record"}
PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
TOKEN = re.compile(
    r"""(?:\s|\#[^\n]*)*
    (?:(?P<number>\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)
    |(?P<string>b?"(?:[^"\\]|\\.)*")
    |`(?P<quoted>(?:[^`]|``)*)`
    |(?P<word>[A-Za-z_][A-Za-z0-9_]*)
    |(?P<sign>==|!=|<=|>=|//|\*\*|[-+*/%<>=()\[\]{}:,.])
    |(?P<end>\Z))""",
    re.VERBOSE,
)
BINARY = [
    {"or": "or"},
    {"and": "and"},
    {},  # not
    {"==": "eq", "!=": "ne", "<": "lt", "<=": "le", ">": "gt", ">=": "ge"},
    {"+": "add", "-": "sub"},
    {"*": "mul", "/": "div", "//": "floordiv", "%": "mod"},
]
SIGNS = {name: sign for level in BINARY for sign, name in level.items()}
STATEMENTS = {"from", "param", "let", "rows", "keep", "drop", "rename", "output"}


class Token(NamedTuple):
    kind: str
    text: str
    start: int
    end: int


class Parser:
    def __init__(self, text: str) -> None:
        self.text = text
        self.next = self.token(0)

    def token(self, at: int) -> Token:
        found = TOKEN.match(self.text, at)
        if found is None:
            raise BadQuery(f"no token at {at}: {self.text[at : at + 20]!r}")
        kind = str(found.lastgroup)
        return Token(kind, found[kind], found.start(kind), found.end())

    def take(self) -> Token:
        taken = self.next
        if taken.kind == "end":
            raise BadQuery("the text ends too early")
        self.next = self.token(taken.end)
        return taken

    def sees(self, *texts: str) -> bool:
        return self.next.kind in ("sign", "word") and self.next.text in texts

    def accept(self, *texts: str) -> bool:
        if self.sees(*texts):
            self.take()
            return True
        return False

    def expect(self, text: str) -> None:
        if not self.accept(text):
            raise BadQuery(f"{text!r} was expected at {self.next.start}")

    def name(self) -> str:
        taken = self.take()
        if taken.kind == "quoted":
            return taken.text.replace("``", "`")
        if taken.kind != "word" or taken.text in RESERVED:
            raise BadQuery(f"a name was expected at {taken.start}")
        return taken.text

    def step(self) -> str:
        """A name, or (full.name), which is raw text up to its parenthesis."""
        if not self.sees("("):
            return self.name()
        end = self.text.index(")", self.next.start)
        step = self.text[self.next.start : end + 1]
        self.next = self.token(end + 1)
        return step

    # ---- statements ----

    def statements(self) -> list[Statement]:
        found = []
        while self.next.kind != "end":
            found.append(self.statement())
        return found

    def statement(self) -> Statement:
        kind = self.take().text
        if kind == "let":
            path = self.path()
            self.expect("=")
            return Statement("let", path, value=self.expression())
        if kind == "output":
            name = self.name()
            self.expect("=")
            return Statement("output", name=name, value=self.expression())
        if kind == "param":
            name = self.name()
            self.expect(":")
            of_list = self.accept("[")
            kind_of = self.name()
            if of_list:
                self.expect("]")
            value = self.expression() if self.accept("=") else None
            made = f"[{kind_of}]" if of_list else kind_of
            return Statement("param", name=name, value=value, type=made)
        if kind == "rows":
            return Statement("rows", self.path())
        if kind == "rename":
            path = self.path()
            self.expect("as")
            return Statement("rename", path, name=self.name())
        if kind in ("keep", "drop"):
            patterns = self.patterns()
            depth = int(self.take().text) if kind == "keep" and self.accept("depth") else None
            return Statement(kind, patterns=patterns, depth=depth)
        if kind == "from":
            return self.source()
        raise BadQuery(f"no statement begins with {kind!r}")

    def source(self) -> Statement:
        what = self.take().text
        name = ""
        if what == "message" and self.next.kind == "word":
            name = ".".join(self.path())
        if what == "table" and self.sees("["):
            depth, start = 0, self.next.start
            while True:
                taken = self.take()
                depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(taken.text, 0)
                if depth == 0:
                    return Statement("from", name=what, type=self.text[start : taken.end])
        if self.accept("with"):
            while True:
                self.name()
                self.expect("=")
                self.take()
                if not self.accept(","):
                    break
        return Statement("from", name=what, value=name)

    def path(self) -> tuple[str, ...]:
        steps = [self.step()]
        while self.accept("."):
            steps.append(self.step())
        return tuple(steps)

    def patterns(self) -> tuple[tuple[str, ...], ...]:
        found = [self.pattern()]
        while self.accept(","):
            found.append(self.pattern())
        return tuple(found)

    def pattern(self) -> tuple[str, ...]:
        steps: list[str] = []
        while True:
            if self.sees("*", "**"):
                return (*steps, self.take().text)
            steps.append(self.step())
            if not self.accept("."):
                return tuple(steps)

    # ---- expressions ----

    def expression(self, level: int = 0) -> Expr:
        if level == 2:
            if self.accept("not"):
                return Call("not", (self.expression(2),))
            return self.comparison()
        if level == len(BINARY):
            return self.unary()
        left = self.expression(level + 1)
        while self.sees(*BINARY[level]):
            name = BINARY[level][self.take().text]
            left = Call(name, (left, self.expression(level + 1)))
        return left

    def comparison(self) -> Expr:
        left = self.expression(4)
        if self.sees(*BINARY[3]):
            name = BINARY[3][self.take().text]
            return Call(name, (left, self.expression(4)))
        if self.accept("is"):
            negated = self.accept("not")
            self.expect("null")
            made = Call("is_null", (left,))
            return Call("not", (made,)) if negated else made
        if self.sees("in"):
            self.take()
            return Call("in", (left, self.expression(4)))
        if self.sees("not"):
            self.take()
            self.expect("in")
            return Call("not", (Call("in", (left, self.expression(4))),))
        return left

    def unary(self) -> Expr:
        if not self.accept("-"):
            return self.postfix()
        of = self.unary()
        if isinstance(of, Literal) and type(of.value) in (int, float):
            return Literal(-of.value)
        return Call("neg", (of,))

    def postfix(self) -> Expr:
        base = self.primary()
        while True:
            if self.accept("."):
                base = Step(base, self.step())
            elif self.accept("["):
                base = self.bracket(base)
            elif self.accept("where"):
                return Where(base, self.expression())
            else:
                return base

    def bracket(self, base: Expr) -> Expr:
        bounds: list[Any] = [None]
        while not self.accept("]"):
            if self.accept(":"):
                bounds.append(None)
            elif bounds[-1] is None:
                bounds[-1] = self.expression()
            else:
                raise BadQuery(f"']' was expected at {self.next.start}")
        if len(bounds) == 1 and bounds[0] is not None:
            return At(base, bounds[0])
        if len(bounds) > 3 or len(bounds) == 1:
            raise BadQuery("a slice has two or three bounds")
        return Slice(base, (bounds[0], bounds[1], bounds[2] if len(bounds) > 2 else None))

    def primary(self) -> Expr:
        token = self.next
        if token.kind == "number":
            text = self.take().text
            return Literal(int(text) if text.isdigit() else float(text))
        if token.kind == "string":
            return Literal(string_value(self.take().text))
        if self.accept("("):
            inner = self.expression()
            self.expect(")")
            return inner
        if self.accept("["):
            return Literal([literal_value(e) for e in self.listed("]", self.expression)])
        if self.accept("{"):
            return StructOf(tuple(self.listed("}", lambda: self.keyed(":"))))
        if token.kind == "word" and token.text in RESERVED:
            words: dict[str, Expr] = {
                "it": It(),
                "record": Record(),
                "true": Literal(True),
                "false": Literal(False),
                "null": Literal(None),
            }
            self.take()
            if token.text not in words:
                raise BadQuery(f"{token.text!r} begins no expression")
            return words[token.text]
        name = self.name()
        if token.kind == "word" and self.accept("("):
            return self.call(name)
        return Name(name)

    def listed(self, end: str, item: Callable[[], Any]) -> list[Any]:
        found: list[Any] = []
        while not self.accept(end):
            found.append(item())
            if not self.accept(","):
                self.expect(end)
                break
        return found

    def keyed(self, sign: str) -> tuple[str, Expr]:
        name = self.name()
        self.expect(sign)
        return name, self.expression()

    def call(self, name: str) -> Expr:
        args: list[Expr] = []
        keys: list[tuple[str, Expr]] = []
        while not self.accept(")"):
            token, after = self.next, self.token(self.next.end)
            if token.kind == "word" and after.text == "=" and after.kind == "sign":
                keys.append(self.keyed("="))
            elif name in ("only", "without") and args:
                steps = self.pattern()
                args.append(Literal(list(steps)))
            else:
                args.append(self.expression())
            if not self.accept(","):
                self.expect(")")
                break
        return Call(name, tuple(args), tuple(keys))


def literal_value(e: Expr) -> Any:
    if not isinstance(e, Literal):
        raise BadQuery("a list holds literals")
    return e.value


def string_value(text: str) -> str | bytes:
    quoted = text.lstrip("b")[1:-1]
    out = bytearray()
    simple = {"n": "\n", "t": "\t", "\\": "\\", '"': '"'}
    at = 0
    while at < len(quoted):
        if quoted[at] != "\\":
            out += quoted[at].encode()
            at += 1
        elif quoted[at + 1] == "x":
            out.append(int(quoted[at + 2 : at + 4], 16))
            at += 4
        elif quoted[at + 1] == "u":
            end = quoted.index("}", at)
            out += chr(int(quoted[at + 3 : end], 16)).encode()
            at = end + 1
        else:
            out += simple[quoted[at + 1]].encode()
            at += 2
    return bytes(out) if text.startswith("b") else out.decode()


def parse(text: str) -> list[Statement]:
    return Parser(text).statements()


def parse_expression(text: str) -> Expr:
    parser = Parser(text)
    made = parser.expression()
    if parser.next.kind != "end":
        raise BadQuery(f"nothing was expected at {parser.next.start}")
    return made


# ---- printing ----


def name_text(name: str) -> str:
    if name.startswith("(") and name.endswith(")"):
        return name
    if PLAIN.match(name) and name not in RESERVED:
        return name
    return "`" + name.replace("`", "``") + "`"


def path_text(path: tuple[str, ...]) -> str:
    return ".".join(step if step in ("*", "**") else name_text(step) for step in path)


def literal_text(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, list):
        return "[" + ", ".join(literal_text(v) for v in value) + "]"
    if isinstance(value, bytes):
        return 'b"' + "".join(f"\\x{c:02x}" for c in value) + '"'
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    return repr(value)


def expr_text(e: Expr) -> str:
    """In parentheses wherever they could matter."""
    if isinstance(e, Literal):
        return literal_text(e.value)
    if isinstance(e, Name):
        return name_text(e.name)
    if isinstance(e, It | Record):
        return type(e).__name__.lower()
    if isinstance(e, Step):
        return f"{postfix_text(e.base)}.{name_text(e.name)}"
    if isinstance(e, At):
        return f"{postfix_text(e.base)}[{expr_text(e.index)}]"
    if isinstance(e, Slice):
        a, b, c = ("" if x is None else expr_text(x) for x in e.bounds)
        return f"{postfix_text(e.base)}[{a}:{b}{':' + c if c else ''}]"
    if isinstance(e, Where):
        return f"({postfix_text(e.base)} where {expr_text(e.condition)})"
    if isinstance(e, StructOf):
        return "{" + ", ".join(f"{name_text(n)}: {expr_text(x)}" for n, x in e.fields) + "}"
    if e.name in SIGNS:
        return f"({expr_text(e.args[0])} {SIGNS[e.name]} {expr_text(e.args[1])})"
    if e.name == "in":
        return f"({expr_text(e.args[0])} in {expr_text(e.args[1])})"
    if e.name in ("not", "neg"):
        sign = "not " if e.name == "not" else "-"
        return f"({sign}{expr_text(e.args[0])})"
    patterns = e.name in ("only", "without")
    args = [expr_text(a) for a in e.args[: 1 if patterns else None]]
    args += [path_text(tuple(a.value)) for a in e.args[1:] if patterns]
    args += [f"{key}={expr_text(value)}" for key, value in e.keys]
    return f"{e.name}({', '.join(args)})"


def postfix_text(e: Expr) -> str:
    text = expr_text(e)
    plain = isinstance(e, Name | It | Record | Step | At | Slice) or text.startswith("(")
    return text if plain or (isinstance(e, Call) and e.name not in SIGNS) else f"({text})"


def statement_text(s: Statement) -> str:
    if s.kind == "let":
        return f"let {path_text(s.path)} = {expr_text(s.value)}"
    if s.kind == "output":
        return f"output {name_text(s.name)} = {expr_text(s.value)}"
    if s.kind == "param":
        value = "" if s.value is None else f" = {expr_text(s.value)}"
        return f"param {s.name}: {s.type}{value}"
    if s.kind == "rows":
        return f"rows {path_text(s.path)}"
    if s.kind == "rename":
        return f"rename {path_text(s.path)} as {name_text(s.name)}"
    if s.kind == "from":
        return f"from {s.name} {s.value or s.type}".rstrip()
    depth = "" if s.depth is None else f" depth {s.depth}"
    return f"{s.kind} {', '.join(path_text(p) for p in s.patterns)}{depth}"
