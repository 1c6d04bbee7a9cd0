"""Every example of the RFC on structured tensors (20190910-struct-tensor), in its order.

What our names change: `tf.struct.constant` and `struct_constant` are `cst.struct.constant`, and
`tf.Tensor` and `tf.RaggedTensor` are one class, `cst.struct.LeafTensor`, whose shape has None where
rows differ in length. `tf.gather` and its like are `cst.struct.gather`.
"""

from __future__ import annotations

import itertools
from typing import Any

import columnstone as cst
import numpy as np
import pyarrow as pa
import pytest

INGREDIENTS = [
    {"amount": 3.0, "unit": "cup", "name": "flour"},
    {"amount": 1.0, "unit": "cup", "name": "white sugar"},
    {"amount": 0.5, "unit": "cup", "name": "brown sugar"},
    {"amount": 1.0, "unit": "cup", "name": "butter"},
    {"amount": 1.0, "unit": "teaspoon", "name": "cinnamon"},
    {"amount": 2.0, "unit": "teaspoon", "name": "cream of tartar"},
    # Of the others the RFC says only that there are ten in all.
    {"amount": 1.0, "unit": "teaspoon", "name": "baking soda"},
    {"amount": 0.5, "unit": "teaspoon", "name": "salt"},
    {"amount": 2.0, "unit": "piece", "name": "egg"},
    {"amount": 1.0, "unit": "teaspoon", "name": "vanilla"},
]
STEPS = [
    {"description": "Preheat oven to 350 degrees F."},
    {"description": "Whisk together the flour, cinnamon, baking soda, salt, ..."},
    {"description": "Using an electric mixer, cream together the butter and sugar ..."},
    {"description": "Add the dry ingredients to the wet ingredients and mix until ..."},
]
RATINGS = [
    {"user_embedding": [0.7, 2.0, 0.3, 0.3, 5.2, 2.2], "score": 0.8},
    {"user_embedding": [1.4, 0.0, 3.1, 1.1, 1.2, 0.3], "score": 0.4},
]
RECIPE = {
    "user_embedding": [0.8, 2.1, 0.3, 0.1, 9.2, 1.8],
    "recipe": {
        "title": "Snickerdoodle cookies",
        "est_time": 55.0,
        "ingredients": INGREDIENTS,
        "step": STEPS,
        "user_rating": RATINGS,
    },
}


@pytest.fixture(scope="module")
def struct() -> Any:
    return cst.struct.constant(RECIPE)


# --- Design proposal: the recipe --------------------------------------------------------------


def test_the_root_and_the_recipe_are_scalars(struct: Any) -> None:
    assert isinstance(struct, cst.StructuredTensor) and struct.shape == ()
    assert isinstance(struct["recipe"], cst.StructuredTensor) and struct["recipe"].shape == ()
    assert struct.to_py() == RECIPE


def test_nested_fields_are_vectors_of_structs(struct: Any) -> None:
    for name, length in (("ingredients", 10), ("step", 4), ("user_rating", 2)):
        field = struct["recipe"][name]
        assert isinstance(field, cst.StructuredTensor)
        assert field.shape == (length,)


def test_nested_fields_of_the_structs_are_scalars_and_one_is_a_vector(struct: Any) -> None:
    recipe = struct["recipe"]
    assert recipe["title"].shape == recipe["est_time"].shape == ()
    for name in ("amount", "unit", "name"):
        assert recipe["ingredients"][0][name].shape == ()
    assert recipe["step"][0]["description"].shape == ()
    assert recipe["user_rating"][0]["score"].shape == ()
    assert recipe["user_rating"][0]["user_embedding"].shape == (6,)


# --- Usage: indexing --------------------------------------------------------------------------


