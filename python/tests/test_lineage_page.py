"""The page of lineage: what stands in it, and what it does in Chromium."""

from __future__ import annotations

import json
import pathlib
import re
import sqlite3
import xml.etree.ElementTree
from collections.abc import Iterator
from typing import Any

import browser
import columnstone as cst
import pytest

HOSTILE = (
    "</script><img src=x onerror=document.title='owned'>",
    "<!--<script>",
    "\"'`&amp;<b>",
    "\u200b\u2028\u202eright to left",
    "two\nlines]]>",
)


def data_of(html: str) -> dict[str, Any]:
    match = re.search(r'<script type="application/json" id="data">(.*?)</script>', html, re.DOTALL)
    assert match
    return dict(json.loads(match[1]))


def fill(store: cst.lineage.Store, days: int = 3) -> None:
    """Days of sessions, their statistics, and a model of them all; one failed training."""
    schema = store.add("Schema", name="schema")
    needs = {"schema": schema}
    sessions = []
    for day in range(days):
        with store.execution("ingest", span=day) as run:
            made = store.add("Data", name="sessions", properties={"span": day}, references=needs)
            sessions.append(run.output(made))
        with store.execution("describe", inputs=[made]) as run:
            run.output(store.add("Statistics", name="numbers"))
    with store.execution("train", inputs={"examples": sessions}) as run:
        run.output(store.add("Model", name="ranker", references=needs))
    with pytest.raises(ZeroDivisionError), store.execution("evaluate", inputs=["ranker"]):
        raise ZeroDivisionError
    store.add("Note", name="alone")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    made = tmp_path_factory.mktemp("graphs")
    with cst.lineage.open(made / "shop.db", create=True) as store:
        fill(store)
        (made / "shop.html").write_text(store.graph())
        (made / "shop.svg").write_text(store.graph(format="svg"))
    with cst.lineage.open(made / "none.db", create=True) as store:
        (made / "none.html").write_text(store.graph())
    with cst.lineage.open(made / "many.db", create=True) as store:
        with store.transaction():
            for i in range(2100):
                store.add("Note", name="note" if i % 2 else None)
        (made / "many.html").write_text(store.graph())
    with cst.lineage.open(made / "hostile.db", create=True) as store:
        for i, text in enumerate(HOSTILE):
            note = store.add("Note", name=f"n{i}", properties={"text": text})
            with store.execution("look", inputs=[note]):
                pass
    with sqlite3.connect(made / "hostile.db") as db:  # what our own functions do not let in
        for i, text in enumerate(HOSTILE):
            db.execute("UPDATE artifact SET name = ? WHERE id = ?", (text, i + 1))
        db.execute("UPDATE type SET name = ? WHERE name = 'look'", (HOSTILE[0],))
    db.close()
    with cst.lineage.open(made / "hostile.db") as store:
        (made / "hostile.html").write_text(store.graph())
        (made / "hostile.svg").write_text(store.graph(format="svg"))
    return made


# ---- what stands in it ----


def test_it_holds_the_store(folder: pathlib.Path) -> None:
    data = data_of((folder / "shop.html").read_text())
    assert (data["store"], data["title"]) == ("shop.db", "9 artifacts, 8 executions")
    labels = [node["label"] for node in data["nodes"]]
    assert {"schema@1", "sessions@3", "numbers@1", "ranker@1", "ingest #1", "train #7"} <= set(
        labels
    )
    edges = {(labels[a], labels[b], how) for a, b, how, *_ in data["edges"]}
    assert ("schema@1", "sessions@2", "schema") in edges
    assert ("sessions@2", "train #7", "input") in edges
    assert ("train #7", "ranker@1", "output") in edges
    train = data["nodes"][labels.index("train #7")]
    assert train["look"] == "execution" and train["state"] == "complete"
    assert data["left"] is None
    sessions = data["nodes"][labels.index("sessions@2")]
    assert sessions["properties"] == [["span", "int", "1"]]


def test_pictures_are_xml(folder: pathlib.Path) -> None:
    for name in ("shop.svg", "hostile.svg"):
        root = xml.etree.ElementTree.fromstring((folder / name).read_text())
        groups = root.iter("{http://www.w3.org/2000/svg}g")
        nodes = [group for group in groups if "n" in group.attrib.get("class", "").split()]
        assert len(nodes) == (17 if name == "shop.svg" else 10)


def test_it_asks_for_nothing(folder: pathlib.Path) -> None:
    html = (folder / "shop.html").read_text()
    assert "default-src 'none'" in html
    assert re.findall(r"https?://[^\s\"']+", html) == ["http://www.w3.org/2000/svg"]  # a name
    assert not re.search(r"@import|url\((?!#)|<link|<iframe| src=| href=\"(?!#)", html)


