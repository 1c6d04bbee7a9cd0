"""Expressions of struct2tensor as queries.

An expression is a graph of nodes; each node knows the nodes that it was made from. Nodes of the
message itself become paths. The others become `let` statements, in the order of their dependencies.
They are placed where they are in the tree or, if they are not in the tree any more, next to their
origin. Nodes that only choose paths (project, limit_depth) determine the outputs.

Classes are recognized by their names and modules, and read through their attributes: this module
imports neither struct2tensor nor TensorFlow.
"""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any, NamedTuple

from .. import _core
from .._base.errors import UnsupportedError
from .text import below, joined, name_of, steps_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

# Nodes that add something to other nodes or remove something from them, and the attribute with
# these nodes.
_SAME = {
    "_AddPathsExpression": "_origin",
    "_ProjectExpression": "_origin",
    "_DepthLimitExpression": "_origin",
    "_SchemaExpression": "_original",
    "_SchemaRootExpression": "_original",
    "_SchemaChildExpression": "_original",
}
_ROOT = "_ProtoRootExpression"
_MESSAGE = ("_ProtoLeafExpression", "_ProtoChildExpression")
_PRENSOR = "_DirectExpression"  # a node of one, the root as well
# Descendants of a node that an operation has copied.
_COPIES = ("_RecalculateExpression", "_FilterChildByParentIndicesToKeepExpression")

# TensorFlow's functions for map, by their exported names.
_UNARY = {
    name: name
    for name in (
        [
            "abs",
            "sign",
            "floor",
            "ceil",
            "round",
            "sqrt",
            "exp",
            "expm1",
            "log",
            "log1p",
            "sigmoid",
            "tanh",
            "is_nan",
            "is_finite",
        ]
    )
} | {"neg": "-{}", "negative": "-{}", "logical_not": "not {}"}
_BINARY = {
    "add": "+",
    "subtract": "-",
    "multiply": "*",
    "divide": "/",
    "floordiv": "//",
    "floormod": "%",
    "floor_div": "//",
    "floor_mod": "%",
    "equal": "==",
    "not_equal": "!=",
    "less": "<",
    "less_equal": "<=",
    "greater": ">",
    "greater_equal": ">=",
    "logical_and": "and",
    "logical_or": "or",
}


class Said(NamedTuple):
    """An expression as a query: its source and its statements."""

    source: Any  #: the descriptor of the messages, or the Arrow schema of a prensor
    message_options: dict[str, str]
    lets: list[tuple[str, str]]
    rows: str  #: "": none
    kept: list[str]


def said_by(expression: Any) -> Said:
    """Collects the statements of a query for an expression."""
    if not hasattr(expression, "known_field_names") or not hasattr(expression, "get_child"):
        raise TypeError(f"expected an expression of struct2tensor, not {type(expression).__name__}")
    root = _root_of(expression)
    made = _Made(root)
    kept = made.keep(expression)
    above = len(steps_of(made.rows))
    is_text = getattr(root, "_message_format", "") == "text"
    return Said(
        root._descriptor if type(root).__name__ == _ROOT else _schema_of(root),
        {"form": "text"} if is_text else {},
        made.lets,
        made.rows,
        [joined(steps_of(path)[above:]) for path in kept],
    )


