"""The page of statistics: what stands in it, and what it does in Chromium."""

from __future__ import annotations

import json
import math
import pathlib
import re
import struct
import time
import zlib
from collections.abc import Iterator
from typing import Any

import browser
import columnstone as cst
import numpy as np
import pyarrow as pa
import pytest
from columnstone import _core

HOSTILE = (
    "</script><img src=x onerror=document.title='owned'>",
    "<!--<script>",
    "\"'`&amp;<b>",
    "​\u2028‮right to left",
)


def statistics(data: Any, **options: Any) -> cst.RecordBatch:
    made = cst.accumulate.Accumulator("statistics", **options)
    made.add(data)
    return made.finish()


def page(*tables: cst.RecordBatch, names: tuple[str, ...] = ("monday", "tuesday")) -> str:
    return _core.statistics_page(tables, names[: len(tables)], None).decode()


def data_of(html: str) -> dict[str, Any]:
    match = re.search(r'<script type="application/json" id="data">(.*?)</script>', html, re.DOTALL)
    assert match
    return dict(json.loads(match[1], parse_int=float))


def features_of(data: dict[str, Any]) -> dict[tuple[Any, ...], dict[str, Any]]:
    """Of the first table: by slice and path."""
    found = {}
    for part in data["data"][0]["slices"]:
        for kind, *cells in part["features"]:
            columns = data["columns"][int(kind)]
            row = dict(zip(columns, cells, strict=False))
            found[tuple(map(tuple, part["slice"])), row["path"]] = row
    return found


def trips(seed: int, rows: int = 2000) -> pa.Table:
    rng = np.random.default_rng(seed)
    fares = rng.lognormal(2 + seed / 10, 1, rows)
    return pa.table(
        {
            "fare": pa.array(fares, mask=rng.random(rows) < 0.1),
            "tips": np.where(rng.random(rows) < 0.5, 0, fares / 5),
            "company": rng.choice(["Blue", "Green", "Red"], rows, p=[0.6, 0.3, 0.1]),
            "paid": rng.random(rows) < 0.3,
            "stops": [list(range(n)) for n in rng.integers(0, 4, rows)],
            "id": pa.array(range(2**60, 2**60 + rows)),
            "empty": pa.nulls(rows, pa.int64()),
        }
    )


@pytest.fixture(scope="module")
def one() -> cst.RecordBatch:
    return statistics(trips(1), by=["company"])


# ---- what stands in it ----


def test_it_holds_the_table(one: cst.RecordBatch) -> None:
    columns = one.to_pydict()
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    data = data_of(page(one))
    found = features_of(data)
    assert data["data"][0]["name"] == "monday"
    assert data["data"][0]["totals"]["num_rows"] == 2000
    assert [part["slice"] for part in data["data"][0]["slices"]] == [
        [],
        *([["company", c]] for c in ("Blue", "Green", "Red")),
    ]
    assert len(found) == len(rows) == 4 * 7
    names = ["type", "rows", "present", "values", "distinct", "mean", "std_dev", "min", "max"]
    names += ["zeros", "exact_min", "exact_max", "mean_length", "min_length", "not_utf8"]
    for row in rows:
        key = tuple((s["path"], s["value"]) for s in row["slice"])
        told = found[key, row["path"]]
        for name in names:
            assert told.get(name) == row[name], (row["path"], name)
        quantiles = told.get("quantiles") or []
        assert quantiles == pytest.approx(row["quantiles"], rel=1e-5)
        assert [t[:2] for t in told.get("top") or []] == [
            [t["value"], t["lower"]] for t in row["top"]
        ]
        bounds, *weights = told.get("histogram") or [[]]
        assert weights == pytest.approx([bucket["weight"] for bucket in row["histogram"]], rel=1e-5)
        assert not bounds or bounds == [row["histogram"][0]["low"], row["histogram"][-1]["high"]]


def test_numbers_that_json_lacks() -> None:
    data = data_of(page(statistics(pa.table({"a": [math.inf, -math.inf, math.nan, 0.1]}))))
    row = features_of(data)[(), "a"]
    assert (row["min"], row["max"], row["mean"]) == (-math.inf, math.inf, 0.1)