def test_a_name_of_a_scalar_selects_a_field(struct: Any) -> None:
    embedding = struct["user_embedding"]
    assert isinstance(embedding, cst.struct.LeafTensor)
    assert embedding.shape == (6,) and embedding.to_py()[0] == 0.8

    assert isinstance(struct["recipe"], cst.StructuredTensor)
    assert struct["recipe"].shape == ()
    assert struct["recipe"].to_py()["title"].startswith("Snicker")

    title = struct["recipe"]["title"]
    assert isinstance(title, cst.struct.LeafTensor)
    assert title.shape == () and title.to_py() == "Snickerdoodle cookies"

    ingredients = struct["recipe"]["ingredients"]
    assert isinstance(ingredients, cst.StructuredTensor)
    assert ingredients.shape == (10,) and ingredients.to_py()[0]["name"] == "flour"


def test_an_integer_of_a_vector_selects_an_element(struct: Any) -> None:
    first = struct["recipe"]["ingredients"][0]
    assert isinstance(first, cst.StructuredTensor)
    assert first.shape == () and first.to_py()["name"] == "flour"


def test_several_dimensions_at_once(struct: Any) -> None:
    name = struct["recipe", "ingredients", 0, "name"]
    assert name.shape == () and name.to_py() == "flour"


def test_slices_between_names(struct: Any) -> None:
    names = struct["recipe", "ingredients", :, "name"]
    assert names.shape == (10,) and names.to_py()[:2] == ["flour", "white sugar"]


def test_slices_below_names(struct: Any) -> None:
    every_other = struct["recipe", "user_rating", :, "user_embedding", ::2]
    # The RFC prints 0.8 for the first value, which is 0.7 in its own data.
    assert every_other.to_py() == [[0.7, 0.3, 5.2], [1.4, 3.1, 1.2]]
    assert every_other.shape == (2, 3)  # [num_user_ratings, 3]


# --- Usage: path-based manipulation -----------------------------------------------------------


def test_broadcast_copies_to_a_descendant(struct: Any) -> None:
    result = struct.broadcast("recipe.title", into="recipe.ingredients")
    assert result["recipe.ingredients.title"].to_py() == ["Snickerdoodle cookies"] * 10


def test_promote_copies_to_an_ancestor(struct: Any) -> None:
    result = struct.promote("recipe.user_rating.score", to="", name="scores")
    assert result["scores"].to_py() == [0.8, 0.4]
    near = struct.promote("recipe.user_rating.score")
    assert near["recipe.score"].to_py() == [0.8, 0.4]


def test_apply_writes_what_a_function_gives(struct: Any) -> None:
    result = struct.apply(np.log1p, "recipe.user_rating.score", name="recipe.user_rating.log")
    np.testing.assert_allclose(result["recipe.user_rating.log"].to_py(), np.log1p([0.8, 0.4]))
    two = struct.apply(
        np.multiply,
        "recipe.ingredients.amount",
        "recipe.ingredients.amount",
        name="recipe.ingredients.square",
    )
    assert two["recipe.ingredients.square"].to_py() == [i["amount"] ** 2 for i in INGREDIENTS]


# --- Struct tensor encoding -------------------------------------------------------------------

FOO = {"x": "foo", "y": [[1, 2], [3]]}
BAR = {"x": "bar", "y": [[4], [5, 6]]}
BAZ = {"x": "baz", "y": [[7, 8, 9]]}
RAZ: dict[str, Any] = {"x": "raz", "y": []}


def test_encoding_of_a_scalar() -> None:
    st_scalar = cst.struct.constant(FOO)
    assert st_scalar.shape == ()
    assert st_scalar.field_value("x").to_py() == "foo"
    assert st_scalar.field_value("y").to_py() == [[1, 2], [3]]


def test_encoding_of_a_vector() -> None:
    st_vector = cst.struct.constant([FOO, BAR, BAZ])
    assert st_vector.shape == (3,)
    assert st_vector.field_value("x").to_py() == ["foo", "bar", "baz"]
    assert st_vector.field_value("y").to_py() == [[[1, 2], [3]], [[4], [5, 6]], [[7, 8, 9]]]


