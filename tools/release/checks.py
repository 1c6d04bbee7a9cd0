"""What has to be so before anything is built, and the checksums at the end."""

import hashlib
import pathlib
import re
import subprocess

from project import version


def version_faults(root: pathlib.Path, is_preview: bool) -> list[str]:
    """Where the version is not that of meson.build. A preview needs no section in CHANGELOG.md."""
    found = []
    current = version(root / "meson.build")
    header = (root / "include/columnstone/status.h").read_text(encoding="utf-8")
    numbers = re.findall(r"#define CST_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", header)
    if ".".join(numbers) != current:
        found.append(f"status.h: the version is {'.'.join(numbers)}, in meson.build {current}")
    changelog = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    sections = re.findall(r"^## \[([^\]]+)\]( - \d{4}-\d\d-\d\d)?", changelog, re.MULTILINE)
    top, date = sections[0]
    if is_preview:
        return found
    if top != current:
        found.append(f"CHANGELOG.md: the first section is [{top}], not [{current}] with a date")
    elif not date:
        found.append(f"CHANGELOG.md: the section [{current}] has no date")
    return found


def git(root: pathlib.Path, *arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=root, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def tree_faults(root: pathlib.Path) -> list[str]:
    """Files that are not committed are not released."""
    changed = git(root, "status", "--porcelain").splitlines()
    return [f"not committed: {line[3:]}" for line in changed]


def write_checksums(folder: pathlib.Path) -> None:
    """SHA256SUMS, as `sha256sum --check` reads it."""
    files = sorted(path for path in folder.iterdir() if path.name != "SHA256SUMS")
    lines = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in files]
    (folder / "SHA256SUMS").write_text("".join(lines), encoding="utf-8")
