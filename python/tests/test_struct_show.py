"""How tensors show themselves: repr(), HTML tables, trees of types."""

from __future__ import annotations

import decimal
import html.parser
import re
from collections.abc import Iterator
from random import Random
from typing import Any

import columnstone as cst
import nested_data as data
import nested_reference as ref
import pytest
from columnstone import _core
from columnstone._arrow import show
from hypothesis import given

pa = pytest.importorskip("pyarrow")

SESSIONS = [
    {"id": 1, "event": [{"query": "shoes", "price": [9.5, 12.25]}, None], "emb": [1.0, 2.0]},
    {"id": 2, "event": [], "emb": [3.5, 4.0]},
    {"id": None, "event": None, "emb": [0.25, 0.5]},
]


def tensor(rows: object, is_row: bool = False) -> Any:
    return _core.structured(cst.array(rows), is_row)  # type: ignore[arg-type]


@pytest.fixture(autouse=True, scope="module")
def terminal() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLUMNS", "80")
        yield


def check(st: object, *wanted: str) -> None:
    assert repr(st).split("\n") == list(wanted)
    assert str(st) == repr(st)


# ---- repr ----


def test_vector_is_a_table_of_its_fields() -> None:
    check(
        tensor(SESSIONS),
        "StructuredTensor, shape (3,), 3 fields",
        " id      event                                          emb",
        " int64?  [*]? struct?, 2 fields                         [*]? float64?",
        " ──────  ─────────────────────────────────────────────  ─────────────",
        ' 1       [{query: "shoes", price: [9.5, 12.25]}, null]  [1.0, 2.0]',
        " 2       []                                             [3.5, 4.0]",
        " null    null                                           [0.25, 0.5]",
    )


def test_higher_rank_shows_the_lists_of_each_field() -> None:
    check(
        tensor(SESSIONS)["event"],
        "StructuredTensor, shape (3, None), 2 fields",
        " query            price",
        " string?          [*]? float64?",
        " ───────────────  ────────────────────",
        ' ["shoes", null]  [[9.5, 12.25], null]',
        " []               []",
        " null",
    )


def test_row_that_is_null_is_told_once() -> None:
    rows = repr(tensor([{"a": 1, "b": None}, None, {"a": None, "b": None}])).split("\n")[4:]
    assert [row.split() for row in rows] == [["1", "null"], ["null"], ["null", "null"]]


def test_scalar_has_a_line_per_field() -> None:
    check(
        tensor([{"title": "Snickerdoodle", "n": None, "rating": [{"score": 0.8}]}], True),
        "StructuredTensor, shape (), 3 fields",
        ' title   string?                "Snickerdoodle"',
        " n       null?                  null",
        " rating  [*]? struct?, 1 field  [{score: 0.8}]",
    )


def test_row_of_another_tensor_has_its_own_dimensions() -> None:
    check(
        tensor([[{"a": 1}, {"a": 2}]], True),
        "StructuredTensor, shape (2,), 1 field",
        " a",
        " int64?",
        " ──────",
        " 1",
        " 2",
    )


def test_leaf_tensors() -> None:
    check(tensor([1.5, None]), "LeafTensor, shape (2,), float64?", " 1.5", " null")
    ragged = ("LeafTensor, shape (3, None), int64?", " [1, 2]", " null", " []")
    check(tensor([[1, 2], None, []]), *ragged)
    check(tensor(["a"], True), 'LeafTensor, shape (), string?: "a"')
    check(tensor(pa.array([None], pa.int8()), True), "LeafTensor, shape (), int8?: null")
    check(tensor([[True, False]], True), "LeafTensor, shape (2,), bool?", " true", " false")
    check(tensor([b"a\xff"]), "LeafTensor, shape (1,), binary?", r" b'a\xff'")


def test_nothing_to_show() -> None:
    empty = tensor(pa.array([], pa.struct({"a": pa.int64()})))
    check(empty, "StructuredTensor, shape (0,), 1 field", " a", " int64?", " ──────")
    check(tensor(pa.array([], pa.int64())), "LeafTensor, shape (0,), int64?")
    check(tensor(pa.array([{}, {}], pa.struct([]))), "StructuredTensor, shape (2,), 0 fields")
    check(tensor(pa.array([{}], pa.struct([])), True), "StructuredTensor, shape (), 0 fields")
    null = tensor(pa.array([None], pa.struct({"a": pa.int64()})), True)
    check(null, "StructuredTensor, shape (), 1 field", " null")
    null = tensor(pa.array([None], pa.list_(pa.int8())), True)
    check(null, "LeafTensor, shape (None,), int8?", " null")