class _Made:
    """The `let` statements, in order."""

    def __init__(self, root: Any) -> None:
        self.lets: list[tuple[str, str]] = []
        self.rows = ""  # the path of the root, if it is not that of the messages
        self._paths: dict[int, str] = {}  # of nodes, by id
        self._nodes: list[Any] = []  # which hold the ids
        self._taken: set[str] = set()
        if type(root).__name__ == _PRENSOR:
            self._know(root, "")

    def _know(self, node: Any, path: str) -> None:
        """The paths of a prensor's nodes, which do not know their parents."""
        self._nodes.append(node)
        self._paths[id(node)] = path
        for step, child in _children_of(node):
            self._know(child, below(path, _step(step)))

    def keep(self, root: Any) -> list[str]:
        """Adds everything that the expression contains, and returns the paths of its leaves."""
        self.rows = self._path(root, None)
        kept = list(self._leaves(root, self.rows, ()))
        if not kept:
            raise UnsupportedError("the expression has no known fields")
        return kept

    def _leaves(self, node: Any, path: str, above: tuple[str, ...]) -> Iterable[str]:
        for step in sorted(node.known_field_names(), key=str):
            child = node.get_child(step)
            if not isinstance(step, str):
                continue  # what an operation has left for itself
            place = below(path, _step(step))
            made = self._path(child, place)
            if child.is_leaf:
                yield made
                continue
            kind = _type_of(child)
            if kind is not None and kind in above:
                raise UnsupportedError(
                    f"{made}: messages of the type {kind} contain themselves, so that not all of "
                    "their fields can be used (choose fields with project)",
                    path=made,
                    hint="choose fields with project",
                )
            yield from self._leaves(child, made, above if kind is None else (*above, kind))

    # Paths of nodes

    def _path(self, node: Any, place: str | None, parent: Any = None) -> str:
        """The path of a node. A node that is not part of the message is defined at `place` (None:
        next to its origin). `parent` is the node above it, if known."""
        node = _bare(node)
        found = self._paths.get(id(node))
        if found is None:
            found = self._new_path(node, place)
            self._nodes.append(node)
            self._paths[id(node)] = found
        if parent is not None:
            return below(self._path(parent, None), steps_of(found)[-1])
        return found

    def _new_path(self, node: Any, place: str | None) -> str:
        kind = type(node).__name__
        if kind in _MESSAGE:
            return self._message_path(node)
        if kind == _ROOT:
            return ""
        if kind == "_RerootExpression":
            return self._path(node._new_root, None)
        if kind in _COPIES:
            return below(
                self._path(node._parent, None), steps_of(self._path(node._origin, None))[-1]
            )
        maker = getattr(self, "_make" + kind.strip("_"), None)
        if maker is None:
            raise _unsupported(kind, place)
        struct, text = maker(node, place)
        return self._let(struct, text, place)

    def _message_path(self, node: Any) -> str:
        above = self._path(node._parent, None)
        name, key = _key_of(node.name_as_field)
        if key is None:
            return below(above, name)
        raise UnsupportedError(
            f"for the value of a key of the map {name}, use let: "
            f"let(\"x\", '{below(above, name)}[{key!r}]')",
            path=below(above, name),
        )

    def _let(self, struct: str, text: str, place: str | None) -> str:
        if place is None or joined(steps_of(place)[:-1]) != struct:
            place = below(struct, f"made_{len(self.lets) + 1}")
        if place in self._taken:
            raise UnsupportedError(f"{place} is defined twice", path=place)
        self._taken.add(place)
        self.lets.append((place, text))
        return place

    # Operations: the struct of the result, and the expression

    def _makePromoteExpression(self, node: Any, place: str | None) -> tuple[str, str]:
        """A missing value is not a list element in struct2tensor, but a null here."""
        path = self._path(node._origin, None, node._origin_parent)
        leaves_out = node._origin_parent.is_repeated and not node._origin.is_repeated
        text = f"drop_null({path})" if leaves_out else path
        return _struct_of(self._path(node._origin_parent, None)), text

    _makePromoteChildExpression = _makePromoteExpression

    def _makeBroadcastExpression(self, node: Any, place: str | None) -> tuple[str, str]:
        return self._path(node._sibling, None), self._path(node._origin, None)

    _makeBroadcastChildExpression = _makeBroadcastExpression

    def _makeFilterByChildExpression(self, node: Any, place: str | None) -> tuple[str, str]:
        path = self._path(node._origin, None)
        if not node._origin.is_repeated and len(steps_of(path)) > 1:
            raise _unsupported("a filter of an optional message within another", place)
        condition = steps_of(self._path(node._child, None))[-1]
        return _struct_of(path), f"{path} where it.{condition}"

    def _makeFilterBySiblingExpression(self, node: Any, place: str | None) -> tuple[str, str]:
        path = self._path(node._origin, None)
        repeated = node._origin.is_repeated
        bounds = _slice_of(node)
        if bounds is not None and repeated:
            return _struct_of(path), f"{path}[{bounds}]"
        if not repeated and (bounds is not None or not node._origin.is_leaf):
            raise _unsupported("a filter or a slice of an optional message", place)
        by = self._path(node._sibling, None)
        if not repeated:
            return _struct_of(path), f"if({by}, {path}, null)"
        return _struct_of(path), f"(zip(value={path}, chosen={by}) where chosen).value"

    def _makeSizeExpression(self, node: Any, place: str | None) -> tuple[str, str]:
        path = self._path(node._origin, None, node._origin_parent)
        size = f"size({path})" if node._origin.is_repeated else f"if(has({path}), 1, 0)"
        return _struct_of(path), size

    def _makePositionalIndexExpression(self, node: Any, place: str | None) -> tuple[str, str]:
        path = self._path(node._origin, None)
        if not node._origin.is_repeated:
            raise _unsupported("the position of an optional field", place)
        return _struct_of(path), f"index({path})"

    def _makePositionalIndexFromEndExpression(
        self, node: Any, place: str | None
    ) -> tuple[str, str]:
        origin = _bare(node._positional_index)._origin
        path = self._path(origin, None)
        if not origin.is_repeated:
            raise _unsupported("the position of an optional field", place)
        return _struct_of(path), f"index_from_end({path})"

    def _makeInputProtoIndexExpression(self, node: Any, place: str | None) -> tuple[str, str]:
        return self._path(node._root, None), "record_index()"

    def _makeMapValuesExpression(self, node: Any, place: str | None) -> tuple[str, str]:
        sources = [_bare(source) for source in node._origin]
        if type(sources[0]).__name__ == "SizeExpression" and _is_of(node._operation, "size"):
            counted = sources[0]
            path = self._path(counted._origin, None, counted._origin_parent)
            return _struct_of(path), f"has({path})"
        paths = [self._path(source, None) for source in sources]
        return _struct_of(paths[0]), _call_of(node._operation, paths, place)