def test_names_end_nothing(folder: pathlib.Path) -> None:
    html = (folder / "hostile.html").read_text()
    labels = {node["label"] for node in data_of(html)["nodes"]}
    assert {f"{text}@1" for text in HOSTILE} <= labels
    assert "<img" not in html and "<!--<" not in html


# ---- what it does ----


@pytest.fixture(scope="module")
def chromium() -> Iterator[browser.Browser]:
    if browser.program() is None:
        pytest.skip("there is no Chromium here")
    with browser.browser() as opened:
        opened.window(1280, 800)
        yield opened


def well(chromium: browser.Browser) -> bool:
    """Nothing was asked for but the file, and nothing went wrong."""
    assert chromium.faults() == []
    return all(url.startswith(("file:", "about:")) for url in chromium.requests())


NODES = "[...document.querySelectorAll('g.n')]"
EDGES = "[...document.querySelectorAll('path.e')]"
NAMED = f"(label) => {NODES}.find((g) => g.ariaLabel.startsWith(label + ','))"
VISIBLE = ".filter((e) => getComputedStyle(e).display !== 'none').length"
SHOWN = NODES + VISIBLE
TITLE = "document.querySelector('#panel h2')?.textContent ?? ''"
TEXTS = "(found) => [...found].map((e) => e.textContent).sort()"
FOCUSED = "document.activeElement.ariaLabel ?? document.activeElement.id"
VIEW = "document.getElementById('view').getAttribute('transform')"


def marked(chromium: browser.Browser, mark: str) -> Any:
    """The names of the nodes that are marked so."""
    return chromium.value(f"({TEXTS})(document.querySelectorAll('g.n.{mark} .name'))")


def click(chromium: browser.Browser, x: float, y: float) -> None:
    for kind in ("mousePressed", "mouseReleased"):
        chromium.call(
            "Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1, buttons=1
        )


def place(chromium: browser.Browser, label: str) -> tuple[float, float]:
    """The middle of a node on the screen."""
    box = chromium.value(
        f"(() => {{ const b = ({NAMED})({label!r}).querySelector('rect').getBoundingClientRect();"
        "return [b.x + b.width / 2, b.y + b.height / 2]; })()"
    )
    return box[0], box[1]


def settle(chromium: browser.Browser) -> None:
    """Waits until what was asked for is drawn."""
    chromium.value(
        "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
    )


def test_choosing_a_node(chromium: browser.Browser, folder: pathlib.Path) -> None:
    chromium.open(folder / "shop.html")
    settle(chromium)
    assert chromium.value(SHOWN) == 17
    click(chromium, *place(chromium, "numbers@2"))
    assert chromium.value(TITLE) == "numbers@2"
    assert marked(chromium, "up") == [
        "describe #4",
        "ingest #3",
        "schema@1",
        "sessions@2",
    ]
    assert marked(chromium, "down") == []
    told = chromium.value("document.getElementById('panel').innerText")
    for text in ("Statistics, live", "4 up of it, 0 down", "Came from (1)", "describe #4"):
        assert text in told
    chromium.value("document.querySelector('#panel li .link').click()")
    assert chromium.value(TITLE) == "describe #4"
    assert marked(chromium, "down") == ["numbers@2"]
    assert "at=execution%3A4" in chromium.value("location.hash")  # which brings it back
    chromium.open(folder / "shop.html", chromium.value("location.hash.slice(1)"))
    assert chromium.value(TITLE) == "describe #4"
    chromium.value("document.getElementById('only').click()")
    assert chromium.value(SHOWN) == 5
    chromium.press("Escape")
    assert chromium.value(TITLE) == "" and chromium.value(SHOWN) == 17
    click(chromium, 640, 780)  # beside all nodes
    assert chromium.value(TITLE) == ""
    assert well(chromium)


def test_types_and_search(chromium: browser.Browser, folder: pathlib.Path) -> None:
    chromium.open(folder / "shop.html")
    words = "(b) => b.innerText.split(/\\s+/).join(' ')"
    chips = f"[...document.querySelectorAll('#types button')].map({words})"
    assert chromium.value(chips) == [
        *("Schema 1", "Statistics 3", "Model 1", "Data 3", "Note 1"),
        *("describe 3", "evaluate 1", "ingest 3", "train 1"),
    ]
    chromium.value("document.querySelector('#types button').click()")
    assert chromium.value(SHOWN) == 16
    assert chromium.value("document.getElementById('count').value") == "16 of 17"
    edges = EDGES + VISIBLE
    assert chromium.value(edges) == 14
    chromium.value("document.querySelector('#types button').click()")
    assert chromium.value(edges) == 18
    chromium.press("/", *"span=1")
    assert chromium.value("document.getElementById('count').value") == "2 found"
    assert marked(chromium, "hit") == ["ingest #3", "sessions@2"]
    chromium.press("Enter")
    assert chromium.value(TITLE) == "sessions@2"
    chromium.press("Enter")
    assert chromium.value(TITLE) == "ingest #3"
    chromium.press("Escape")
    assert chromium.value("document.getElementById('search').value") == ""
    for _ in range(9):
        chromium.value("document.querySelector('#types [aria-pressed=true]')?.click()")
    assert chromium.value("document.getElementById('none').checkVisibility()")
    chromium.value("document.getElementById('clear').click()")
    assert chromium.value(SHOWN) == 17
    assert well(chromium)