def test_long_rows_and_many_rows_are_cut() -> None:
    st = tensor([list(range(i)) for i in range(3, 15)])
    assert repr(st).split("\n")[1:4] == [" [0, 1, 2]", " [0, 1, 2, 3]", " [0, 1, 2, 3, …]"]
    assert repr(st).split("\n")[11:] == [" … 2 more rows"]
    assert repr(tensor(list(range(11)))).split("\n")[-1] == " … 1 more row"


def test_strings_are_cut_between_characters() -> None:
    for text in ("ä" * 1000, "語" * 1000, "e\u0301" * 1000, "x" * 100_000):
        line = repr(tensor([text, text])).split("\n")[1]
        assert line.startswith(f' "{text[:4]}')
        assert line.endswith("…")
        assert 78 <= show.width(line) <= 80


def test_values_have_as_many_digits_as_they_need() -> None:
    floats = tensor(pa.array([0.1, 1e30, -16777216.0, float("nan"), float("inf")], pa.float32()))
    assert repr(floats).split()[-5:] == ["0.1", "1e+30", "-16777216.0", "nan", "inf"]
    halves = tensor(pa.array([0.5, 65504.0, 0.1], pa.float16()))
    assert repr(halves).split()[-3:] == ["0.5", "65504.0", "0.099976"]


@pytest.mark.parametrize(
    ("value", "type", "wanted"),
    [
        (1, pa.timestamp("us"), "1970-01-01 00:00:00.000001"),
        (-1, pa.timestamp("ms", "Europe/Berlin"), "1969-12-31 23:59:59.999Z"),
        (2**62, pa.timestamp("s"), f"{2**62} s since 1970"),
        (19000, pa.date32(), "2022-01-08"),
        (86400000, pa.date64(), "1970-01-02"),
        (3661, pa.time32("s"), "01:01:01"),
        (5, pa.time64("ns"), "00:00:00.000000005"),
        (-7, pa.duration("ms"), "-7 ms"),
        (decimal.Decimal("-0.05"), pa.decimal128(10, 2), "-0.05"),
        (decimal.Decimal("12300"), pa.decimal128(10, -2), "12300"),
        (decimal.Decimal("7"), pa.decimal256(50, 0), "7"),
        ((1, 2, 3), pa.month_day_nano_interval(), "0x" + "010000000200000003" + "0" * 14),
    ],
)
def test_values_that_python_has_no_type_for(value: object, type: Any, wanted: str) -> None:
    if isinstance(value, int):
        width = 32 if type.bit_width == 32 else 64
        array = pa.array([value, None], pa.int32() if width == 32 else pa.int64()).view(type)
    else:
        array = pa.array([value, None], type)
    check(tensor(array), repr(tensor(array)).split("\n")[0], f" {wanted}", " null")


def test_slices_show_their_own_rows() -> None:
    rows = pa.array([{"a": [i], "b": str(i)} for i in range(30)]).slice(20, 5)
    assert [line.split() for line in repr(tensor(rows)).split("\n")[4:]] == [
        [f"[{i}]", f'"{i}"'] for i in range(20, 25)
    ]


@pytest.mark.parametrize(
    "type",
    [
        pa.list_view(pa.int64()),
        pa.large_list_view(pa.int64()),
        pa.large_list(pa.int64()),
        pa.list_(pa.int64(), 2),
    ],
)
def test_every_layout_of_lists(type: Any) -> None:
    assert repr(tensor(pa.array([[1, 2], None, [3, 4]], type))).split("\n")[1:] == [
        " [1, 2]",
        " null",
        " [3, 4]",
    ]
    assert repr(tensor(pa.array([[1, 2]], type), True)).split("\n")[1:] == [" 1", " 2"]


