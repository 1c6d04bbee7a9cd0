"""What meson.build and the wrap files in subprojects/ say, for the tools that need it: the version,
and the source archives that are compiled in.

`python3 tools/project.py` prints the version. Meson runs tools that import this before anything is
installed, so it needs the standard library only.
"""

import configparser
import pathlib
import re
from dataclasses import dataclass

TOP = pathlib.Path(__file__).resolve().parent.parent
SUBPROJECTS = TOP / "subprojects"


def version(meson_build: pathlib.Path = TOP / "meson.build") -> str:
    """The version that the project() of a meson.build has."""
    text = meson_build.read_text(encoding="utf-8")
    found = re.search(r"^project\([^)]*?\bversion: '([^']+)'", text, re.MULTILINE)
    if found is None:
        raise SystemExit(f"{meson_build}: project() has no version")
    return found[1]


@dataclass(frozen=True)
class Wrap:
    """A wrap file of ours: a source distribution of PyPI, and what we put over it."""

    path: pathlib.Path
    package: str  # its name on PyPI
    archive: pathlib.Path
    sha256: str
    unpacked: pathlib.Path
    overlay: pathlib.Path
    diffs: list[pathlib.Path]

    @property
    def name(self) -> str:
        return self.path.stem

    @property
    def release(self) -> str:
        """The version of the source distribution."""
        return self.archive.name.removesuffix(".tar.gz").rsplit("-", 1)[1]

    @property
    def version(self) -> str:
        """The version of the C library in it."""
        return version(self.overlay / "meson.build")


def wraps(subprojects: pathlib.Path = SUBPROJECTS) -> list[Wrap]:
    """Our wrap files. Meson writes others, for nested subprojects: those have no overlay."""
    found = []
    for path in sorted(subprojects.glob("*.wrap")):
        parser = configparser.ConfigParser(interpolation=None)
        parser.read(path, encoding="utf-8")
        if not parser.has_option("wrap-file", "patch_directory"):
            continue
        section = parser["wrap-file"]
        files = subprojects / "packagefiles"
        found.append(
            Wrap(
                path=path,
                package=parser.get("columnstone", "package", fallback=path.stem),
                archive=files / section["source_filename"],
                sha256=section["source_hash"],
                unpacked=subprojects / section["directory"],
                overlay=files / section["patch_directory"],
                diffs=[
                    files / name
                    for name in re.split(r",\s*", section.get("diff_files", ""))
                    if name
                ],
            )
        )
    return found


if __name__ == "__main__":
    print(version())
