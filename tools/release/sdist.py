"""The source distribution: what `meson dist` packs of the last commit, with the source archives of
the vendored libraries, so that it builds without a network."""

import gzip
import io
import pathlib
import shutil
import subprocess
import sys
import tarfile

from wheels import run

ROOT = pathlib.Path(__file__).resolve().parents[2]

MAKE = "import mesonpy, sys; print(mesonpy.build_sdist(sys.argv[1]))"


def make(out: pathlib.Path, epoch: str) -> pathlib.Path:
    out.mkdir(parents=True, exist_ok=True)
    run(sys.executable, "-c", MAKE, out, log=out / "sdist.log", SOURCE_DATE_EPOCH=epoch)
    (sdist,) = out.glob("*.tar.gz")
    make_even(sdist, int(epoch))
    return sdist


def make_even(sdist: pathlib.Path, epoch: int) -> None:
    """Members in order, of nobody, and as old as the commit: the same tree gives the same bytes."""
    packed = io.BytesIO()
    with tarfile.open(sdist) as old, tarfile.open(fileobj=packed, mode="w") as new:
        for member in sorted(old, key=lambda m: m.name):
            member.mtime, member.uid, member.gid, member.uname, member.gname = epoch, 0, 0, "", ""
            member.mode = 0o755 if member.mode & 0o100 else 0o644
            member.pax_headers = {}
            new.addfile(member, old.extractfile(member) if member.isfile() else None)
    with sdist.open("wb") as out, gzip.GzipFile("", "wb", 6, out, mtime=epoch) as zipped:
        zipped.write(packed.getvalue())


def unpack(sdist: pathlib.Path, folder: pathlib.Path) -> pathlib.Path:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    with tarfile.open(sdist) as archive:
        archive.extractall(folder, filter="data")
    (source,) = folder.iterdir()
    return source


def build_offline(sdist: pathlib.Path, folder: pathlib.Path) -> None:
    """A wheel of the sdist alone, by the system's compiler, in an empty home without network."""
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "home").mkdir(parents=True)
    path = f"{pathlib.Path(sys.executable).parent}:/usr/local/bin:/usr/bin:/bin"
    command = ["env", "-i", f"HOME={folder / 'home'}", f"PATH={path}"]
    if subprocess.run(["unshare", "-rn", "true"], capture_output=True).returncode == 0:
        command = ["unshare", "-rn", *command]
    else:
        print("  this machine gives no namespace without a network: pip is told to use none")
    command += [sys.executable, "-m", "pip", "wheel", "--disable-pip-version-check", "-v"]
    command += ["--no-index", "--no-build-isolation", "--no-deps"]
    command += ["-Csetup-args=-Doptimization=0"]
    run(*command, "-w", folder, sdist, log=folder / "build.log")
    if not list(folder.glob("*.whl")):
        raise SystemExit("release: the sdist made no wheel without a network")