def test_maps_views_and_dictionaries() -> None:
    maps = pa.array([[("k", 1)], None], pa.map_(pa.string(), pa.int64()))
    views = pa.array(["x", "y" * 20], pa.string_view())
    words = pa.array(["a", None]).dictionary_encode()
    st = tensor(pa.StructArray.from_arrays([maps, views, words], ["m", "v", "d"]))
    assert repr(st).split("\n")[4:] == [
        ' [{key: "k", value: 1}]  "x"                     "a"',
        f' null                    "{"y" * 20}"  null',
    ]


# ---- sizes ----


def test_only_what_is_shown_becomes_objects(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 100,000 rows, each with a list of a million in all, few values are looked at."""
    array = pa.ListArray.from_arrays([0, *[1_000_000] * 100_000], pa.array(range(1_000_000)))
    st = tensor(array)
    seen = 0
    preview = _core.structured_preview

    def counting(*arguments: Any) -> list[Any]:
        nonlocal seen
        rows = preview(*arguments)
        seen += sum(1 + len(row) for row in rows)
        return rows

    monkeypatch.setattr(_core, "structured_preview", counting)
    assert repr(st).split("\n")[1] == " [0, 1, 2, 3, …]"
    assert st._repr_html_().count("<td>") < 20
    assert 0 < seen < 200


def test_long_strings_of_every_layout_are_cut() -> None:
    pa = pytest.importorskip("pyarrow")
    for type_ in (pa.string(), pa.large_string(), pa.string_view()):
        rows = _core.structured_preview(tensor(pa.array(["a" * 50, "b"], type_)), -1, 9, 9, 9, 5)
        assert rows == ["aaaaa", "b"], type_
    rows = _core.structured_preview(tensor(pa.array([b"a" * 50], pa.binary(50))), -1, 9, 9, 9, 5)
    assert rows == [b"aaaaa"]


def test_deep_and_wide_values_have_an_end() -> None:
    value: object = 1
    for _ in range(30):
        value = {"a": value, "b": [value] if not isinstance(value, dict) else None}
    text = repr(tensor([value, value]))
    assert len(text) < 1000
    rows = _core.structured_preview(
        tensor([[{str(i): i for i in range(500)}] * 500]), -1, 10, 4, 20, 9
    )
    assert len(rows[0][0]) == 19
    assert rows[0][1] is ...


@pytest.mark.parametrize("columns", [1, 20, 80, 500])
def test_thousands_of_fields(monkeypatch: pytest.MonkeyPatch, columns: int) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    st = tensor([{f"feature_{i}": i for i in range(3000)}] * 20)
    lines = repr(st).split("\n")
    assert lines[0] == "StructuredTensor, shape (20,), 3,000 fields"
    shown = lines[1].split()
    assert shown[0].startswith("f")
    assert lines[-2].startswith(" … 10 more r")
    assert columns < 80 or lines[-1].startswith(f" … {3000 - len(shown):,} more fields: feature_")
    assert columns < 20 or all(show.width(line) <= columns for line in lines[1:])
    scalar = repr(tensor([{f"feature_{i}": i for i in range(3000)}], True)).split("\n")
    assert len(scalar) == 22
    assert st._repr_html_().count("<th>") == 20


# ---- hostile names and values ----

HOSTILE = [
    "<script>alert(1)</script>",
    'x" onload="y',
    "\x1b[2J\n\r\t\x00x",
    "\u202eabc\u2028",
    "&amp;",
    "",
]


class Reader(html.parser.HTMLParser):
    """The tags, and the text of each cell."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, list[tuple[str, str | None]]]] = []
        self.open: list[str] = []
        self.cells: list[str] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, attributes))
        self.open.append(tag)
        if tag in ("th", "td"):
            self.cells.append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open[-1] in ("th", "td"):
            self.cells[-1] += data


def read(text: str) -> Reader:
    reader = Reader()
    reader.feed(text)
    reader.close()
    assert reader.open == []
    assert {tag for tag, _ in reader.tags} <= {"div", "table", "thead", "tbody", "tr", "th", "td"}
    assert all(attributes == [] for _, attributes in reader.tags)
    return reader


def test_html_has_the_cells_of_the_table() -> None:
    reader = read(tensor(SESSIONS)._repr_html_())
    assert reader.cells[:6] == [
        "id", "event", "emb", "int64?", "[*]? struct?, 2 fields", "[*]? float64?",
    ]  # fmt: skip
    assert reader.cells[6:9] == [
        "1",
        '[{query: "shoes", price: [9.5, 12.25]}, null]',
        "[1.0, 2.0]",
    ]
    assert read(tensor([1, None])._repr_html_()).cells == ["", "int64?", "1", "null"]
    assert read(tensor([None], True)._repr_html_()).cells[-1] == "null"
    assert "2 more rows" in tensor(list(range(12)))._repr_html_()


