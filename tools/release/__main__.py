"""Makes the files of a release in build/release-files: a wheel for each platform, the source
distribution, the software bill of materials and their checksums (`./dev release`).

The files are made of the last commit, and bit by bit the same wherever they are made: wheels are
built twice, in folders of different names, and compared.

    ./dev release [--quick] [--preview] [--optimization N] [--platform NAME ...]
"""

import argparse
import datetime
import os
import pathlib
import shutil
import sys

sys.path.insert(1, str(pathlib.Path(__file__).resolve().parents[1]))

import checks
import project
import sbom
import sdist
import wheels
from platforms import NATIVE, PLATFORMS, Platform

ROOT = pathlib.Path(__file__).resolve().parents[2]
WORK = ROOT / "build" / "release-builds"
OUT = ROOT / "build" / "release-files"


def stop_at(faults: list[str]) -> None:
    if faults:
        raise SystemExit("\n".join(f"release: {fault}" for fault in faults))


def build_wheel(
    archive: pathlib.Path, platform: Platform, epoch: str, is_quick: bool, optimization: str
) -> pathlib.Path:
    """Builds, checks, and unless it has to be quick builds again elsewhere and compares."""
    made: list[pathlib.Path] = []
    places = ["first"] if is_quick else ["first", "again, in a longer folder"]
    for place in places:
        folder = WORK / place / platform.name
        source = sdist.unpack(archive, folder)
        wheel = wheels.build(source, platform, folder / "wheel", epoch, optimization)
        stop_at(
            [
                f"{wheel.name}: {fault}"
                for fault in wheels.faults(wheel, platform, [WORK], optimization != "0")
            ]
        )
        made.append(wheel)
    if len({wheel.read_bytes() for wheel in made}) != 1:
        stop_at([f"{made[0].name}: two builds differ: {' '.join(map(str, made))}"])
    return made[0]


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="./dev release", description="Makes a release's files.")
    parser.add_argument(
        "--quick",
        action="store_true",
        help="this machine's wheel only, built once and not optimised: to try the tool",
    )
    parser.add_argument(
        "--preview",
        action="store_true",
        help="without a section in CHANGELOG.md; changes that are not committed are left out",
    )
    parser.add_argument(
        "--optimization",
        choices=["0", "1", "2", "3"],
        help="of all wheels: 3, and 0 with --quick; 0 tries the whole tool in a third of the time",
    )
    names = [platform.name for platform in PLATFORMS]
    parser.add_argument("--platform", nargs="+", choices=names, help="only these; else all")
    return parser.parse_args()


def main() -> None:
    options = parse()
    os.chdir(ROOT)
    is_preview = options.preview or options.quick
    optimization = options.optimization or ("0" if options.quick else "3")
    stop_at(checks.version_faults(ROOT, is_preview))
    stop_at(sbom.faults((ROOT / "THIRD_PARTY_NOTICES").read_text(encoding="utf-8")))
    if not is_preview:
        stop_at(checks.tree_faults(ROOT))
    names = options.platform or [p.name for p in ([NATIVE] if options.quick else PLATFORMS)]
    epoch = checks.git(ROOT, "log", "-1", "--format=%ct")
    time = datetime.datetime.fromtimestamp(int(epoch), datetime.UTC).isoformat()

    shutil.rmtree(OUT, ignore_errors=True)
    shutil.rmtree(WORK, ignore_errors=True)
    OUT.mkdir(parents=True)
    archive = sdist.make(WORK / "sdist", epoch)
    if not options.quick:
        again = sdist.make(WORK / "sdist, again", epoch)
        if archive.read_bytes() != again.read_bytes():
            stop_at([f"{archive.name}: two builds differ"])
    shutil.copy(archive, OUT)
    print(f"  {archive.name}: {archive.stat().st_size / 1e6:.1f} MB", flush=True)
    for platform in PLATFORMS:
        if platform.name in names:
            wheel = build_wheel(archive, platform, epoch, options.quick, optimization)
            shutil.copy(wheel, OUT)
            print(f"  {wheel.name}: {wheel.stat().st_size / 1e6:.1f} MB", flush=True)
    if not options.quick:
        sdist.build_offline(archive, WORK / "offline")
        print("  the source distribution builds alone, without a network", flush=True)
    version = project.version()
    bom = OUT / f"columnstone-{version}.cdx.json"
    bom.write_text(sbom.make(version, time), encoding="utf-8")
    checks.write_checksums(OUT)
    print(f"  {OUT.relative_to(ROOT)}: {len(list(OUT.iterdir()))} files")


if __name__ == "__main__":
    sys.exit(main())
