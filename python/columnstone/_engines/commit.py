"""The one way in which an output of many workers becomes visible.

Every attempt of a task writes files into a hidden folder of the job, in that of the output. The
commit gives the files of the attempts that count their names, removes what they replace, and then
the folder with all that others wrote.
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
    name: of the folder, which no other job has; readers pass over it.
    """

    def __init__(self, place: Place, name: str) -> None:
        self._place = place
        self._name = name
        self._begun = f"{name}/_begun"  # all files were here when the first one got its name
        self._standing = f"{name}/_standing"  # all have their names, and old files may be gone

    def is_begun(self, pairs: Iterable[tuple[str, str]]) -> bool:
        """Whether a commit of these files has begun to rename them."""
        return self._place.read(self._begun) == _digest(pairs)

    def publish(self, pairs: Iterable[tuple[str, str]], old: Iterable[str] = ()) -> None:
        """Gives files their names, of which none is old data's unless that is to be replaced, and
        then removes the old files that have other names. Called again with the same files, it goes
        on where a call before it stopped. FileError for a file that is gone.

        pairs: files by their present and by their final names.
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
        """A file that has the final name may be an earlier job's: that the commit had begun says
        that it was this job's file which got the name."""
        begun = self.is_begun(pairs)
        for _, final in missing:
            if not (begun and self._place.exists(final)):
                path = self._place.path(final)
                hint = "run the job again; leave its hidden folder alone meanwhile"
                raise FileError(
                    f"{path}: the file that was written for it is gone ({hint})",
                    file=path,
                    hint=hint,
                )

    def take_back(self, names: Iterable[str]) -> None:
        """Removes what a commit that failed has published, unless it had come so far that data
        would be lost."""
        if not self._place.exists(self._standing):
            self._place.remove(names)

    def remove(self) -> None:
        """With all that is in it, if it is there."""
        self._place.remove_all(self._name)


def _digest(pairs: Iterable[tuple[str, str]]) -> bytes:
    """Of the files of a commit: names of attempts are never used twice."""
    names = sorted(f"{old}\t{new}" for old, new in pairs)
    return hashlib.sha256("\n".join(names).encode()).hexdigest().encode()