def test_keys(chromium: browser.Browser, folder: pathlib.Path) -> None:
    chromium.open(folder / "shop.html", "at=artifact:2")
    chromium.value("document.getElementById('canvas').focus()")
    chromium.press("ArrowRight")
    assert chromium.value(FOCUSED).startswith(("describe #2,", "train #7,"))
    chromium.press("ArrowLeft")
    assert chromium.value(FOCUSED) == "sessions@1, Data, live"
    chromium.press("ArrowLeft", "ArrowUp", "ArrowDown")
    assert chromium.value(TITLE) == chromium.value(FOCUSED).split(",")[0]
    before = chromium.value(VIEW)
    chromium.press("+")
    settle(chromium)
    assert chromium.value(VIEW) != before
    chromium.press("0")
    chromium.press("Enter")
    assert chromium.value("document.activeElement.tagName") == "H2"
    chromium.press("Escape")
    assert chromium.value(TITLE) == "" and chromium.value("!!document.activeElement.closest('g.n')")
    assert well(chromium)


def scale(chromium: browser.Browser) -> float:
    settle(chromium)
    told = chromium.value(VIEW)
    return float(told.split("scale(")[1].rstrip(")"))


def test_zoom_and_pan(chromium: browser.Browser, folder: pathlib.Path) -> None:
    chromium.open(folder / "shop.html")
    begin = scale(chromium)
    x, y = place(chromium, "ranker@1")
    wheel = {"type": "mouseWheel", "x": x, "y": y, "deltaX": 0}
    chromium.call("Input.dispatchMouseEvent", **wheel, deltaY=-200)
    chromium.until(f"Number({VIEW}.match(/scale\\((.*)\\)/)[1]) > {begin * 1.2}")
    assert place(chromium, "ranker@1") == pytest.approx((x, y), abs=2)  # stays under the pointer
    for kind, dx in (
        ("mousePressed", 0),
        ("mouseMoved", 30),
        ("mouseMoved", 60),
        ("mouseReleased", 60),
    ):
        chromium.call(
            "Input.dispatchMouseEvent", type=kind, x=x + dx, y=y, button="left", buttons=1
        )
    settle(chromium)
    assert place(chromium, "ranker@1") == pytest.approx((x + 60, y), abs=2)
    assert chromium.value(TITLE) == ""  # it was moved, not chosen
    for name, grows in (("in", True), ("out", False), ("fit", False)):
        before = scale(chromium)
        chromium.value(f"document.getElementById('{name}').click()")
        assert (scale(chromium) > before) == grows
    before = scale(chromium)
    points = [{"x": 400, "y": 400, "id": 1}, {"x": 600, "y": 400, "id": 2}]
    chromium.call("Input.dispatchTouchEvent", type="touchStart", touchPoints=points)
    points = [{"x": 300, "y": 400, "id": 1}, {"x": 700, "y": 400, "id": 2}]
    chromium.call("Input.dispatchTouchEvent", type="touchMove", touchPoints=points)
    chromium.call("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])
    assert scale(chromium) == pytest.approx(2 * before, rel=0.05)
    assert well(chromium)


def test_the_table(chromium: browser.Browser, folder: pathlib.Path) -> None:
    chromium.open(folder / "shop.html")
    chromium.value("document.getElementById('tabular').click()")
    rows = "document.querySelectorAll('#rows tbody tr').length"
    assert chromium.value(rows) == 17
    all_rows = "[...document.querySelectorAll('#rows tbody tr')]"
    found = f"{all_rows}.find((r) => r.innerText.startsWith('sessions@2'))"
    told = chromium.value(f"{found}.innerText")
    for text in ("Data", "live", "ingest #3", "as its schema", "train #7"):
        assert text in told
    chromium.press("/", *"ranker")
    assert chromium.value(rows) == 1
    chromium.value("document.querySelector('#rows tbody .link').click()")
    assert chromium.value(TITLE) == "ranker@1"
    assert "table=1" in chromium.value("location.hash")
    assert well(chromium)


def test_who_hears_it(chromium: browser.Browser, folder: pathlib.Path) -> None:
    chromium.open(folder / "shop.html", "at=artifact:8&table=1")
    nodes = chromium.call("Accessibility.getFullAXTree")["nodes"]
    roles: dict[str, list[str]] = {}
    for node in nodes:
        if not node.get("ignored"):
            name = node.get("name", {}).get("value", "")
            roles.setdefault(node["role"]["value"], []).append(name)
    assert roles["table"][0] == "Artifacts and executions"
    assert "Came from" in roles["columnheader"] and "sessions@2" in roles["rowheader"]
    assert roles["heading"][:2] == ["Lineage", chromium.value(TITLE)]
    assert "What is chosen" in roles["complementary"]
    assert all(roles["button"]) and roles["status"] and roles["search"]
    chromium.open(folder / "shop.html")
    unheard = "(g) => !g.ariaLabel || g.getAttribute('role') !== 'button'"
    assert chromium.value(f"{NODES}.filter({unheard}).length") == 0
    unnamed = "[...document.querySelectorAll('input, select')].filter((e) => !e.labels.length)"
    assert chromium.value(f"{unnamed}.length") == 0


def test_hostile_names_do_nothing(chromium: browser.Browser, folder: pathlib.Path) -> None:
    chromium.open(folder / "hostile.html")
    for i in range(10):
        chromium.value(f"document.getElementById('n{i}').focus()")
        kind = "artifact" if i < 5 else "execution"
        chromium.value(f"location.hash = 'at={kind}:{i % 5 + 1}'")
        chromium.until(f"document.querySelector('#panel h2') && location.hash.includes('{kind}')")
    assert chromium.value("document.querySelectorAll('img, b:not(#told b)').length") == 0
    chromium.value("document.getElementById('tabular').click()")
    assert chromium.value("document.querySelectorAll('img').length") == 0
    assert chromium.value("document.title") == "hostile.db – lineage"
    assert well(chromium)
    # And if one had become markup: the policy of the page runs no script but its own.
    run = "const s = document.createElement('script'); s.textContent = 'window.owned = true';"
    chromium.value(f"{run} document.body.append(s)")
    assert chromium.value("window.owned === undefined")
    assert any("Content Security Policy" in str(fault) for fault in chromium.faults())


def test_large_stores_say_what_is_left_out(chromium: browser.Browser, folder: pathlib.Path) -> None:
    chromium.call("Accessibility.disable")  # which takes longer than all of it
    chromium.open(folder / "many.html")
    assert chromium.value("document.querySelectorAll('g.n').length") == 2000
    left = chromium.value("document.getElementById('left').innerText")
    assert left.startswith("Not drawn: 100 artifacts and 0 executions, which are older.")
    assert chromium.value("document.getElementById('left').checkVisibility()")
    chromium.press("/", *"note@1050", "Enter")
    assert chromium.value(TITLE) == "note@1050"
    assert well(chromium)
    chromium.call("Accessibility.enable")


def test_nothing(chromium: browser.Browser, folder: pathlib.Path) -> None:
    chromium.open(folder / "none.html")
    chromium.press("ArrowRight", "0", "+", "/", "a", "Enter", "ArrowDown")
    assert (
        chromium.value("document.getElementById('told').innerText")
        == "none.db 0 artifacts, 0 executions"
    )
    assert chromium.value("document.getElementById('empty').checkVisibility()")
    assert well(chromium)


def test_colours_paper_and_a_phone(chromium: browser.Browser, folder: pathlib.Path) -> None:
    chromium.open(folder / "shop.html", "at=artifact:8")
    ground = "getComputedStyle(document.body).backgroundColor"
    assert chromium.value(ground) == "rgb(255, 255, 255)"
    chromium.media(prefers_color_scheme="dark")
    assert chromium.until(f"{ground} === 'rgb(21, 24, 28)'")
    box = "getComputedStyle(document.querySelector('.schema .box')).stroke"
    assert chromium.value(box) == "rgb(79, 195, 176)"
    chromium.value("document.getElementById('theme').click()")
    assert chromium.value(ground) == "rgb(255, 255, 255)"
    chromium.value("localStorage.clear()")
    chromium.media("print")
    shown = "(id) => getComputedStyle(document.getElementById(id)).display"
    assert chromium.value(f"({shown})('tools')") == "none"
    assert chromium.call("Page.printToPDF")["data"]
    chromium.media()
    chromium.window(375, 700, phone=True)
    assert chromium.value("document.documentElement.scrollWidth") <= 375
    high = "document.getElementById('panel').getBoundingClientRect()"
    assert chromium.value(f"{high}.width") == 375 and chromium.value(f"{high}.bottom") <= 700
    assert chromium.value("document.getElementById('canvas').clientHeight") > 150
    chromium.window(1280, 800)
    assert well(chromium)