def test_encoding_of_a_matrix() -> None:
    st_matrix = cst.struct.constant([[FOO, BAR], [BAZ, RAZ]])
    assert st_matrix.shape == (2, 2)
    assert st_matrix.field_value("x").to_py() == [["foo", "bar"], ["baz", "raz"]]
    assert st_matrix.field_value("y").to_py() == [
        [[[1, 2], [3]], [[4], [5, 6]]],
        [[[7, 8, 9]], []],
    ]


@pytest.mark.parametrize("value", [FOO, [FOO, BAR, BAZ], [[FOO, BAR], [BAZ, RAZ]]])
def test_fields_have_the_dimensions_of_the_structs(value: Any) -> None:
    """v.shape[:N] = st.shape; st[D1...DN][k] = v[D1...DN]"""
    st = cst.struct.constant(value)
    for k in st.field_names():
        v = st.field_value(k)
        assert v.shape[: st.rank] == st.shape
        for place in itertools.product(*map(range, st.shape)):
            one, other = st[place] if place else st, v[place] if place else v
            assert one[k].to_py() == other.to_py()


def test_ragged_structs_are_values_and_row_partitions() -> None:
    ragged = cst.struct.constant([[FOO, BAR], [BAZ]])
    assert ragged.shape == (2, None)
    assert [splits.to_pylist() for splits in ragged.row_splits] == [[0, 2, 3]]
    assert ragged.flat_values.to_py() == [FOO, BAR, BAZ]


# --- Updating fields --------------------------------------------------------------------------


def test_updates_add_and_replace() -> None:
    st = cst.struct.constant([FOO, BAR, BAZ])
    updated = st.with_updates(x=[1, 2, 3], z=[[1.0], [], [2.0, 3.0]])
    assert updated["x"].to_py() == [1, 2, 3]
    assert updated["z"].to_py() == [[1.0], [], [2.0, 3.0]]
    assert updated.field_names() == ("x", "y", "z")
    assert st.to_py() == [FOO, BAR, BAZ]  # it is immutable


def test_updates_must_have_the_shape_of_the_structs() -> None:
    st = cst.struct.constant([FOO, BAR, BAZ])
    with pytest.raises(cst.Error):
        st.with_updates(z=[1, 2])


def test_without_and_with_only() -> None:
    st = cst.struct.constant([FOO, BAR])
    assert st.without("x").field_names() == ("y",)
    assert st.with_only("x").to_py() == [{"x": "foo"}, {"x": "bar"}]
    with pytest.raises(KeyError):
        st.without("z")
    with pytest.raises(KeyError):
        st.with_only("x", "z")


# --- Limitations ------------------------------------------------------------------------------

# The value; the path of the field, what is found in row 1, and what row 0 made to be expected.
LIMITATIONS: dict[str, tuple[list[Any], str, str, str]] = {
    "dtypes": ([{"a": 1}, {"a": "hello"}], "a", "str", "int"),
    "ranks": ([{"b": [1, 2, 3]}, {"b": [[1, 2], [3, 4]]}], "b", "list", "int"),
    "nested fields": ([{"c": {"x": 1}}, {"c": {"y": 1}}], "c.y", "key", "row 0"),
}


@pytest.mark.parametrize("case", LIMITATIONS)
def test_what_cannot_be_encoded(case: str) -> None:
    value, path, found, expected = LIMITATIONS[case]
    with pytest.raises(cst.errors.SchemaError, match=f"found .*{found}.*{expected}") as caught:
        cst.struct.constant(value)
    assert (caught.value.path, caught.value.record) == (path, 1)


# --- Integration: row-based formats -----------------------------------------------------------


def test_nested_lists_of_scalars_are_tensors() -> None:
    assert cst.struct.constant([[1, 2], [3, 4]]).shape == (2, 2)
    assert cst.struct.constant([[1, 2], [3]]).shape == (2, None)
    assert isinstance(cst.struct.constant([1, 2]), cst.struct.LeafTensor)
    with pytest.raises(cst.Error):
        cst.struct.constant([1, [2]])  # not at the same depth