def test_names_and_values_are_escaped() -> None:
    names = [name.replace("\x00", "") for name in HOSTILE]
    columns = [pa.array([value, None]) for value in HOSTILE]
    for st in (
        tensor(pa.StructArray.from_arrays(columns, names)),
        tensor(pa.StructArray.from_arrays(columns, names).slice(0, 1), True),
        tensor(pa.StructArray.from_arrays(columns, names))[names[0]],
    ):
        for text in (repr(st), show.tree(st, None, None, False)):
            assert all(line.isprintable() for line in text.split("\n"))
        reader = read(st._repr_html_())
        assert all(cell.isprintable() for cell in reader.cells)
    assert show.value_text(HOSTILE[2]) == r'"\x1b[2J\n\r\t\x00x"'
    assert show.value_text('a"\\') == r'"a\"\\"'
    assert show.value_text("\ud800") == r'"\ud800"'
    assert show.value_text({"a\nb": [None, ..., {...: ...}]}) == r"{a\nb: [null, …, {…}]}"


# ---- trees ----


def test_tree_has_the_lengths_that_all_rows_have(capsys: pytest.CaptureFixture[str]) -> None:
    tensor(SESSIONS).show_tree()
    assert capsys.readouterr().out.split("\n") == [
        "[3] struct?",
        "├─ id        int64?",
        "├─ event     [*]? struct?",
        "│  ├─ query  string?",
        "│  └─ price  [*]? float64?",
        "└─ emb       [2] float64?",
        "",
    ]
    tensor([[{"a": [[1, 2, 3]]}] * 2] * 4).show_tree(ascii=True)
    assert capsys.readouterr().out == "[4][2] struct?\n`- a  [1][3] int64?\n"
    tensor([{"a": {"b": [1, 2]}, "c": 1}], True).show_tree(max_fields=1)
    assert (
        capsys.readouterr().out
        == "struct?\n├─ a     struct?\n│  └─ b  [2] int64?\n└─ … 1 more field\n"
    )
    tensor([[[1], [2, 3]], [[4]]]).show_tree()
    assert capsys.readouterr().out == "[2][*]?[*]? int64?\n"
    tensor([1.5], True).show_tree()
    assert capsys.readouterr().out == "float64?\n"
    tensor(SESSIONS).show_tree(max_depth=1)
    assert capsys.readouterr().out == "[3] struct?, 3 fields\n"


def test_tree_of_names_that_come_twice() -> None:
    lists = pa.array([[1], [2]])
    st = tensor(pa.StructArray.from_arrays([lists, lists], ["a", "a"]))
    assert show.tree(st, None, None, False) == "[2] struct?\n├─ a  [*]? int64?\n└─ a  [*]? int64?\n"
    assert repr(st).split("\n")[-1] == " [2]          [2]"


def test_tree_of_thousands_of_fields(capsys: pytest.CaptureFixture[str]) -> None:
    st = tensor([{f"f{i}": [i] for i in range(2000)}] * 2)
    st.show_tree()
    lines = capsys.readouterr().out.split("\n")
    assert lines[1] == "├─ f0   [1] int64?"
    assert lines[-2:] == ["└─ … 1900 more fields", ""]
    st.show_tree(max_fields=None)
    assert capsys.readouterr().out.count("\n") == 2001


def test_arguments_of_the_extension_are_checked() -> None:
    with pytest.raises(IndexError):
        _core.structured_preview(tensor([{"a": 1}]), 1, 1, 1, 1, 1)
    with pytest.raises(IndexError):
        _core.structured_preview(tensor([1]), 0, 1, 1, 1, 1)
    with pytest.raises(TypeError):
        _core.structured_preview([1], -1, 1, 1, 1, 1)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        _core.type_tree("int64", False, 0, 0)  # type: ignore[arg-type]


# ---- random data ----