def _bare(node: Any) -> Any:
    """The node without additions and removals."""
    while type(node).__name__ in _SAME:
        node = getattr(node, _SAME[type(node).__name__])
    return node


def _root_of(expression: Any) -> Any:
    """The root of the messages or of the prensor."""
    node = _bare(expression)
    while type(node).__name__ == "_RerootExpression":
        node = _bare(node._original_root)
    if type(node).__name__ not in (_ROOT, _PRENSOR):
        raise UnsupportedError(
            f"the expression begins with {type(node).__name__}, but a query with messages or a "
            "prensor (create_expression_from_proto, create_expression_from_prensor)"
        )
    return node


def _children_of(node: Any) -> list[tuple[str, Any]]:
    """The children of a prensor's node, with their names."""
    return [(step, child) for step, child in node._children.items() if isinstance(step, str)]


# Formats of the C data interface, by TensorFlow's names of types.
_FORMATS = {
    "bool": b"b",
    "int8": b"c",
    "uint8": b"C",
    "int16": b"s",
    "uint16": b"S",
    "int32": b"i",
    "uint32": b"I",
    "int64": b"l",
    "uint64": b"L",
    "float16": b"e",
    "float32": b"f",
    "float64": b"g",
    "string": b"Z",
}
_NULLABLE = 2


def _schema_of(root: Any) -> _core.ArrowSchema:
    """The schema of the batches that a prensor represents: a repeated field is a list, any other
    field is nullable."""
    return _core.ArrowSchema._of_tree(_struct(b"", root, "", 0))


