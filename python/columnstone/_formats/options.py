"""Options of formats: keyword arguments of `open`, `Writer` and everything built on them.
_core.FORMAT_OPTIONS lists them, from the table of the formats in C; a test compares FormatOptions
with it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict

from .. import _core
from .._base.errors import NotFoundError, argument_error
from .._base.public import public_in
from . import registry
from .avro_options import AVRO_TEXTS
from .option import TEXTS, Option, any_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import TypeAlias

    from .avro_options import AvroSchema, AvroSchemas

    # (name; value as a text; format that it is for, or None for any), ...
    CoreFormatOptions: TypeAlias = tuple[tuple[str, str, str | None], ...]


class FormatOptions(TypedDict, total=False):
    """The options of all formats."""

    # csv
    delimiter: str | None
    secondary_delimiter: str | None
    multivalent: Iterable[str] | None
    names: Iterable[str] | None
    comment: str | None
    skip_lines: int
    keep_blank_lines: bool
    header: bool
    # avro
    avro_schema: AvroSchema | None
    avro_codec: str | None
    avro_block_size: int
    avro_enums: str | None
    avro_recursion: int
    avro_framing: str | None
    avro_writer_schema: AvroSchema | None
    avro_schemas: AvroSchemas | None
    avro_schema_id: int
    # sequence_example
    sequence_column: str | None


class Only(NamedTuple):
    """The value of an option for inputs or outputs of this format; None for other formats."""

    format: str
    value: Any


KINDS = {
    name: told[0] for options in _core.FORMAT_OPTIONS.values() for name, told in options.items()
}


def core_options(
    function: str, given: Mapping[str, Any], named: str | None = None
) -> CoreFormatOptions:
    """Keyword arguments of a function as the compiled part takes them. TypeError for an option that
    no format has, and for a value of a wrong type. None is left out.

    named: the format, if it is known: registered formats and plug-ins have options of their own.
    """
    own = known_to(named)
    made = []
    for name, value in given.items():
        format, plain = value if isinstance(value, Only) else (None, value)
        if format is None and own is not None and name not in own:
            raise _not_of(named, name, own)
        is_known = name in KINDS or own is not None or format is not None
        if not is_known and (named is None or named in _core.FORMATS):
            raise _unknown(function, name)
        if plain is None:
            continue
        if own is not None and format is None:
            text = own[name].to_text(plain, str(named))
        else:
            text = text_of(name)(name, plain)
        made.append((name, text, format))
    return tuple(made)


def known_to(format: str | None) -> dict[str, Option] | None:
    """The options of a format outside the library: a registered one, or a plug-in that is a shared
    object. None for formats of the library, and for programs, whose options are queried when they
    are used."""
    if format is None or format in _core.FORMATS:
        return None
    registered = registry.by_name(format)
    if registered is not None:
        return registered.options
    return _told(_core.format_options(format)) or None


def values_of(format: registry.Format, given: CoreFormatOptions) -> dict[str, Any]:
    """The options of a registered format for its function: those of `core_options` that belong to
    the format, and the defaults of the others."""
    values = {name: option.usual for name, option in format.options.items()}
    for name, text, of in given:
        if of in (None, format.name):
            values[name] = format.options[name].from_text(text)
    return values


@public_in("columnstone.format")
def options(format: str) -> tuple[Option, ...]:
    """The options of a format, as keywords of `open` and `Writer`. It is a format of the library, a
    plug-in that is a shared object, or a registered format. NotFoundError for any other."""
    own = known_to(format)
    if own is None and format not in _core.FORMATS:
        raise NotFoundError(
            f"unknown format {ascii(format)[:80]}, or one without a list of options"
        )
    return tuple((_told(_core.FORMAT_OPTIONS.get(format, {})) if own is None else own).values())


def _told(options: Mapping[str, _core.OptionTold]) -> dict[str, Option]:
    made = {}
    for name, (kind, usual, reads, writes, help, words, least, most) in options.items():
        option = Option(name, kind, None, help or "", words, least, most, reads, writes)
        made[name] = option if usual is None else option._replace(usual=option.from_text(usual))
    return made


def _not_of(format: str | None, name: str, own: Mapping[str, Option]) -> Exception:
    import difflib

    near = difflib.get_close_matches(name, own, n=1)
    has = f"it has {', '.join(own)}" if own else "it has none"
    hint = f"did you mean {near[0]!r}?" if near else has
    return argument_error(f"{format} has no option {name!r}", hint)


def text_of(name: str) -> Callable[[str, Any], str]:
    """The conversion of a value to text, by the name of the option if it accepts more than its
    kind, otherwise by its kind."""
    if name in AVRO_TEXTS:
        return AVRO_TEXTS[name]
    return TEXTS[KINDS[name]] if name in KINDS else any_text


def writers_of(name: str) -> list[str]:
    """The formats that have this option for writing."""
    return [
        format
        for format, options in _core.FORMAT_OPTIONS.items()
        if name in options and options[name][3]
    ]


def refuse(format: str, options: CoreFormatOptions) -> None:
    """For formats without options."""
    for name, _, of in options:
        if of is None:
            other = next(f for f, options in _core.FORMAT_OPTIONS.items() if name in options)
            raise argument_error(
                f"{format} has no option {name!r}", f"it belongs to the format {other}"
            )


def _unknown(function: str, name: str) -> TypeError:
    import difflib

    near = difflib.get_close_matches(name, KINDS, n=1)
    hint = f" (did you mean {near[0]!r}?)" if near else ""
    return TypeError(f"{function}() has no option {name!r}{hint}")