def test_names_and_values_end_nothing() -> None:
    table = pa.table({name: [name, name, "x" * 10_000] for name in HOSTILE})
    html = page(statistics(table), names=(HOSTILE[0],))
    data = data_of(html)
    assert data["data"][0]["name"] == HOSTILE[0]
    assert {path for _, path in features_of(data)} == set(HOSTILE)
    assert "<img" not in html and "<!--<" not in html
    assert len(max(features_of(data)[(), HOSTILE[0]]["top"])[0]) < 130


def test_it_asks_for_nothing(one: cst.RecordBatch) -> None:
    html = page(one)
    assert "default-src 'none'" in html
    assert re.findall(r"https?://[^\s\"']+", html) == ["http://www.w3.org/2000/svg"]  # a name
    assert not re.search(r"@import|url\(|<link|<iframe| src=| href=\"(?!#)", html)


def test_many_features_are_small() -> None:
    rng = np.random.default_rng(3)
    rows = 200
    columns: dict[str, Any] = {f"number_{i}": rng.normal(size=rows) for i in range(600)}
    columns |= {f"text_{i}": [f"value {n}" for n in rng.zipf(1.5, rows)] for i in range(400)}
    html = page(statistics(pa.table(columns), quantiles=100))
    assert len(html) < 3_000_000


def test_what_it_is_made_of(one: cst.RecordBatch) -> None:
    with pytest.raises(cst.errors.ArgumentError, match="one table of features or of two"):
        _core.statistics_page((), (), None)
    with pytest.raises(cst.errors.ArgumentError, match="comparison"):
        _core.statistics_page((one,), ("a",), one)
    with pytest.raises(cst.errors.ArgumentError, match="table of features"):
        _core.statistics_page((cst.record_batch({"a": [1]}),), ("a",), None)
    with pytest.raises(ValueError, match="name"):
        _core.statistics_page((one,), (), None)


# ---- what it does ----


@pytest.fixture(scope="module")
def chromium() -> Iterator[browser.Browser]:
    if browser.program() is None:
        pytest.skip("there is no Chromium here")
    with browser.browser() as opened:
        opened.window(1280, 800)
        yield opened


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, one: cst.RecordBatch) -> pathlib.Path:
    made = tmp_path_factory.mktemp("pages")
    (made / "one.html").write_text(page(one))
    (made / "two.html").write_text(page(one, statistics(trips(2), by=["company"])))
    weighted = statistics(trips(1), weight="tips")
    (made / "weighted.html").write_text(page(weighted))
    hostile = pa.table({name: [name, name] for name in HOSTILE})
    early, late = trips(1), trips(2, 1000)
    late = late.set_column(2, "company", [["Green", "White"] * 500]).drop_columns(["paid"])
    tables = statistics(early), statistics(late)
    limits = (("jensen_shannon", "0.2"), ("rows", "0.1"))
    found, _ = _core.statistics_compare(*tables, None, limits)
    compared = _core.statistics_page(tables, ("early", "late"), found)
    (made / "compared.html").write_bytes(compared)
    odd = {"huge": [1e308, -1e308], "infinite": [math.inf, -math.inf], "nan": [math.nan] * 2}
    odd |= {"tiny": [5e-324, 1e-323], "one": [-7.1, None], "large": [2.0**63, 1.0]}
    (made / "odd.html").write_text(page(statistics(pa.table(odd))))
    (made / "hostile.html").write_text(page(statistics(hostile), names=HOSTILE[:1]))
    (made / "none.html").write_text(page(statistics(pa.table({"a": pa.array([], pa.int64())}))))
    return made


PATHS = "[...document.querySelectorAll('button.name')].map((b) => b.textContent)"
FOCUSED = "document.activeElement.value ?? document.activeElement.id"


def well(chromium: browser.Browser) -> bool:
    """Nothing was asked for but the file, and nothing went wrong."""
    assert chromium.faults() == []
    return all(url.startswith(("file:", "about:")) for url in chromium.requests())