def _struct(name: bytes, node: Any, path: str, flags: int) -> tuple[Any, ...]:
    fields = [_field(step, child, below(path, _step(step))) for step, child in _children_of(node)]
    return b"+s", name, flags, None, tuple(fields), None


def _field(name: str, node: Any, path: str) -> tuple[Any, ...]:
    """In the form of schema trees: format, name, flags, metadata, children, dictionary."""
    own = name.encode()
    inner = b"item" if node.is_repeated else own
    if not node.is_leaf:
        type = _struct(inner, node, path, _NULLABLE)
    elif (kind := getattr(node.type, "name", str(node.type))) in _FORMATS:
        type = _FORMATS[kind], inner, _NULLABLE, None, (), None
    else:
        raise UnsupportedError(f"{path}: the type {kind} is not supported", path=path)
    return (b"+L", own, _NULLABLE, None, (type,), None) if node.is_repeated else type


def _type_of(node: Any) -> str | None:
    """The full name of a message's type."""
    found = getattr(_bare(node), "_desc", None)
    return None if found is None else found.full_name


def _struct_of(path: str) -> str:
    return joined(steps_of(path)[:-1])


def _step(step: str) -> str:
    return step if step.startswith("(") else name_of(step)


def _key_of(step: str) -> tuple[str, str | None]:
    """The name and the key of a step: labels[color]."""
    if step.startswith("(") or not step.endswith("]"):
        return _step(step), None
    name, key = step[:-1].split("[", 1)
    return name_of(name), key


def _is_of(function: Any, module: str) -> bool:
    """True for a function that struct2tensor itself passes to map."""
    return getattr(function, "__module__", "") == f"struct2tensor.expression_impl.{module}"


def _unsupported(what: str, place: str | None) -> UnsupportedError:
    at = f"{place}: " if place else ""
    return UnsupportedError(f"{at}a query cannot express {what} of struct2tensor", path=place)


# ---- functions of map ----


def _call_of(function: Callable[..., Any], paths: list[str], place: str | None) -> str:
    """TensorFlow's own functions in the query language."""
    name = getattr(function, "__name__", "")
    is_tensorflow = getattr(function, "__module__", "").startswith("tensorflow.")
    if is_tensorflow and len(paths) == 1 and name in _UNARY:
        text = _UNARY[name]
        return text.format(paths[0]) if "{}" in text else f"{text}({paths[0]})"
    if is_tensorflow and len(paths) == 2 and name in _BINARY:
        return f"{paths[0]} {_BINARY[name]} {paths[1]}"
    at = f"{place}: " if place else ""
    where = inspect.getsourcefile(function) if inspect.isfunction(function) else None
    line = f" ({where}:{function.__code__.co_firstlineno})" if where else ""
    hint = "write it as an expression, or add it with Query.map"
    raise UnsupportedError(
        f"{at}map calls the function {name or 'without a name'}{line}, which a query cannot "
        f"express ({hint})",
        path=place,
        hint=hint,
    )


# ---- slices: struct2tensor implements them as filters with masks made from positions ----


def _slice_of(node: Any) -> str | None:
    """The bounds of a slice; None for another filter."""
    bounds = {"begin": "", "end": ""}
    masks = [_bare(node._sibling)]
    while masks:
        mask = masks.pop()
        if type(mask).__name__ != "_MapValuesExpression":
            return None
        if getattr(mask._operation, "__name__", "") == "logical_and":  # of two bounds
            masks += [_bare(source) for source in mask._origin]
            continue
        if not _is_of(mask._operation, "slice_expression"):
            return None
        given = inspect.getclosurevars(mask._operation).nonlocals
        if not isinstance(given["threshold"], int):
            raise UnsupportedError("a slice whose bounds are tensors: use a parameter")
        which = "begin" if given["relation"].__name__ == "greater_equal" else "end"
        bounds[which] = str(given["threshold"])
    return f"{bounds['begin']}:{bounds['end']}"