def test_dicts_are_scalars_and_nested_lists_of_dicts_have_dimensions() -> None:
    assert cst.struct.constant({"a": 1}).shape == ()
    assert cst.struct.constant([{"a": 1}, {"a": 2}]).shape == (2,)
    assert cst.struct.constant([[{"a": 1}], [{"a": 2}]]).shape == (2, 1)
    with pytest.raises(cst.Error):
        cst.struct.constant([{"a": 1}, [{"a": 2}]])


def test_json_objects_of_one_schema() -> None:
    st = cst.struct.from_json('[{"x": "foo", "y": [[1, 2], [3]]}, {"x": "bar", "y": []}]')
    assert st.shape == (2,)
    assert st.to_py() == [FOO, {"x": "bar", "y": []}]


# --- Integration: column-based formats --------------------------------------------------------


def test_arrow_structs_without_a_copy() -> None:
    array = pa.array([FOO, BAR, BAZ])
    st = cst.StructuredTensor.from_arrow(array)
    assert st.to_py() == [FOO, BAR, BAZ]
    assert pa.array(st).equals(array)
    for there, back in zip(array.buffers(), pa.array(st).buffers(), strict=True):
        assert (there and there.address) == (back and back.address)


def test_data_frames_are_vectors() -> None:
    pd = pytest.importorskip("pandas")
    fields = {"col1": [1, 2], "col2": [3, 4]}
    df = pd.DataFrame(data=fields)
    st = cst.struct.DenseStructuredTensor(shape=[2], fields=fields)
    assert cst.StructuredTensor.from_pandas(df).to_py() == st.to_py()
    assert cst.StructuredTensor.from_pandas(df).to_pandas().equals(df)
    assert st.to_pandas().astype("int64").equals(df)  # columns of Arrow types otherwise


def test_a_row_index_is_a_field() -> None:
    pd = pytest.importorskip("pandas")
    df = pd.DataFrame({"a": [1, 2]}, index=["x", "y"])
    st = cst.StructuredTensor.from_pandas(df)
    assert st["_index_"].to_py() == ["x", "y"]
    assert st["a"].to_py() == [1, 2]


def test_hierarchical_rows_are_dimensions_and_hierarchical_columns_nested_fields() -> None:
    pd = pytest.importorskip("pandas")
    rows = pd.MultiIndex.from_tuples([("x", 0), ("x", 1), ("y", 0)])
    st = cst.StructuredTensor.from_pandas(pd.DataFrame({"a": [1, 2, 3]}, index=rows))
    assert st.rank == 2
    assert st["a"].to_py() == [[1, 2], [3]]
    columns = pd.MultiIndex.from_tuples([("a", "b"), ("a", "c")])
    st = cst.StructuredTensor.from_pandas(pd.DataFrame([[1, 2], [3, 4]], columns=columns))
    assert st["a", "c"].to_py() == [2, 4]


# --- Detailed design --------------------------------------------------------------------------


def test_accessors() -> None:
    st = cst.struct.constant([[FOO, BAR], [BAZ, RAZ]])
    assert st.rank == 2
    assert st.shape == (2, 2)
    assert st.field_names() == ("x", "y")
    y = st.field_value("y")
    assert y.rank == 4 and y.shape[:2] == (2, 2)
    assert y[0, 1].to_py() == st[0, 1].field_value("y").to_py()
    scalar = cst.struct.constant(FOO)
    assert scalar.rank == 0 and scalar.field_value("x").to_py() == "foo"


def test_conversion_to_python() -> None:
    for value in (FOO, [FOO, BAR, BAZ], [[FOO, BAR], [BAZ, RAZ]]):
        assert cst.struct.constant(value).to_py() == value


def test_the_repr_shows_values() -> None:
    assert "foo" in repr(cst.struct.constant(FOO))


