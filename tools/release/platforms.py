"""The platforms that wheels are built for, and the Meson cross file of each. One compiler makes all
of them: Zig's C compiler (the package ziglang), which contains headers and stub libraries of every
version of glibc, of musl and of macOS.

The headers of Python are those of the interpreter that runs this tool, whatever the platform: with
the limited API, all 64-bit little-endian platforms have the same."""

import dataclasses
import importlib.util
import pathlib


@dataclasses.dataclass(frozen=True)
class Platform:
    name: str
    triple: str  # as Zig names it, with the oldest C library or system that will do
    system: str  # as Meson names it
    cpu_family: str
    tag: str  # of the wheel
    arguments: tuple[str, ...] = ()

    @property
    def is_linux(self) -> bool:
        return self.system == "linux"


X86_64_V1 = "-mcpu=x86_64"  # the plain one: the library chooses what is faster when it runs

PLATFORMS = (
    Platform(
        "linux-x86_64",
        "x86_64-linux-gnu.2.17",
        "linux",
        "x86_64",
        "manylinux_2_17_x86_64.manylinux2014_x86_64",
        (X86_64_V1,),
    ),
    Platform(
        "linux-aarch64",
        "aarch64-linux-gnu.2.17",
        "linux",
        "aarch64",
        "manylinux_2_17_aarch64.manylinux2014_aarch64",
    ),
    Platform(
        "musl-x86_64",
        "x86_64-linux-musl",
        "linux",
        "x86_64",
        "musllinux_1_2_x86_64",
        (X86_64_V1, "-dynamic"),
    ),
    Platform("macos-arm64", "aarch64-macos.11.0", "darwin", "aarch64", "macosx_11_0_arm64"),
    Platform("macos-x86_64", "x86_64-macos.11.0", "darwin", "x86_64", "macosx_11_0_x86_64"),
)
NATIVE = PLATFORMS[0]

CROSS_FILE = """\
[binaries]
c = {c}
cpp = {cpp}
ar = {ar}
ranlib = {ranlib}
strip = {strip}

[built-in options]
c_args = {c_args}
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


def cross_file(platform: Platform) -> str:
    zig = str(find_zig())
    target = ["-target", platform.triple, *platform.arguments]
    return CROSS_FILE.format(
        c=[zig, "cc", *target],
        cpp=[zig, "c++", *target],
        ar=[zig, "ar"],
        ranlib=[zig, "ranlib"],
        strip=[zig, "objcopy", "--strip-all"],
        c_args=["-fno-sanitize=undefined"],  # which Zig switches on where nothing is optimised
        link_args=["-s"],
        system=platform.system,
        cpu_family=platform.cpu_family,
    )