def expect_cut(shown: Any, whole: Any) -> None:
    """The beginning of a value, with Ellipsis where something is left out."""
    if shown is ...:
        return
    if isinstance(shown, list):
        assert len(shown) <= len(whole) + (shown[-1:] == [...])
        for part, value in zip(shown, whole, strict=False):
            expect_cut(part, value)
    elif isinstance(shown, dict):
        for name, part in shown.items():
            if name is not ...:
                expect_cut(part, whole[name])
    elif isinstance(shown, str | bytes):
        assert whole.startswith(shown)
    elif isinstance(shown, float) and shown == shown:
        assert shown == pytest.approx(whole, rel=1e-6)
    else:
        assert repr(shown) == repr(whole)


@data.cases(150)
@given(data.randoms())
def test_previews_of_random_data(r: Random) -> None:
    made = data.random_tensor(r)
    ours, whole = made.ours(), made.tensor.value
    rows = whole if made.tensor.rank > 0 and whole is not None else [whole]
    cut = _core.structured_preview(ours, -1, 3, r.randrange(4), r.randrange(1, 30), 5)
    assert len(cut) == min(3, len(rows))
    expect_cut(cut, rows)
    expect_cut(rows, _core.structured_preview(ours, -1, 100, 100, 10_000, 100))
    for i, name in enumerate(ours.field_names()):
        field = ref.project(made.tensor, (name,)).value
        expect_cut(
            _core.structured_preview(ours, i, 100, 100, 10_000, 100),
            field if made.tensor.rank > 0 and field is not None else [field],
        )
    assert repr(ours).startswith(type(ours).__name__)
    read(ours._repr_html_())


@data.cases(100)
@given(data.randoms())
def test_trees_of_random_data(r: Random) -> None:
    ours = data.random_tensor(r).ours()
    first = show.tree(ours, None, None, False).split("\n")[0]
    brackets = re.findall(r"\[(\*|\d+)\](\??)", first)
    assert len(brackets) == ours.rank
    for (size, null), length in zip(brackets, ours.shape, strict=True):
        # lists of a fixed size keep it where one is null
        assert size == str(length) if length is not None else (size == "*" or null == "?")


# ---- tensors, arrays, batches and sources ----


def test_batches_and_arrays() -> None:
    batch = cst.record_batch({"i": list(range(12)), "s": ["a", None, "é"] * 4})
    first, *lines = repr(batch).split("\n")
    assert first == "RecordBatch, 12 rows, 2 columns"
    assert lines[:5] == [
        " i       s",
        " int64?  string?",
        " ──────  ───────",
        ' 0       "a"',
        " 1       null",
    ]
    assert lines[-1] == " … 2 more rows" and len(lines) == 14
    assert repr(cst.record_batch({})) == "RecordBatch, 0 rows, 0 columns"
    assert (
        repr(batch.column("s")[:2]) == '<columnstone.arrow.Array of 2 values, string?: ["a", null]>'
    )
    ten = ", ".join(map(str, range(10)))
    assert repr(batch.column("i")) == f"<columnstone.arrow.Array of 12 values, int64?: [{ten}, …]>"


def test_tensors_of_frameworks() -> None:
    table = pa.table({"x": pa.array([[[1], [2, 3]], [], [[4]]]), "y": [7, None, 9]})
    view = cst.Query.from_text("output x = ragged(x) output y = sparse(y)", type=table).view()
    made = next(iter(cst.open(table, view=view).tensors()))
    assert repr(made["x"]) == (
        "<columnstone.tensor.RaggedTensor int64 of 3 rows, 2 levels, 4 values: "
        "[[[1], [2, 3]], [], [[4]]]>"
    )
    assert repr(made["y"]).endswith("with 2 values: {(0): 7, (2): 9}>")


def test_repr_of_a_source_of_a_file(tmp_path: Any) -> None:
    path = tmp_path / "t.arrow"
    cst.write(pa.table({"a": range(3), "b": range(3)}), path)
    check(cst.open(path, columns=["a"]), f"Source {str(path)!r}, 1 column", *TABLE)
    check(cst.open(path).map(lambda batch: batch), f"<columnstone.Source {str(path)!r}>")


def test_repr_of_a_source_that_is_no_file_reads_nothing() -> None:
    source = cst.open(pa.table({"a": range(3)}))
    assert "int64" not in repr(source)
    source.head(1)
    assert repr(source).endswith(": a int64?>")


TABLE = [" a", " int64?", " ──────", " 0", " 1", " 2"]
