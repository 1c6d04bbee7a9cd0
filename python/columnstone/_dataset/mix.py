"""Mixes datasets: rows of several datasets, by weight."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from .._base.errors import SchemaError, argument_error
from .._base.public import public
from .._tensor.adapter import core_pads
from .dataset import Dataset
from .mixture import STOPS, Mixture

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Literal

Item = TypeVar("Item")


@public
def mix(
    datasets: Sequence[Dataset[Item]],
    weights: Sequence[float] | None = None,
    *,
    stop: Literal["first", "all", "repeat"] = "first",
) -> Dataset[Item]:
    """A dataset whose batches contain rows of several datasets in proportion to their weights.

    datasets: the datasets to mix. They must have the same tensors, and the same batch_size, epochs,
        drop_last, shard, label, pad and as_batches, which the mix takes over; seed, shuffle and
        window may differ. Call `map` and `pack` on the mix.
    weights: one for each dataset, above 0; None: equal weights. Their sum does not matter.
    stop: when an epoch ends. "first": as soon as a dataset has no more rows when it is its turn.
        "all": when every dataset has delivered all of its rows; shorter ones start again, in
        another order. "repeat": never; every dataset starts again.

    The next row always comes from the dataset that is farthest behind its share. Therefore every
    part of the epoch has the right proportions, to about one row, and the rows of a dataset keep
    their order. Nothing is random: the batches depend only on the datasets and the weights, so that
    states, shards, workers and threads work as for any dataset. The rows of all datasets are
    counted first (Dataset.num_rows).

    >>> fares = cst.open("trips.csv").dataset(batch_size=1, as_batches=True)
    >>> both = cst.mix([fares, fares], weights=[3, 1])
    >>> sum(1 for _ in both)
    5
    """
    made = list(datasets)
    if not made:
        raise argument_error("there are no datasets to mix")
    for i, one in enumerate(made):
        _check(one, i)
        _compare(one, made[0], i)
    if stop not in STOPS:
        names = ", ".join(f'"{name}"' for name in STOPS)
        raise argument_error(f"stop must be one of {names}, not {ascii(stop)[:40]}")
    return _mixed(_with_numbers(made), _as_weights(weights, len(made)), stop)


def _as_weights(weights: Sequence[float] | None, count: int) -> list[float]:
    if weights is None:
        return [1.0] * count
    made = [float(weight) for weight in weights]
    if len(made) != count:
        raise argument_error(f"found {len(made)} weights for {count} datasets")
    return made


def _mixed(datasets: list[Dataset[Any]], weights: list[float], stop: str) -> Dataset[Any]:
    first = datasets[0]
    options = {
        **first._options,
        "prefetch": max(one._options["prefetch"] for one in datasets),
        "threads": max(one._options["threads"] for one in datasets),
    }
    mixture = Mixture(datasets, weights, stop)
    made = Dataset._restore(mixture, (options, *first._parts()[1:]))
    made.set_epoch(0)
    for i, one in enumerate(datasets):
        if not one._rows_only:
            _compare_tensors(one, first, i)
    return made


def _with_numbers(datasets: list[Dataset[Any]]) -> list[Dataset[Any]]:
    """The datasets. The ids of files count over all of them."""
    made = []
    first_file = 0
    for one in datasets:
        made.append(Dataset._restore(one.source._numbered(first_file), one._parts()))
        first_file += len(one.files)
    return made


# Requirements


def _check(dataset: Any, number: int) -> None:
    if not isinstance(dataset, Dataset):
        raise TypeError(f"mix takes datasets, not {type(dataset).__name__}")
    if isinstance(dataset._source, Mixture):
        hint = "mix all datasets in one call, with their weights multiplied"
        raise argument_error(f"dataset {number} is a mix itself", hint)
    if dataset._options["bucket_by"] is not None:
        hint = "instead, pad to a few lengths"
        raise argument_error(f"dataset {number} has bucket_by", hint)
    if dataset._packing is not None:
        raise argument_error(f"dataset {number} has packed rows", "mix first: mix(...).pack(...)")
    if dataset._maps:
        hint = "mix first: mix(...).map(fn), or map the source"
        raise argument_error(f"dataset {number} has a function that maps its batches", hint)
    if dataset._loaded is not None:
        hint = "load the state of a mix into the mix"
        raise argument_error(f"dataset {number} has a state loaded, or consumed batches", hint)


def _compare(dataset: Dataset[Any], first: Dataset[Any], number: int) -> None:
    """ArgumentError that names the difference."""
    own, expected = _agreed(dataset), _agreed(first)
    for name, value in own.items():
        if value != expected[name]:
            raise argument_error(
                f"{name} of dataset {number} is {value!r}, but that of the first one is "
                f"{expected[name]!r}",
                "create the datasets of a mix with the same one",
            )
    if _pads_of(dataset) != _pads_of(first):
        raise argument_error(f"pad of dataset {number} differs from that of the first one")
    if dataset.source._options["on_error"] != first.source._options["on_error"]:
        raise argument_error(
            f"on_error of the source of dataset {number} differs from that of the first one"
        )


def _agreed(dataset: Dataset[Any]) -> dict[str, Any]:
    options = dataset._options
    return {
        "batch_size": options["batch_size"],
        "epochs": dataset._epochs,
        "drop_last": options["drop_last"],
        "shard": (options["shard"], options["num_shards"]),
        "label": dataset._label,
        "as_batches": dataset._rows_only,
    }


def _pads_of(dataset: Dataset[Any]) -> Any:
    """The pads of a dataset in plain form."""
    pad = dataset._pad
    return core_pads(pad, dataset.source.tensor_representations()) if pad else ()


def _compare_tensors(dataset: Dataset[Any], first: Dataset[Any], number: int) -> None:
    own, expected = (
        {s[0]: _made_of(s) for s in one.source._core.specs()} for one in (dataset, first)
    )
    if own == expected:
        return
    name = next(name for name in own if own[name] != expected.get(name))
    hint = "open the sources with one schema"
    raise SchemaError(
        f"the tensor {name!r} of dataset {number} is not made from its column in the way that it "
        f"is in the first dataset ({hint})",
        path=name,
        hint=hint,
    )


def _made_of(spec: tuple[Any, ...]) -> tuple[Any, ...]:
    """A spec of _core without the explanations for it."""
    *parts, _, varlen_ragged, _, fields = spec
    return (*parts, varlen_ragged, tuple(map(_made_of, fields)))