def test_a_dense_tensor_of_a_shape_and_fields() -> None:
    st = cst.struct.DenseStructuredTensor(
        shape=[2, 2],
        fields={"x": [["foo", "bar"], ["baz", "raz"]], "n": np.arange(8).reshape(2, 2, 2)},
    )
    assert isinstance(st, cst.StructuredTensor) and isinstance(st, cst.struct.DenseStructuredTensor)
    assert st.shape == (2, 2)
    assert st["n"].shape == (2, 2, 2)
    assert st[1, 0].to_py() == {"x": "baz", "n": [4, 5]}


@pytest.mark.parametrize("fields", [{"x": [1, 2, 3]}, {"x": [1, 2], "y": [1]}])
def test_fields_must_have_the_shape(fields: dict[str, Any]) -> None:
    with pytest.raises(cst.Error):
        cst.struct.DenseStructuredTensor(shape=[2], fields=fields)


def test_ragged_from_row_splits() -> None:
    values = cst.struct.constant([FOO, BAR, BAZ])
    st = cst.struct.RaggedStructuredTensor.from_row_splits(values, [0, 2, 2, 3])
    assert st.shape == (3, None)
    assert st.to_py() == [[FOO, BAR], [], [BAZ]]
    assert isinstance(st, cst.struct.RaggedStructuredTensor)
    assert not isinstance(st, cst.struct.DenseStructuredTensor)


def test_a_dense_spec_has_the_full_shape_of_each_field() -> None:
    spec = cst.struct.DenseStructuredTensorSpec(
        shape=[2, 3], field_specs={"x": cst.struct.LeafSpec([2, 3, 10], "int32")}
    )
    value = cst.struct.DenseStructuredTensor([2, 3], {"x": np.zeros((2, 3, 10), np.int32)})
    assert spec.is_compatible_with(value)
    assert not spec.is_compatible_with(
        cst.struct.DenseStructuredTensor([2, 3], {"x": np.zeros((2, 3, 9), np.int32)})
    )


def test_a_ragged_spec_is_of_values_and_splits() -> None:
    values = cst.struct.constant([FOO, BAR, BAZ])
    spec = cst.struct.RaggedStructuredTensorSpec(
        shape=[3, None], values_spec=values.spec, row_splits_dtype="int64"
    )
    assert spec.is_compatible_with(
        cst.struct.RaggedStructuredTensor.from_row_splits(values, [0, 2, 2, 3])
    )


# --- Operation dispatchers --------------------------------------------------------------------


def test_every_operation_of_the_list() -> None:
    st = cst.struct.constant([FOO, BAR, BAZ])
    two = cst.struct.stack([st, st])
    assert two.shape == (2, 3)
    assert [part.to_py() for part in cst.struct.unstack(two)] == [[FOO, BAR, BAZ]] * 2
    assert cst.struct.batch_gather(two, [[2], [0]]).to_py() == [[BAZ], [FOO]]
    assert cst.struct.boolean_mask(st, [True, False, True]).to_py() == [FOO, BAZ]
    assert cst.struct.concat([st, st], axis=0).shape == (6,)
    assert cst.struct.expand_dims(st, axis=1).shape == (3, 1)
    assert cst.struct.gather_nd(two, [[0, 1], [1, 2]]).to_py() == [BAR, BAZ]
    assert cst.struct.gather(st, [2, 0]).to_py() == [BAZ, FOO]
    assert cst.struct.identity(st).to_py() == st.to_py()
    assert cst.struct.rank(two) == 2
    assert tuple(cst.struct.shape(two)) == (2, 3)
    assert cst.struct.size(two) == 6
    assert cst.struct.squeeze(cst.struct.expand_dims(st, axis=0)).shape == (3,)
    assert cst.struct.tile(st, [2]).to_py() == [FOO, BAR, BAZ] * 2
    assert cst.struct.where([True, False, True], st, st[::-1]).to_py() == [FOO, BAR, BAZ]
