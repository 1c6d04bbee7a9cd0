"""The platforms that wheels are built for, and the Meson cross file of each. GCC compiles those for
glibc, with a sysroot of an old one (sysroot.py); Zig, the package ziglang, compiles the
others: it contains headers and stub libraries of musl and of macOS.

The headers of Python are those of the interpreter that runs this tool, whatever the platform: with
the limited API, all 64-bit little-endian platforms have the same."""

import dataclasses
import importlib.util
import pathlib

import sysroot


@dataclasses.dataclass(frozen=True)
class Platform:
    name: str
    triple: str  # as Zig names it, with the oldest C library or system that will do
    system: str  # as Meson names it
    cpu_family: str
    tag: str  # of the wheel
    arguments: tuple[str, ...] = ()  # of Zig
    gcc: str = ""  # the command, where GCC compiles

    @property
    def is_linux(self) -> bool:
        return self.system == "linux"


PLATFORMS = (
    Platform(
        "linux-x86_64",
        "x86_64-linux-gnu.2.17",
        "linux",
        "x86_64",
        "manylinux_2_17_x86_64.manylinux2014_x86_64",
        gcc="gcc",
    ),
    Platform(
        "linux-aarch64",
        "aarch64-linux-gnu.2.17",
        "linux",
        "aarch64",
        "manylinux_2_17_aarch64.manylinux2014_aarch64",
        gcc="aarch64-linux-gnu-gcc",
    ),
    Platform(
        "musl-x86_64",
        "x86_64-linux-musl",
        "linux",
        "x86_64",
        "musllinux_1_2_x86_64",
        ("-mcpu=x86_64", "-dynamic"),  # the first x86-64: faster code is chosen at run time
    ),
    Platform("macos-arm64", "aarch64-macos.11.0", "darwin", "aarch64", "macosx_11_0_arm64"),
    Platform("macos-x86_64", "x86_64-macos.11.0", "darwin", "x86_64", "macosx_11_0_x86_64"),
)
NATIVE = PLATFORMS[0]

CROSS_FILE = """\
[binaries]
c = {c}
ar = {ar}
ranlib = {ranlib}
strip = {strip}

[built-in options]
c_link_args = {link_args}

[host_machine]
system = '{system}'
cpu_family = '{cpu_family}'
cpu = '{cpu_family}'
endian = 'little'
"""


def find_zig() -> pathlib.Path:
    package = importlib.util.find_spec("ziglang")
    if package is None or package.origin is None:
        raise SystemExit("release: the package ziglang is not installed")
    return pathlib.Path(package.origin).parent / "zig"


def cross_file(platform: Platform, folder: pathlib.Path) -> str:
    """The text of the cross file; what the compiler needs besides is made in `folder`."""
    zig = find_zig()
    if platform.gcc:
        compiler = sysroot.make(zig, platform.gcc, platform.triple, folder / "sysroot")
        tools = platform.gcc.removesuffix("gcc")
        ar, ranlib, strip = ([tools + name] for name in ("ar", "ranlib", "strip"))
    else:
        compiler = [str(zig), "cc", "-target", platform.triple, *platform.arguments]
        compiler += ["-fno-sanitize=undefined"]  # which Zig switches on where nothing is optimised
        ar, ranlib = [str(zig), "ar"], [str(zig), "ranlib"]
        strip = [str(zig), "objcopy", "--strip-all"]
    return CROSS_FILE.format(
        c=compiler,
        ar=ar,
        ranlib=ranlib,
        strip=strip,
        link_args=["-s"],
        system=platform.system,
        cpu_family=platform.cpu_family,
    )
