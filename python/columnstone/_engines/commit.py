"""The one way in which the output of many workers becomes visible.

Every attempt of a task writes files into a hidden folder of the job, inside the output's folder.
The commit renames the files of the successful attempts to their final names, removes the files that
they replace, and then removes the hidden folder with the files of all other attempts.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from .._base.errors import FileError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .place import Place


class Staging:
    """The hidden folder of a job.

    place: of the output.
    name: of the folder, unique to the job; readers skip it.
    """

    def __init__(self, place: Place, name: str) -> None:
        self._place = place
        self._name = name
        self._begun = f"{name}/_begun"  # all files were here when the first one got its name
        self._standing = f"{name}/_standing"  # all have their names, and old files may be gone

    def is_begun(self, pairs: Iterable[tuple[str, str]]) -> bool:
        """Whether a commit of these files has started to rename them."""
        return self._place.read(self._begun) == _digest(pairs)

    def publish(self, pairs: Iterable[tuple[str, str]], old: Iterable[str] = ()) -> None:
        """Renames files to their final names. It replaces old data only if that was asked for, and
        then removes the old files with other names. When called again with the same files, it
        continues where the previous call stopped. FileError for a file that has disappeared.

        pairs: present and final names of the files.
        """
        pairs = list(pairs)
        staged = self._place.below(self._name)
        missing = [pair for pair in pairs if pair[0] not in staged]
        if missing:
            self._check_moved(pairs, missing)
        elif pairs:
            self._place.write(self._begun, _digest(pairs))
        self._place.move(pair for pair in pairs if pair[0] in staged)
        old = set(old) - {final for _, final in pairs}
        if old:
            self._place.write(self._standing, b"1")  # an S3 of Beam's writes no empty files
            self._place.remove(old)

    def _check_moved(self, pairs: list[tuple[str, str]], missing: list[tuple[str, str]]) -> None:
        """A file with the final name may belong to an earlier job. If the commit had started, it is
        the file of this job."""
        begun = self.is_begun(pairs)
        for _, final in missing:
            if not (begun and self._place.exists(final)):
                path = self._place.path(final)
                hint = "run the job again, and do not touch its hidden folder meanwhile"
                raise FileError(
                    f"{path}: the file that a task wrote for it is gone ({hint})",
                    file=path,
                    hint=hint,
                )

    def take_back(self, names: Iterable[str]) -> None:
        """Removes what a failed commit has published, unless the commit had gone so far that data
        would be lost."""
        if not self._place.exists(self._standing):
            self._place.remove(names)

    def remove(self) -> None:
        """Removes the folder with all its contents, if it exists."""
        self._place.remove_all(self._name)


def _digest(pairs: Iterable[tuple[str, str]]) -> bytes:
    """A unique label for the files of a commit: names of attempts are never reused."""
    names = sorted(f"{old}\t{new}" for old, new in pairs)
    return hashlib.sha256("\n".join(names).encode()).hexdigest().encode()
