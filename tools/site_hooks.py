"""What MkDocs does beside its own work for the documentation site (mkdocs.yml): it makes the pages
that are not in docs/ (the references of C, Python and the program, and the files that pages link
to), points links to them, and fills the folders of the navigation.
"""

from __future__ import annotations

import html
import importlib.machinery
import importlib.util
import json
import os
import pathlib
import re
from typing import TYPE_CHECKING, Any

from mkdocs.plugins import event_priority
from mkdocs.structure.files import File, Files

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.pages import Page

TOP = pathlib.Path(__file__).resolve().parent.parent
MAN = TOP / "build" / "docs" / "program"  # from tools/make_man
LINK = re.compile(r"(\]\()([^()\s#]*)(#[^()\s]*)?(\))")
FENCE = re.compile(r"^( *)(```+).*?^\1\2 *$", re.MULTILINE | re.DOTALL)
# A list or a table right below a line of text, which GitHub accepts, and Python-Markdown does not.
BELOW_TEXT = re.compile(r"^((?![-*|#> ]|\d+\. ).+\n)(?=[-*] |\d+\. |\|)", re.MULTILINE)
NOT_RUN = re.compile(r"^(\*Not run: .+\*)$", re.MULTILINE)
MENTION = re.compile(r'(?<![\w/">])docs/([\w/-]+)\.md(?![^<]*</(?:a|code|pre)>)')
LANGUAGES = {".py": "python", ".c": "c", ".h": "c", ".cc": "cpp", ".cpp": "cpp", ".rs": "rust"}
LANGUAGES |= {".sh": "sh", ".proto": "proto", ".txt": "text", ".cmake": "cmake"}
PROJECT = ["CONTRIBUTING.md", "ARCHITECTURE.md", "CHANGELOG.md", "SECURITY.md", "bench/RESULTS.md"]
# Files that have a page under another name.
ELSEWHERE = {
    "README.md": "index.md",
    "docs": "index.md",
    "docs/README.md": "index.md",
    "bench": "project/bench/RESULTS.md",
    "examples": "project/examples/index.md",
    "include/columnstone": "reference/c/index.md",
}
README_SECTIONS = {"#install": "installing.md"}

# How much a page counts in the search, where it is not 1: what answers a task comes first.
BOOSTS = {"how-to/": 2, "errors.md": 2, "reference/c/": 0.5, "project/": 0.5}

origins: dict[str, str] = {}  # the page of a file that is not in docs/: that file


def page_of(path: str) -> str:
    """The page that a file of the repository has on the site."""
    if path in ELSEWHERE:
        return ELSEWHERE[path]
    if path.startswith("docs/"):
        return path.removeprefix("docs/")
    if path.startswith("include/columnstone/"):
        return f"reference/c/{pathlib.PurePath(path).name}.md"
    return f"project/{path}" if path.endswith(".md") else f"project/{path}.md"


def target_of(origin: str, link: str) -> str | None:
    """The file that a relative link of a file leads to; None for other links."""
    if not link or ":" in link or link.startswith("/"):
        return None
    target = os.path.normpath(os.path.join(os.path.dirname(origin), link))
    return None if target.startswith("..") else target


def outside_code(text: str, change: Any) -> str:
    """The text with what is not in a fenced block changed."""
    parts, last = [], 0
    for fence in FENCE.finditer(text):
        parts += [change(text[last : fence.start()]), fence[0]]
        last = fence.end()
    return "".join([*parts, change(text[last:])])


