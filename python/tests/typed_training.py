"""A training without a cast. test_typing.py checks it by mypy --strict, and runs it.

Lines with `type: ignore` are mistakes: a checker has to find each of them (an ignore that is not
needed is an error of its own), and `mistakes` is never called.
"""

from __future__ import annotations

import columnstone as cst
import numpy as np
import numpy.typing as npt
import torch
from torch import nn
from torch.utils.data import DataLoader


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(1, 1)

    def forward(self, price: torch.Tensor) -> torch.Tensor:
        made: torch.Tensor = self.layer(price.unsqueeze(1))
        return made.squeeze(1)


def loss_of(model: Model, features: cst.dataset.Batch, label: torch.Tensor) -> torch.Tensor:
    return nn.functional.mse_loss(model(features["price"]), label)


def train(source: cst.Source) -> list[float]:
    model = Model()
    optimizer = torch.optim.SGD(model.parameters())
    dataset = source.dataset(8, shuffle=True, label="score", drop_last=True)
    losses: list[float] = []
    for features, label in DataLoader(dataset.torch(), batch_size=None):
        losses.append(loss_of(model, features, label).item())
    for features, label in dataset.torch():
        loss = loss_of(model, features, label)
        torch.autograd.backward(loss)
        optimizer.step()
        assert dataset.state_of(features.position)["epoch"] == 0
    for batch in source.dataset(8).torch():
        losses.append(batch["price"].mean().item())
    for arrays in source.dataset(8).numpy():
        losses.append(float(arrays["price"].mean()))
    for features, label in source.dataset(8, label="score").jax():
        losses.append(float(features["price"].mean() + label.sum()))
    for rows in source.dataset(8, as_batches=True):
        assert rows.column_names == ["price", "score", "tags", "tokens"]
    return losses


def tensors(source: cst.Source) -> npt.NDArray[np.float32]:
    made = next(source.tensors())
    price: npt.NDArray[np.float32] = made["price"].numpy()
    splits: npt.NDArray[np.int64] = made["tokens"].row_splits[0].numpy()
    places: cst.tensor.Tensor = made["tags"].indices
    assert (len(splits), places.shape) == (len(price) + 1, (len(price), 2))
    if isinstance(made["tokens"], cst.tensor.RaggedTensor):
        assert made["tokens"].to_list()[0] == [0]
    one: torch.Tensor = cst.tensor.to_torch(made["price"])
    several: dict[str, torch.Tensor] = cst.tensor.to_torch(made)
    assert one.shape == several["price"].shape == cst.tensor.to_numpy(made["price"]).shape
    tags = made["tags"]
    assert isinstance(tags, cst.tensor.SparseTensor)
    assert cst.tensor.to_numpy(tags).values.dtype == np.int64
    return price


def structured(source: cst.Source) -> list[float]:
    found: list[float] = []
    for st in source.structured():
        mean: torch.Tensor = st["price"].to_torch().mean()
        clicks = st["event"]["clicks"]
        first: npt.NDArray[np.int64] = st["event", "clicks", :, 0].numpy()
        chosen = st.boolean_mask(st["price"] * 2 + 1 > 3)["price"]
        found += [float(mean), float(first.sum()), float(chosen.numpy().sum())]
        found += [float(clicks.sum().to_py()), float(st[:3].nrows()), st[0]["price"].to_py()]
        fields: dict[str, torch.Tensor] = st.with_only("price").to_torch()
        found += [float(fields["price"].sum()), *(row["price"].to_py() for row in st)]
        leaf = st["price"]
        if isinstance(leaf, cst.struct.LeafTensor):
            found.append(float(leaf.fill_null(0)[0].to_py()))
    return found


def mistakes(source: cst.Source) -> None:
    dataset = source.dataset(8)
    source.dataset(8, lable="score")  # type: ignore[call-overload]
    dataset.torch().set_epochs(1)  # type: ignore[attr-defined]
    for batch in dataset.torch():
        batch["price"].men()  # type: ignore[union-attr]
        batch.position.bach  # type: ignore[union-attr]  # noqa: B018
    next(source.tensors())["price"].nunpy()  # type: ignore[union-attr]
    for st in source.structured():
        st["price"].to_troch()  # type: ignore[union-attr]
        st[0].numpy()  # type: ignore[attr-defined]
        st.to_torch().mean()  # type: ignore[attr-defined]


def codecs(batch: cst.RecordBatch) -> tuple[cst.RecordBatch, bytes, list[bytes]]:
    """Records are arrays, files bytes; each format has its own keywords."""
    records: cst.arrow.Array = cst.encoder("example", lossy=True).encode(batch)
    raw: cst.RecordBatch = cst.decoder("raw", binary_views=True).decode(records)
    data: bytes = cst.encoder("json").encode(batch)
    sequences: cst.codec.Encoder[cst.arrow.Array] = cst.encoder(
        "sequence_example", sequence_column="steps"
    )
    again = cst.decoder("example", columns=["price"], offsets=32).decode(records)
    return again, data, [*sequences.encode(raw).to_pylist()]
