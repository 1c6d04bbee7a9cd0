"""Options of the data source. Spark passes them as texts, under lower-case names."""

from __future__ import annotations

import csv
import difflib
import json
from typing import TYPE_CHECKING, Any

from .. import _core
from .._base.errors import argument_error
from .._formats.options import known_to

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from .._formats.option import Option

    Parser = Callable[[str, str], Any]  # name and text to the value; ArgumentError if it is none


def parse_options(
    options: Mapping[str, str], known: Mapping[str, Parser], what: str
) -> dict[str, Any]:
    """The options by their names in `known`, parsed. Case and underscores of the given names do not
    matter: "sample_records" is also "sampleRecords". `path` and `paths` are not options (see
    paths_of). An unknown option is an ArgumentError with similar names.

    what: what the options are for, such as "reading".
    """
    by_key = {_key(name): name for name in known}
    values: dict[str, Any] = {}
    for given, text in options.items():
        if given.lower() in ("path", "paths"):
            continue
        name = by_key.get(_key(given))
        if name is None:
            raise _unknown(given, by_key, what)
        if name in values:
            raise argument_error(f"option {name} is given twice", "names differ by more than case")
        values[name] = known[name](name, text)
    return values


def paths_of(options: Mapping[str, str]) -> list[str]:
    """The paths given to load(); empty if there are none."""
    if "paths" in options:
        return [str(path) for path in json.loads(options["paths"])]
    return [options["path"]] if "path" in options else []


def text_option(name: str, text: str) -> str:
    return text


def bool_option(name: str, text: str) -> bool:
    if text.lower() not in ("true", "false"):
        raise argument_error(f"option {name} must be true or false, not {ascii(text)[:40]}")
    return text.lower() == "true"


def int_option(name: str, text: str) -> int:
    digits = text.removeprefix("-")
    if not (digits.isascii() and digits.isdigit()):
        raise argument_error(f"option {name} must be a whole number, not {ascii(text)[:40]}")
    return int(text)


def real_option(name: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise argument_error(f"option {name} must be a number, not {ascii(text)[:40]}") from None


def names_option(name: str, text: str) -> list[str]:
    """A comma-separated list of names, quoted as in CSV where they contain a comma or a quote; or a
    JSON list."""
    if text.lstrip().startswith("["):
        names = json_option(name, text)
        if not all(isinstance(item, str) for item in names):
            raise argument_error(f"option {name} must be a list of names, not {ascii(text)[:40]}")
        return list(names)
    try:
        [names] = csv.reader([text], strict=True, skipinitialspace=True) if text else [[]]
    except (ValueError, csv.Error):  # a line's end in a name: for a JSON list
        raise argument_error(
            f"option {name} must be a comma-separated list of names, not {ascii(text)[:40]}",
            "quote a name that contains a comma or a quote, or give a JSON list",
        ) from None
    return names


def dict_option(name: str, text: str) -> dict[str, Any]:
    value = json_option(name, text)
    if not isinstance(value, dict):
        raise argument_error(f"option {name} must be a JSON object, not {ascii(text)[:40]}")
    return value


def json_option(name: str, text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise argument_error(f"option {name} is not valid JSON: {error}") from None


def choice_option(*choices: str) -> Parser:
    """The parser of an option with these words as values."""

    def parse(name: str, text: str) -> str:
        if text.lower() not in choices:
            raise argument_error(
                f"option {name} must be one of {', '.join(choices)}, not {ascii(text)[:40]}"
            )
        return text.lower()

    return parse


# The parsers of options by their kind: those of sources (_core.SOURCE_OPTIONS), of sinks
# (_core.SINK_OPTIONS) and of formats (_core.FORMAT_OPTIONS), except for words. Other kinds are not
# used here.
_PARSERS: dict[str, Parser] = {
    "text": text_option,
    "character": text_option,
    "schema": text_option,
    "view": text_option,
    "names": names_option,
    "number": int_option,
    "real": real_option,
    "switch": bool_option,
    "on_error": choice_option(*_core.SOURCE_OPTIONS["on_error"][5]),
}
# The options that "message" of sources and writers, and views, are made from.
_PARTS: dict[str, dict[str, Parser]] = {
    "message": {
        "message": text_option,
        "descriptors": names_option,
        "message_options": dict_option,
    },
    "view": {"view": text_option, "params": dict_option},
}


def known_options(
    table: Mapping[str, _core.OptionTold], without: Collection[str], writes: bool
) -> dict[str, Parser]:
    """The parsers of the options of a table and of the formats, except for some that have no use in
    Spark."""
    known: dict[str, Parser] = {}
    for options in (table, *_core.FORMAT_OPTIONS.values()):
        for name, (kind, _, of_reading, of_writing, _, words, *_) in options.items():
            if kind in _PARTS:
                known.update(_PARTS[kind])
            elif (of_writing if writes else of_reading) and (kind == "word" or kind in _PARSERS):
                known[name] = choice_option(*words) if kind == "word" else _PARSERS[kind]
    return {name: parser for name, parser in known.items() if name not in without}


def _parser(option: Option) -> Parser:
    return choice_option(*option.words) if option.kind == "word" else _PARSERS[option.kind]


def options_of(given: Mapping[str, str], known: Mapping[str, Parser]) -> dict[str, Parser]:
    """The known options, and those of the given format if it is not the library's."""
    format = next((text for name, text in given.items() if name.lower() == "format"), None)
    own = known_to(format) or {}
    return {**known, **{name: _parser(option) for name, option in own.items()}}


def _key(name: str) -> str:
    return name.replace("_", "").lower()


def _other_way(given: str) -> str | None:
    """The hint for an option that a format has only for the other direction."""
    for format, options in _core.FORMAT_OPTIONS.items():
        for name, (_, _, of_reading, *_) in options.items():
            if _key(given) == _key(name):
                hint = "; to read files without a header, give names" if name == "header" else ""
                return (
                    f"it is an option for {'reading' if of_reading else 'writing'} {format}{hint}"
                )
    return None


def _unknown(given: str, by_key: Mapping[str, str], what: str) -> Exception:
    if (other := _other_way(given)) is not None:
        return argument_error(f"{what} has no option {ascii(given)[:60]}", other)
    near = difflib.get_close_matches(_key(given), by_key, n=3, cutoff=0.6)
    hint = ", ".join(by_key[key] for key in near) or ", ".join(sorted(by_key.values()))
    said = f"did you mean {hint}?" if near else f"options: {hint}"
    return argument_error(f"{what} has no option {ascii(given)[:60]}", said)