def test_search_types_and_sorting(chromium: browser.Browser, folder: pathlib.Path) -> None:
    chromium.open(folder / "one.html")
    everything = ["company", "empty", "fare", "id", "paid", "stops", "tips"]
    assert chromium.value(PATHS) == everything
    chromium.press("/", "f", "A")
    assert chromium.value(PATHS) == ["fare"]
    assert chromium.value("document.getElementById('count').value") == "1 of 7 features"
    chromium.press("Escape")
    assert chromium.value(PATHS) == everything
    chromium.press("z", "z")
    assert chromium.value("!document.getElementById('none').hidden")
    chromium.value("document.getElementById('clear').click()")
    choose = "(id, value) => { const e = document.getElementById(id); e.value = value;"
    choose += " e.dispatchEvent(new Event('change')); }"
    chromium.value(f"({choose})('type', 'FLOAT')")
    assert chromium.value(PATHS) == ["fare", "tips"]
    chromium.value(f"({choose})('type', '')")
    click = "(name) => document.querySelector(`thead button[value=${name}]`).click()"
    heads = "Object.fromEntries([...document.querySelectorAll('#features > thead th[aria-sort]')]"
    heads += ".map((head) => [head.className, head.ariaSort]).filter(([, s]) => s !== 'none'))"
    chromium.value(f"({click})('missing')")
    assert chromium.value(PATHS)[:2] == ["empty", "fare"]
    assert chromium.value(heads) == {"missing": "descending"}
    chromium.value(f"({click})('path')")
    assert chromium.value(PATHS) == everything
    chromium.value(f"({click})('path')")
    assert chromium.value(PATHS) == everything[::-1]
    assert chromium.value(heads) == {"path": "descending"}
    for name in ("zeros", "distinct", "mean", "std_dev", "min", "median", "max", "type"):
        chromium.value(f"({click})('{name}')")
        assert sorted(chromium.value(PATHS)) == everything
    chromium.value(f"({click})('mean')")
    assert chromium.value(PATHS)[0] == "id"
    assert "sort=mean" in chromium.value("location.hash")  # which brings it back
    chromium.open(folder / "one.html", chromium.value("location.hash.slice(1)"))
    assert chromium.value(PATHS)[0] == "id"
    assert well(chromium)


def test_keys_and_details(chromium: browser.Browser, folder: pathlib.Path) -> None:
    chromium.open(folder / "one.html")
    chromium.press("/", "ArrowDown")
    assert chromium.value(FOCUSED) == "company"
    chromium.press("ArrowDown", "ArrowDown")
    assert chromium.value(FOCUSED) == "fare"
    chromium.press("End")
    assert chromium.value(FOCUSED) == "tips"
    chromium.press("Home", "ArrowDown", "ArrowDown", "Enter")
    opened = "document.querySelectorAll('tr.below').length"
    assert chromium.value(opened) == 1
    assert chromium.value("document.activeElement.ariaExpanded") == "true"
    told = chromium.value("document.querySelector('tr.below').innerText")
    for text in ("Histogram", "Quantiles", "median", "Standard deviation", "Slices (3)"):
        assert text in told
    image = "document.querySelector('tr.below svg[role=img]').ariaLabel"
    assert chromium.value(image).startswith("Histogram of fare: from 0")
    chromium.press("Tab")  # into the details, from where Escape leads back
    assert chromium.value("!!document.activeElement.closest('tr.below')")
    chromium.press("Escape")
    assert chromium.value(FOCUSED) == "fare" and chromium.value(opened) == 0
    chromium.press("ArrowRight")
    chromium.value("document.querySelector('tr.below button.link').click()")
    assert chromium.value("document.getElementById('slice').value") == '[["company","Blue"]]'
    assert chromium.value(FOCUSED) == "fare"
    assert chromium.value("document.querySelector('tr.open .missing').textContent").endswith("%")
    for path in ("company", "stops", "empty", "paid", "id"):
        chromium.value(f"document.querySelector('button.name[value={path}]').click()")
    told = chromium.value("document.querySelector('tbody').innerText")
    for text in ("Frequent values", "Lists", "Blue", "11529215046068"):
        assert text in told
    assert well(chromium)


def test_who_hears_it(chromium: browser.Browser, folder: pathlib.Path) -> None:
    chromium.open(folder / "one.html", "open=fare&sort=missing+down")
    nodes = chromium.call("Accessibility.getFullAXTree")["nodes"]
    roles: dict[str, list[str]] = {}
    for node in nodes:
        if not node.get("ignored"):
            name = node.get("name", {}).get("value", "")
            roles.setdefault(node["role"]["value"], []).append(name)
    assert roles["table"][0] == "Features"
    assert "Details of fare" in roles["region"]
    assert roles["heading"][:3] == ["Statistics", "Histogram", "Quantiles"]
    assert "Missing" in roles["columnheader"] and "fare" in roles["rowheader"]
    assert {"Search", "Type", "Slice"} <= set(roles["searchbox"] + roles["combobox"])
    pictures = [name for role in ("image", "img") for name in roles.get(role, [])]
    assert len(pictures) > 5 and all(pictures)
    assert all(roles["button"]) and roles["status"] and roles["search"]
    unnamed = "[...document.querySelectorAll('input, select')].filter((e) => !e.labels.length)"
    assert chromium.value(f"{unnamed}.length") == 0


