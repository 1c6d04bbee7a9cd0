"""The input that a query is bound to: the types of its records or batches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from .. import _core
from .._arrow.pointers import exported
from .._base.errors import argument_error
from .._message.descriptors import Descriptors
from .._message.files import described
from .._message.options import message_of, named_message
from .._schema.schema import Schema
from .text import literal, name_of

if TYPE_CHECKING:
    from .._core import ArrowSchemaExportable
    from .._message.descriptors import DescriptorsLike
    from .._message.options import MessageLike
    from .._schema.schema import SchemaLike

_EXAMPLES = ("example", "sequence_example")


class Input(NamedTuple):
    """The known types; they pickle."""

    descriptors: Descriptors | None = None
    message: str | None = None  # that the query does not name
    schema: Schema | None = None
    type: _core.ArrowSchema | None = None

    @property
    def is_known(self) -> bool:
        return self.descriptors is not None or self.schema is not None or self.type is not None

    def core(self) -> tuple[Any, Any, Any]:
        """The message options, the schema and the type, as the compiled part takes them."""
        message = None
        if self.descriptors is not None:
            message = named_message(self.descriptors, self.message, {})
        return message, None if self.schema is None else self.schema._handle, self.type


def source_of(
    source: Any,
    descriptors: DescriptorsLike | None,
    schema: SchemaLike | None,
    message_options: dict[str, Any] | None,
) -> tuple[str, Input]:
    """The `from` statement for a source ("" for none), and what is known about the source."""
    if message_options and not (isinstance(source, str) or described(source) is not None):
        raise argument_error("message_options is given without message")
    if isinstance(source, str) and source in _EXAMPLES:
        if descriptors is not None or message_options:
            raise argument_error(
                f"{source} takes neither descriptors nor message_options", "use schema="
            )
        known = None if schema is None else Schema(schema)
        return f"from {source}", Input(schema=known)
    if schema is not None:
        raise argument_error("schema= is for the source 'example' or 'sequence_example'")
    if source is None:
        if descriptors is not None:
            raise argument_error("descriptors is given without message", "name it: Query(message)")
        return "", Input()
    if isinstance(source, str) or described(source) is not None:
        return _message_source(source, descriptors, message_options or {})
    if descriptors is not None:
        raise argument_error("descriptors are only for messages")
    return "from table", Input(type=type_of(source))


def _message_source(
    message: MessageLike, descriptors: DescriptorsLike | None, options: dict[str, Any]
) -> tuple[str, Input]:
    found, full_name = message_of(message, descriptors)
    given = ", ".join(f"{name_of(key)} = {_option(value)}" for key, value in options.items())
    statement = f"from message {full_name}" + (f" with {given}" if given else "")
    return statement, Input(descriptors=found)


def _option(value: object) -> str:
    return value if isinstance(value, str) and value.isidentifier() else literal(value)


def type_of(source: ArrowSchemaExportable | Any) -> _core.ArrowSchema:
    """The type of the batches of any object with an Arrow schema."""
    source = exported(source)
    if not hasattr(source, "__arrow_c_schema__") and hasattr(source, "schema"):
        source = exported(source.schema)
    if not hasattr(source, "__arrow_c_schema__"):
        raise TypeError(
            "the source of a query is a generated class, the name of a message, 'example', "
            "'sequence_example', or an object with an Arrow schema, not "
            f"{type(source).__name__}"
        )
    return _core.arrow_schema(source)


def input_of(
    message: MessageLike | None,
    descriptors: DescriptorsLike | None,
    schema: SchemaLike | None,
    type: ArrowSchemaExportable | None,
) -> Input:
    """What is known besides a text, which has its own `from`."""
    set_of: Descriptors | None = None
    name: str | None = None
    if message is not None:
        set_of, name = message_of(message, descriptors)
    elif isinstance(descriptors, Descriptors):
        set_of = descriptors
    elif descriptors is not None:
        set_of = Descriptors(descriptors)
    return Input(
        descriptors=set_of,
        message=name,
        schema=None if schema is None else Schema(schema),
        type=None if type is None else type_of(type),
    )