def tool(name: str) -> Any:
    """A program of tools/ as a module."""
    loader = importlib.machinery.SourceFileLoader(name, str(TOP / "tools" / name))
    spec = importlib.util.spec_from_loader(name, loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


# ---- the pages that are made ----


def project_pages(files: Files) -> dict[str, str]:
    """The files that pages link to, and those that these link to, as pages."""
    pages: dict[str, str] = {}
    texts = {f"docs/{file.src_uri}": file.content_string for file in files.documentation_pages()}
    wanted = [*PROJECT, *(f"examples/{path.name}" for path in examples())]
    while wanted or texts:
        for origin, text in texts.items():
            wanted += links(origin, FENCE.sub("", text))
        texts = {}
        for path in wanted:
            page = page_of(path)
            if path.startswith(("docs/", "include/")) or path in ELSEWHERE or page in pages:
                continue
            if not (TOP / path).is_file():
                continue
            text = (TOP / path).read_text(encoding="utf-8")
            origins[page] = path
            if path.endswith(".md"):
                texts[path] = text
            else:
                language = LANGUAGES.get(pathlib.PurePath(path).suffix, "text")
                if text.startswith("#!/usr/bin/env python"):
                    language = "python"
                text = f"# {pathlib.PurePath(path).name}\n\n```{language}\n{text}```\n"
            pages[page] = text
        wanted = []
    return pages


def links(origin: str, text: str) -> list[str]:
    targets = [target_of(origin, match[2]) for match in LINK.finditer(text)]
    return [target for target in targets if target]


def examples() -> list[pathlib.Path]:
    return sorted(path for path in (TOP / "examples").iterdir() if path.is_file())


def summary(path: pathlib.Path) -> str:
    """The first sentence of the comment that a file begins with."""
    text = path.read_text(encoding="utf-8")
    text = re.sub(r"\A#!.*\n", "", text)
    comment = re.match(r'\s*(?:r?"""(.*?)"""|/\*(.*?)\*/|((?:(?:#|//) ?.*\n)+))', text, re.DOTALL)
    if not comment:
        return ""
    words = comment[1] or comment[2] or comment[3]
    words = " ".join(re.sub(r"(?m)^\s*(?:#|//|\*)\s?", "", words).split())
    sentence = re.split(r"(?<=[.:])\s", words)[0]
    return sentence.rstrip(":").replace("*", r"\*")


def example_index() -> str:
    rows = [f"| [{path.name}]({path.name}.md) | {summary(path)} |\n" for path in examples()]
    intro = "Whole programs, which the tests run.\n\n| file | what it shows |\n|---|---|\n"
    return "# Examples\n\n" + intro + "".join(rows)


def python_modules() -> list[tuple[str, str]]:
    """The public modules with their first sentences, the package first."""
    package = TOP / "python" / "columnstone"
    found = [("columnstone", package / "__init__.py")]
    text = (package / "__init__.py").read_text(encoding="utf-8")
    listed = re.search(r"^_MODULES = \((.*?)^\)", text, re.MULTILINE | re.DOTALL)
    assert listed is not None
    names = re.findall(r'"(\w+)"', listed[1])
    found += [(f"columnstone.{name}", package / f"{name}.py") for name in names]
    found.append(("columnstone.compat.tfx_bsl", package / "compat" / "tfx_bsl" / "__init__.py"))
    return [(name, summary(path)) for name, path in found]


def python_pages() -> dict[str, str]:
    pages, rows = {}, []
    for name, text in python_modules():
        title = "columnstone" if name == "columnstone" else name.removeprefix("columnstone.")
        pages[f"reference/python/{title}.md"] = f"# {name}\n\n::: {name}\n"
        rows.append(f"| [{name}]({title}.md) | {text} |\n")
    pages["reference/python/index.md"] = (
        "# Python reference\n\n`import columnstone as cst`. The [guide](../../python.md) shows the "
        "parts together; each module below has a page.\n\n| module | for |\n|---|---|\n"
        + "".join(rows)
    )
    return pages


def c_pages() -> dict[str, str]:
    made: dict[str, str] = tool("make_reference").pages()
    return {f"reference/c/{name}": text for name, text in made.items()}


def program_pages() -> dict[str, str]:
    pages = {}
    for path in sorted(MAN.glob("*.md")):
        pages[f"reference/program/{path.name}"] = path.read_text(encoding="utf-8")
    if "reference/program/index.md" not in pages:
        rows = [
            f"- [{pathlib.PurePath(page).stem}]({pathlib.PurePath(page).name})\n" for page in pages
        ]
        pages["reference/program/index.md"] = (
            "# Program reference\n\nEach verb of `columnstone`. The [guide](../../cli.md) has "
            "examples; `columnstone VERB --help` prints the same on a terminal.\n\n" + "".join(rows)
        )
    return pages


REFERENCE = """# Reference

| | |
|---|---|
| [Python](python/index.md) | modules, classes and functions of the package |
| [Program](program/index.md) | the verbs and options of `columnstone` |
| [C](c/index.md) | the headers of the library |
| [Query language](../queries.md) | statements, functions and types |
| [Formats](../formats.md) | the file formats and their options |
| [Errors](../errors.md) | each kind of error, and what to do |
"""


def on_files(files: Files, config: MkDocsConfig) -> Files:
    origins.clear()
    made = {"reference/index.md": REFERENCE, "project/examples/index.md": example_index()}
    made |= c_pages() | python_pages() | program_pages()
    made |= project_pages(files)
    for name, text in made.items():
        files.append(File.generated(config, name, content=text))
    config.nav = expanded(config.nav, files)
    return files


# ---- navigation ----


def folder_pages(folder: str, files: Files) -> list[str]:
    """The pages of a folder: its index, what that links to in order, then the others."""
    found = sorted(
        file.src_uri
        for file in files.documentation_pages()
        if file.src_uri.startswith(folder) and "/" not in file.src_uri[len(folder) :]
    )
    index = f"{folder}index.md"
    if index not in found:
        return found
    text = files.src_uris[index].content_string
    linked = [os.path.normpath(folder + match[2]) for match in LINK.finditer(text) if match[2]]
    order = {page: place for place, page in reversed(list(enumerate(linked)))}
    found.remove(index)
    return [index, *sorted(found, key=lambda page: (order.get(page, len(order) + 1), page))]


def expanded(nav: Any, files: Files) -> Any:
    """The navigation with the pages of each folder in place of its name."""
    result: list[Any] = []
    for entry in nav:
        if isinstance(entry, str):
            result += folder_pages(entry, files) if entry.endswith("/") else [entry]
        else:
            ((title, value),) = entry.items()
            if isinstance(value, str) and value.endswith("/"):
                value = [value]
            result.append({title: expanded(value, files) if isinstance(value, list) else value})
    return result


# ---- pages ----


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    here = page.file.src_uri
    boosts = [boost for start, boost in BOOSTS.items() if here.startswith(start)]
    page.meta.setdefault("search", {"boost": boosts[0]} if boosts else {})
    if here.startswith("reference/") or here == "project/examples/index.md":
        return markdown
    origin = origins.get(here, f"docs/{here}")
    if here == "errors.md":
        markdown = with_messages(markdown)

    def moved(match: re.Match[str]) -> str:
        target = target_of(origin, match[2])
        if target is None:
            return match[0]
        uri, anchor = page_of(target), match[3] or ""
        if target == "README.md":
            uri, anchor = README_SECTIONS.get(anchor, "index.md"), ""
        if uri not in files.src_uris and (TOP / target).is_dir():
            uri = "project/ARCHITECTURE.md"  # which says what is in each folder
        return f"{match[1]}{os.path.relpath(uri, os.path.dirname(here) or '.')}{anchor}{match[4]}"

    def changed(part: str) -> str:
        part = NOT_RUN.sub(r"\1{ .not-run }", BELOW_TEXT.sub(r"\1\n", part))
        return LINK.sub(moved, part)

    return outside_code(markdown, changed)


# ---- messages of errors, each of which the search finds by itself ----

messages: list[tuple[str, str]] = []  # of the page errors.md, with what to do
MESSAGE_ROW = re.compile(r"^\| (`[^|]*?) \| (.*) \|$", re.MULTILINE)
MESSAGE_LINE = re.compile(r"^(?:columnstone: |\S+: record ).+", re.MULTILINE)


def with_messages(markdown: str) -> str:
    """The page with an anchor for each message, in rows of tables and in what is printed."""
    messages.clear()

    def anchor(message: str, advice: str) -> str:
        messages.append((message, advice))
        return f'<a id="message-{len(messages)}"></a>'

    def block(match: re.Match[str]) -> str:
        found = [line.removeprefix("columnstone: ") for line in MESSAGE_LINE.findall(match[0])]
        anchors = "".join(anchor(line, "") for line in found)
        return f"{anchors}\n\n{match[0]}" if anchors else match[0]

    def row(match: re.Match[str]) -> str:
        message = match[1].replace("`", "")
        return f"| {anchor(message, match[2])}{match[1]} | {match[2]} |"

    return MESSAGE_ROW.sub(row, FENCE.sub(block, markdown))


@event_priority(-50)  # after the plugin that writes the index, before the one that copies it
def on_post_build(config: MkDocsConfig) -> None:
    path = pathlib.Path(config.site_dir, "search", "search_index.json")
    index = json.loads(path.read_text(encoding="utf-8"))
    for number, (message, advice) in enumerate(messages, start=1):
        text = html.escape(re.sub(r"[`*]|\]\([^)]*\)", "", advice).replace("[", ""))
        place = f"errors.html#message-{number}"
        index["docs"].append({"location": place, "title": html.escape(message), "text": text})
    path.write_text(json.dumps(index, ensure_ascii=False), encoding="utf-8")


def on_page_content(content: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Makes links of the guides that docstrings and headers name."""
    here = os.path.dirname(page.file.src_uri) or "."

    def linked(match: re.Match[str]) -> str:
        name = f"{match[1]}.md"
        if name not in files.src_uris:
            return match[0]
        url = os.path.relpath(files.src_uris[name].url, here)
        return f'<a href="{url}">{match[1]}</a>'

    return MENTION.sub(linked, content) if here.startswith("reference/") else content
