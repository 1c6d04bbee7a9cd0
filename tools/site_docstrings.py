"""Docstrings of the package as the site's reference reads them (an extension of griffe). Ours list
their parameters as "name: text", up to an empty line; these become the section that griffe
knows. Examples after >>> and indented code become blocks of code. Classes of the compiled part have
their docstrings in the C code (python/ext), which is read for them.
"""

from __future__ import annotations

import functools
import pathlib
import re
from typing import Any

import griffe

DUNDER = re.compile(r"(?<![`\w.])(__\w+__)(?![`\w])")
ARGUMENT = re.compile(r"(\*{0,2}\w+(?:, \*{0,2}\w+)*): (.*)")


EXTENSION = pathlib.Path(__file__).resolve().parent.parent / "python" / "ext"
CLASS = re.compile(r'PyType_Spec \w+ = \{\s*\.name = "columnstone\.(?:\w+\.)*(\w+)"')
STRINGS = r'((?:"(?:[^"\\]|\\.)*"\s*)+)'
CLASS_TEXT = re.compile(r"\{Py_tp_doc,\s*(?:\(char \*\))?" + STRINGS)
MEMBER_TEXT = re.compile(r'\{"(\w+)",[^{}"]*?PyDoc_STR\(\s*' + STRINGS)
STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')
SIGNATURE = re.compile(r"\A\w+\(.*?\)\n--\n\n", re.DOTALL)


@functools.cache
def compiled() -> dict[str, str]:
    """The docstrings in the C code, by class or class.member."""
    found = {}
    for path in sorted(EXTENSION.rglob("*.c")):
        code = path.read_text(encoding="utf-8")
        names = CLASS.findall(code)
        if len(names) != 1:
            continue
        for text in CLASS_TEXT.findall(code)[:1]:
            found[names[0]] = plain(text)
        for member, text in MEMBER_TEXT.findall(code):
            found[f"{names[0]}.{member}"] = plain(text)
    return found


def plain(strings: str) -> str:
    text = "".join(STRING.findall(strings))
    text = text.replace(r"\n", "\n").replace(r"\"", '"').replace("\\\\", "\\")
    return SIGNATURE.sub("", text).replace("``", "`")


def parameters(of: griffe.Object) -> set[str]:
    """The names that a docstring may describe: parameters, or fields of a class."""
    if isinstance(of, griffe.Function):
        return {parameter.name for parameter in of.parameters}
    if isinstance(of, griffe.Class):
        init = of.members.get("__init__")
        names = {name for name, member in of.members.items() if member.is_attribute}
        return names | (parameters(init) if isinstance(init, griffe.Function) else set())
    return set()


def with_sections(text: str, names: set[str]) -> str:
    """The text with its runs of "name: text" under "Args:"."""
    out: list[str] = []
    arguments = False
    for line in text.split("\n"):
        if describes(line, names):
            if not arguments:
                out += ["", "Args:"]
            arguments = True
            out.append(f"    {line}")
        elif arguments and (line.startswith("    ") or not line or out[-1]):
            out.append(f"        {line.strip()}" if line else "")
        else:
            if arguments:
                out.append("")
            arguments = False
            out.append(line)
    return "\n".join(out)


def describes(line: str, names: set[str]) -> bool:
    """Whether a line begins the description of a parameter."""
    match = ARGUMENT.fullmatch(line)
    return match is not None and all(name.lstrip("*") in names for name in match[1].split(", "))


def with_summary(text: str, names: set[str]) -> str:
    """The text with its first sentence on one line, which is what summaries show."""
    first, gap, rest = text.partition("\n\n")
    lines = first.split("\n")
    if any(line.startswith((" ", ">>>", "-", "|")) or describes(line, names) for line in lines):
        return text
    return re.sub(r"(?<=\.) (?=[A-Z])", "\n", " ".join(lines), count=1) + gap + rest


def with_code(text: str) -> str:
    """The text with its >>> and its indented code in fences."""
    out: list[str] = []
    block: list[str] = []
    lines = text.split("\n")
    for number, line in enumerate([*lines, ""]):
        if block and (not line.strip() or (block[0].startswith("    ") and line[:4].strip())):
            following = next((rest for rest in lines[number:] if rest.strip()), "")
            if not line.strip() and block[0].startswith("    ") and following.startswith("    "):
                block.append(line)
                continue
            kind = "pycon" if block[0].lstrip().startswith(">>>") else "python"
            indent = 4 if block[0].startswith("    ") else 0
            out += [f"```{kind}", *(code[indent:] for code in block), "```"]
            block = []
        starts = line.startswith(">>> ") or (line.startswith("    ") and (not out or not out[-1]))
        if block or starts:
            block.append(line)
        else:
            # Not Markdown: an index is no link, and __name__ is not bold.
            out.append(DUNDER.sub(r"`\1`", line.replace("][", r"]\[")))
    return "\n".join(out[:-1] if out and not out[-1] else out)


class Docstrings(griffe.Extension):
    """Gives each object of the package the docstring that the site shows."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        name = obj.path.removeprefix("columnstone._core.")
        if obj.docstring is None and name != obj.path and name in compiled():
            obj.docstring = griffe.Docstring(compiled()[name], parent=obj)
        if obj.docstring is not None:
            names = parameters(obj)
            text = with_code(with_summary(obj.docstring.value, names))
            obj.docstring.value = with_sections(text, names)
