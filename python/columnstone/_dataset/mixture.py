"""The counterpart of a source for a mix of datasets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import _core
from .._base.public import public

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from .._core import Loader
    from .._source.base import SourceBase

STOPS = {"first": _core.MIX_FIRST, "all": _core.MIX_ALL, "repeat": _core.MIX_REPEAT}
# Stored once in states of a mix, because its datasets agree in them.
_COMMON = ("version", "batch_size", "drop_last", "shard", "num_shards", "on_error", "columns")


def _with_all_rows(dataset: Any) -> Any:
    options, *rest = dataset._parts()
    return dataset._restore(dataset._source, ({**options, "drop_last": False}, *rest))


@public
class Mixture:
    """Datasets that are mixed, with their weights. Columns and tensors are those of the first one.

    The other attributes and methods are those of a source that a Dataset uses.
    """

    __slots__ = ("_datasets", "_stop", "_weights")

    def __init__(self, datasets: Sequence[Any], weights: Sequence[float], stop: str) -> None:
        self._datasets = tuple(datasets)
        self._weights = tuple(weights)
        self._stop = stop

    def open(self, options: Mapping[str, Any], packs: bool) -> _core.Dataset:
        """The mix in the library. A mix with packed rows needs all columns."""
        datasets = map(_with_all_rows, self._datasets) if packs else self._datasets
        cores = tuple(one._core for one in datasets)
        prefetch = 0 if self._options["on_error"] is not None else options["prefetch"]
        stop = STOPS[self._stop]
        return _core.Dataset.mix(cores, self._weights, stop, prefetch, options["threads"])

    def __iter__(self) -> Iterator[Any]:
        return iter(self._datasets)

    @property
    def is_endless(self) -> bool:
        """True if an epoch never ends."""
        return self._stop == "repeat"

    @property
    def first(self) -> SourceBase:
        """The source of the first dataset."""
        source: SourceBase = self._datasets[0].source
        return source

    def printed(self, prints: list[dict[str, Any]], packing: str | None) -> dict[str, Any]:
        """What the order and the content of the batches depend on, from the values of each
        dataset."""
        made: dict[str, Any] = {name: prints[0][name] for name in _COMMON}
        made |= {"datasets": len(prints), "stop": self._stop}
        for i, (own, weight) in enumerate(zip(prints, self._weights, strict=True)):
            made[f"weight[{i}]"] = weight
            made |= {f"{name}[{i}]": value for name, value in own.items() if name not in _COMMON}
        if packing is not None:
            made["pack"] = packing
        return made

    # The interface of a source

    @property
    def files(self) -> list[str]:
        """The files of all datasets, one dataset after the other."""
        return [file for one in self._datasets for file in one.files]

    @property
    def _options(self) -> dict[str, Any]:
        options: dict[str, Any] = self.first._options
        return options

    def tensor_representations(self) -> dict[str, Any]:
        """The tensors of the first dataset, which are the same for all."""
        made: dict[str, Any] = self.first.tensor_representations()
        return made

    def _keep(self, made: Loader) -> None:
        for one in self._datasets:
            one.source._keep(made)

    def _name(self, files: list[str]) -> str:
        return f"a mix of {len(self._datasets)} datasets with {len(files)} files"

    def __reduce__(self) -> tuple[Callable[..., Mixture], tuple[Any, ...]]:
        return Mixture, (self._datasets, self._weights, self._stop)