def test_two_data_sets(chromium: browser.Browser, folder: pathlib.Path) -> None:
    chromium.open(folder / "two.html", "open=fare")
    cells = "[...document.querySelectorAll('td.missing')].map((c) => c.children.length)"
    assert set(chromium.value(cells)) == {2}
    told = chromium.value("document.querySelector('td.mean').closest('tr').textContent")
    assert "monday" in told and "tuesday" in told
    fills = "document.querySelectorAll('tr.below svg.large .fill0, tr.below svg.large .fill1')"
    assert chromium.value(f"{fills}.length") == 2
    before = chromium.value(f"{fills}[0].getAttribute('d')")
    chromium.value("document.getElementById('log').click()")
    assert chromium.value(f"{fills}[0].getAttribute('d')") != before
    assert well(chromium)


def test_what_a_comparison_found(chromium: browser.Browser, folder: pathlib.Path) -> None:
    chromium.open(folder / "compared.html", "open=company")
    drift = "[...document.querySelectorAll('td.drift')].map((c) => parseFloat(c.textContent))"
    scores = chromium.value(drift)
    assert scores == sorted(scores, reverse=True) and scores[0] == 1
    assert chromium.value(PATHS).index("company") < chromium.value(PATHS).index("stops")
    told = chromium.value("document.querySelector('tr.below').innerText")
    for text in ("Jensen-Shannon", "Beyond a threshold", "New values", "White", "Lost values"):
        assert text in told
    assert "rows" in chromium.value("document.getElementById('whole').innerText")
    row = "document.querySelector('button.name[value=paid]').closest('tr').textContent"
    assert "late: –" in chromium.value(row)
    assert well(chromium)


def test_charts_without_extremes(chromium: browser.Browser, folder: pathlib.Path) -> None:
    chromium.open(folder / "one.html", "search=fare&open=fare")
    texts = "[...document.querySelectorAll('svg.large title')].map((t) => t.textContent)"
    whole = chromium.value(texts)
    chromium.value("document.getElementById('middle').click()")
    middle = chromium.value(texts)
    assert len(whole) == 10 and len(middle) == 20
    counts = [int(text.split(": ")[1].split(" (")[0].replace(",", "")) for text in middle]
    assert sum(counts) == pytest.approx(0.98 * 1800, abs=60)
    assert "middle=1" in chromium.value("location.hash")
    assert well(chromium)


def test_weights(chromium: browser.Browser, folder: pathlib.Path) -> None:
    chromium.open(folder / "weighted.html", "search=fare")
    hidden = "document.getElementById('weights').hidden"
    assert chromium.value(hidden) is False
    missing = "document.querySelector('td.missing').textContent"
    before = chromium.value(missing)
    chromium.value("document.getElementById('weighted').click()")
    assert chromium.value(missing) != before
    chromium.open(folder / "one.html")
    assert chromium.value(hidden) is True
    assert well(chromium)


def test_hostile_names_do_nothing(chromium: browser.Browser, folder: pathlib.Path) -> None:
    chromium.open(folder / "hostile.html")
    assert sorted(chromium.value(PATHS)) == sorted(HOSTILE)
    chromium.value("document.querySelectorAll('button.name').forEach((b) => b.click())")
    assert chromium.value("document.querySelectorAll('img, b:not(#names b)').length") == 0
    assert chromium.value("document.title").startswith(HOSTILE[0])
    assert well(chromium)
    # And if one had become markup: the policy of the page runs no script but its own.
    run = "const s = document.createElement('script'); s.textContent = 'window.owned = true';"
    chromium.value(f"{run} document.body.append(s)")
    load = "const i = new Image(); i.src = 'https://example.com/'; document.body.append(i)"
    chromium.value(f"(() => {{ {load} }})()")
    assert chromium.value("window.owned === undefined")
    assert any("Content Security Policy" in str(fault) for fault in chromium.faults())


