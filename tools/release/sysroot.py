"""The C library that GCC compiles the Linux wheels for: headers and stub libraries of an old glibc,
out of Zig's package, as a folder for GCC's --sysroot. Programs made with it run with that glibc and
every later one.

Zig could compile these wheels itself, but links a plain memcpy and memcmp of its own in place of
glibc's, and its decoding loop is a fifth slower where records are wide."""

import os
import pathlib
import shutil
import subprocess

# libld: the loader, which finds the variables of a thread.
STUBS = ("libc.so.6", "libld.so.2", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1")
STARTS = ("crt1.o", "Scrt1.o", "libc_nonshared.a")


def _made_by_zig(zig: pathlib.Path, triple: str, work: pathlib.Path) -> dict[str, pathlib.Path]:
    """What zig has compiled to link two empty programs, from its cache, by name."""
    source = work / "empty.c"
    source.write_text("int main(void) { return 0; }\n")
    cache = work / "cache"
    folders = {"ZIG_GLOBAL_CACHE_DIR": str(cache), "ZIG_LOCAL_CACHE_DIR": str(cache)}
    for kind in (["-no-pie"], ["-fPIE", "-pie"]):
        command = [zig, "cc", "-target", triple, *kind, source, "-o", work / "empty"]
        subprocess.run(command, check=True, env=os.environ | folders)
    return {path.name: path for path in cache.rglob("*") if path.name in (*STUBS, *STARTS)}


def make(zig: pathlib.Path, gcc: str, triple: str, folder: pathlib.Path) -> list[str]:
    """Makes the sysroot in `folder`, and returns the compiler's command with it. `triple`: as Zig
    names it, with the version of glibc at its end."""
    shutil.rmtree(folder, ignore_errors=True)
    include, lib = folder / "usr/include", folder / "usr/lib"
    lib.mkdir(parents=True)
    cpu = triple.split("-")[0].replace("x86_64", "x86")
    headers = zig.parent / "lib/libc/include"
    for part in ("any-linux-any", f"{cpu}-linux-any", "generic-glibc", f"{cpu}-linux-gnu"):
        shutil.copytree(headers / part, include, dirs_exist_ok=True)
    for name, path in _made_by_zig(zig, triple, folder).items():
        shutil.copy(path, lib / name)
    for name in STUBS[1:]:
        (lib / name.rsplit(".", 1)[0]).symlink_to(name)
    (lib / "libc.so").write_text("GROUP ( libc.so.6 libc_nonshared.a AS_NEEDED ( libld.so.2 ) )\n")
    # What ran before main() and after it, before there were arrays of constructors.
    for name in ("crti.o", "crtn.o"):
        subprocess.run([gcc, "-c", "-x", "c", os.devnull, "-o", lib / name], check=True)
    minor = triple.rsplit(".", 1)[1]
    return [gcc, f"--sysroot={folder}", f"-B{lib}/", f"-D__GLIBC_MINOR__={minor}", "-static-libgcc"]
