"""Wheels: built from the unpacked source distribution by meson-python with a platform's cross file,
named for the platform, and checked."""

import json
import os
import pathlib
import subprocess
import sys
import zipfile

from platforms import Platform, cross_file

LARGEST = 5_000_000  # bytes of a wheel: what a user downloads


def run(*command: str | pathlib.Path, log: pathlib.Path, **variables: str) -> None:
    """Runs a command; what it prints is in the log, the end of which is shown if it fails."""
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("w") as out:
        environment = os.environ | variables
        done = subprocess.run(command, stdout=out, stderr=subprocess.STDOUT, env=environment)
    if done.returncode != 0:
        lines = log.read_text(errors="replace").splitlines()[-40:]
        raise SystemExit("\n".join([*lines, f"release: failed: {command[0]} …; all of it: {log}"]))


def build(
    source: pathlib.Path, platform: Platform, out: pathlib.Path, epoch: str, optimization: str
) -> pathlib.Path:
    """The wheel of a platform, from the folder of the unpacked sdist, in the folder `out`."""
    out.mkdir(parents=True, exist_ok=True)
    cross = out / "cross.ini"
    cross.write_text(cross_file(platform, out), encoding="utf-8")
    pip = [sys.executable, "-m", "pip", "wheel", "--disable-pip-version-check", "-v"]
    pip += ["--no-build-isolation", "--no-deps", "--no-index", "-w", str(out)]
    pip += [f"-Cbuild-dir={out / 'build'}", f"-Csetup-args=--cross-file={cross}"]
    pip += [f"-Csetup-args=-Doptimization={optimization}"]
    run(*pip, str(source), log=out / "build.log", SOURCE_DATE_EPOCH=epoch)
    (made,) = out.glob("*.whl")
    tags = [sys.executable, "-m", "wheel", "tags", "--remove"]
    tags += ["--python-tag", "cp311", "--abi-tag", "abi3", "--platform-tag", platform.tag]
    run(*tags, str(made), log=out / "tags.log", SOURCE_DATE_EPOCH=epoch)
    (wheel,) = out.glob("*.whl")
    return wheel


def native_files(wheel: pathlib.Path) -> dict[str, bytes]:
    """The compiled files of a wheel: ELF and Mach-O."""
    magics = (b"\x7fELF", b"\xcf\xfa\xed\xfe")
    with zipfile.ZipFile(wheel) as archive:
        contents = {name: archive.read(name) for name in archive.namelist()}
    return {name: data for name, data in contents.items() if data.startswith(magics)}


def faults(
    wheel: pathlib.Path, platform: Platform, places: list[pathlib.Path], is_optimized: bool
) -> list[str]:
    """What is wrong with a wheel; `places`: folders whose names must not be in it."""
    found = []
    size = wheel.stat().st_size
    if is_optimized and size > LARGEST:
        found.append(f"has {size} bytes, more than {LARGEST}")
    compiled = native_files(wheel)
    if len(compiled) != 3:
        found.append(f"holds not the library, the extension and the program: {sorted(compiled)}")
    for name, data in compiled.items():
        found += [f"{name} names {place}" for place in places if os.fsencode(place) in data]
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    for licence in ("LICENSE", "THIRD_PARTY_NOTICES"):
        if not any(name.endswith(f".dist-info/licenses/{licence}") for name in names):
            found.append(f"lacks {licence}")
    if "musl" in platform.triple:
        found += musl_faults(wheel, platform.tag)
    elif platform.is_linux:
        found += tool_faults("auditwheel", "show", str(wheel), wanted=platform.tag.split(".")[0])
    return found + abi_faults(wheel, compiled)


def musl_faults(wheel: pathlib.Path, tag: str) -> list[str]:
    """What auditwheel finds, which knows musl only by the name that it has in Alpine: Zig links
    libc.so, by which any musl takes itself. In an empty folder it finds no libc.so of glibc."""
    nowhere = wheel.parent / "nowhere"
    nowhere.mkdir(exist_ok=True)
    program = pathlib.Path(sys.executable).parent / "auditwheel"
    command = [program, "show", "--json", "--ldpaths", nowhere, wheel]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        return [f"auditwheel: {(done.stdout + done.stderr).strip()}"]
    told = json.loads(done.stdout)
    is_fine = told["sym_tag"] == tag and set(told["external_libs"]) == {"libc.so"}
    return [] if is_fine and not told["unsupported_isa"] else [f"auditwheel: {done.stdout.strip()}"]


def abi_faults(wheel: pathlib.Path, compiled: dict[str, bytes]) -> list[str]:
    """Whether the extension calls only Python's stable ABI. abi3audit takes it alone: among
    a wheel's libraries, it does not know the linker's script."""
    (extension,) = [name for name in compiled if name.endswith(".abi3.so")]
    file = wheel.parent / pathlib.Path(extension).name
    file.write_bytes(compiled[extension])
    return tool_faults(
        "abi3audit", "--strict", "--assume-minimum-abi3", "3.11", str(file), wanted=""
    )


def tool_faults(tool: str, *arguments: str, wanted: str) -> list[str]:
    """What a checker says, if it fails or does not say what is wanted."""
    program = pathlib.Path(sys.executable).parent / tool
    done = subprocess.run([program, *arguments], capture_output=True, text=True)
    said = done.stdout + done.stderr
    is_fine = done.returncode == 0 and wanted in " ".join(said.split())
    return [] if is_fine else [f"{tool}: {said.strip()}"]