def test_odd_numbers_are_drawn(chromium: browser.Browser, folder: pathlib.Path) -> None:
    for address in ("", "log=1&middle=1"):
        chromium.open(folder / "odd.html", address)
        chromium.value("document.querySelectorAll('button.name').forEach((b) => b.click())")
        assert "NaN" not in chromium.value("document.querySelector('tr.below').outerHTML")
        assert well(chromium)


def test_no_rows(chromium: browser.Browser, folder: pathlib.Path) -> None:
    chromium.open(folder / "none.html", "open=a")
    assert chromium.value("document.getElementById('names').innerText").endswith("0 rows")
    assert chromium.value("document.getElementById('empty').checkVisibility()")
    assert well(chromium)


def pixel(png: bytes) -> tuple[int, ...]:
    """The first one of a picture."""
    at, data = 8, b""
    while at < len(png):
        (size,) = struct.unpack_from(">I", png, at)
        data += png[at + 8 : at + 8 + size] if png[at + 4 : at + 8] == b"IDAT" else b""
        at += size + 12
    return tuple(zlib.decompressobj().decompress(data, 4)[1:4])


def test_colours_paper_and_a_phone(chromium: browser.Browser, folder: pathlib.Path) -> None:
    chromium.open(folder / "one.html")
    dark = "document.getElementById('theme').ariaPressed"
    assert chromium.value(dark) == "false" and min(pixel(chromium.picture())) > 200
    chromium.media(prefers_color_scheme="dark")
    assert chromium.until(f"{dark} === 'true'") and max(pixel(chromium.picture())) < 60
    chromium.value("document.getElementById('theme').click()")
    assert chromium.value(dark) == "false" and min(pixel(chromium.picture())) > 200
    chromium.value("localStorage.clear()")
    chromium.media("print")
    shown = "(id) => getComputedStyle(document.getElementById(id)).display"
    assert chromium.value(f"({shown})('tools')") == "none"
    chromium.media()
    chromium.window(375, 700, phone=True)
    assert chromium.value("document.documentElement.scrollWidth") <= 375
    assert chromium.value(f"({shown})('order')") != "none"
    chromium.value("document.querySelector('button.name').click()")
    assert chromium.value("document.documentElement.scrollWidth") <= 375
    chromium.window(1280, 800)
    assert well(chromium)


def big_table(features: int, slices: int) -> cst.RecordBatch:
    """As large as statistics of so many features, without data of that size."""
    table = pa.table(statistics(trips(1, 300), quantiles=20, top=10))
    wide = table.take([i % table.num_rows for i in range(features)])
    paths = pa.array([f"feature_{i:04}" for i in range(features)])
    wide = wide.set_column(1, table.schema.field("path"), paths)
    parts = [wide]
    for i in range(slices):
        where = [[{"path": "company", "value": f"number {i}"}]] * features
        column = pa.array(where, table.schema.field("slice").type)
        parts.append(wide.set_column(0, table.schema.field("slice"), column))
    return cst.record_batch(pa.concat_tables(parts).combine_chunks())


def test_a_thousand_features_in_fifty_slices(
    chromium: browser.Browser, tmp_path: pathlib.Path
) -> None:
    path = tmp_path / "big.html"
    html = page(big_table(1000, 50))
    path.write_text(html)
    lines = re.findall(r'^(\[0,"feature_0002",.*\]),?$', html, re.M)  # each row is a line
    whole, of_slice = (max(json.loads(line)[1:], key=lambda c: len(str(c))) for line in lines[:2])
    assert (len(lines), len(whole), len(of_slice)) == (51, 21, 11)  # slices tell less
    assert whole[::2] == of_slice
    begin = time.monotonic()
    chromium.open(path)
    shown = chromium.until("document.querySelectorAll('button.name').length")
    print(f"opened in {time.monotonic() - begin:.2f} s, {path.stat().st_size} bytes")
    assert shown >= 60
    assert chromium.until("document.querySelectorAll('button.name').length === 1000")
    chromium.value("document.querySelector('button.name').click()")
    assert "Slices (50)" in chromium.value("document.querySelector('tr.below').innerText")
    chromium.press("/", "0", "9", "9", "9")
    assert chromium.value(PATHS) == ["feature_0999"]
    assert well(chromium)
