"""The hook: `import tfx_bsl` imports ours from install() on, and theirs after uninstall()."""

from __future__ import annotations

import importlib
import pathlib
import re
import subprocess
import sys

import pytest

TAKEN = "takes the place of the tfx_bsl that is installed"


def run(program: str, *options: str, cwd: pathlib.Path | None = None) -> str:
    """What a program prints, in a process that has imported nothing yet."""
    done = subprocess.run(
        [sys.executable, *options, "-c", program],
        capture_output=True,
        text=True,
        cwd=cwd,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_install_and_uninstall() -> None:
    printed = run(
        """
import warnings
import columnstone.compat.tfx_bsl as compat
print(compat.installed())
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    compat.install()
    compat.install()
    import tfx_bsl, tfx_bsl.types.tfx_namedtuple as ours
    from tfx_bsl.arrow import path
    print(compat.installed(), len(told), told[0].category.__name__, told[0].message)
import columnstone.compat.tfx_bsl.arrow.path as by_our_name
print(tfx_bsl is compat, path is by_our_name, path.ColumnPath.__module__)
print(path.__spec__.name, ours.__name__)
compat.uninstall()
compat.uninstall()
import tfx_bsl.version, tfx_bsl.types.tfx_namedtuple as theirs
print(compat.installed(), theirs.__name__, theirs is ours)
"""
    )
    assert printed.splitlines() == [
        "False",
        f"True 1 RuntimeWarning columnstone.compat.tfx_bsl {TAKEN}",
        "True True columnstone.compat.tfx_bsl.arrow.path",
        "columnstone.compat.tfx_bsl.arrow.path columnstone.compat.tfx_bsl.types.tfx_namedtuple",
        "False tfx_bsl.types.tfx_namedtuple False",
    ]


def test_after_theirs() -> None:
    printed = run(
        """
import warnings
import tfx_bsl.types.tfx_namedtuple as before
import columnstone.compat.tfx_bsl as compat
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    compat.install()
print(len(told), "imported before install()" in str(told[0].message))
import tfx_bsl.types.tfx_namedtuple as after
print(before.__name__, after.__name__)
compat.uninstall()
import tfx_bsl.types.tfx_namedtuple as again
print(again is before)
"""
    )
    assert printed.splitlines() == [
        "1 True",
        "tfx_bsl.types.tfx_namedtuple columnstone.compat.tfx_bsl.types.tfx_namedtuple",
        "True",
    ]


@pytest.mark.parametrize("name", ["tfx_bsl.nothing", "tfx_bsl.arrow.nothing", "tfx_bsl._install"])
def test_a_module_that_is_not_there(name: str) -> None:
    printed = run(
        f"""
import importlib.util
import sys
import columnstone.compat.tfx_bsl as compat
compat.install()
assert sys.meta_path[0].find_spec("{name}") is None
if not "{name}".startswith("tfx_bsl._"):
    assert importlib.util.find_spec("{name}") is None
assert importlib.util.find_spec("tfx_bsl.arrow") is not None
try:
    import {name}
except ModuleNotFoundError as error:
    print(error.name, error)
""",
        "-W",
        "ignore",
    )
    assert printed.startswith(
        f"{name} columnstone.compat.tfx_bsl has no module '{name}'; docs/tfx-bsl.md lists"
    )


def test_a_program_unchanged(tmp_path: pathlib.Path) -> None:
    (tmp_path / "beside.py").write_text("word = 'beside'\n")
    (tmp_path / "prog.py").write_text(
        "import sys, beside, tfx_bsl\n"
        "print(__name__, beside.word, tfx_bsl.__name__, sys.argv[1:])\n"
        "sys.exit(3)\n"
    )
    command = [sys.executable, "-W", "ignore", "-m", "columnstone.compat.tfx_bsl"]
    for words in (["prog.py", "--a", "b"], ["-m", "prog", "--a", "b"]):
        done = subprocess.run(
            [*command, *words], capture_output=True, text=True, cwd=tmp_path, check=False
        )
        assert done.returncode == 3, done.stderr
        assert done.stdout == "__main__ beside columnstone.compat.tfx_bsl ['--a', 'b']\n"


def test_a_program_is_main_to_the_end(tmp_path: pathlib.Path) -> None:
    """For what is pickled at exit, and wherever it goes."""
    (tmp_path / "prog.py").write_text(
        "import atexit, os, pickle\n"
        "class A: pass\n"
        "atexit.register(lambda: print(len(pickle.dumps(A())) > 0))\n"
        "os.chdir('/')\n"
        "print(os.path.isabs(__file__))\n"
    )
    command = [sys.executable, "-W", "ignore", "-m", "columnstone.compat.tfx_bsl", "prog.py"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.stdout == "True\nTrue\n", done.stderr


@pytest.mark.parametrize("word", ["nothing.py", "-"])
def test_a_program_that_is_not_there(word: str) -> None:
    command = [sys.executable, "-m", "columnstone.compat.tfx_bsl", word]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(("words", "code"), [([], 2), (["--what"], 2), (["--help"], 0)])
def test_usage(words: list[str], code: int) -> None:
    command = [sys.executable, "-m", "columnstone.compat.tfx_bsl", *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == code
    assert done.stderr.startswith("python -m columnstone.compat.tfx_bsl [-m] PROGRAM")


def test_what_pickles_here_unpickles_without_install(tmp_path: pathlib.Path) -> None:
    file = tmp_path / "path.pickle"
    run(
        f"""
import pickle
import columnstone.compat.tfx_bsl as compat
compat.install()
from tfx_bsl.arrow import path
pickle.dump([path.ColumnPath(["a", "b"]), path.ColumnPath], open({str(file)!r}, "wb"))
""",
        "-W",
        "ignore",
    )
    printed = run(
        f"""
import pickle, sys
value, kind = pickle.load(open({str(file)!r}, "rb"))
print(value.steps(), type(value) is kind, kind.__module__, "tfx_bsl" in sys.modules)
"""
    )
    assert printed == "('a', 'b') True columnstone.compat.tfx_bsl.arrow.path False\n"


def test_workers_of_beam() -> None:
    """Who starts with --beam_plugin imports ours."""
    printed = run(
        """
from apache_beam.options.pipeline_options import PipelineOptions, SetupOptions
from apache_beam.runners.worker import sdk_worker_main
options = PipelineOptions(["--beam_plugin=columnstone.compat.tfx_bsl.beam_plugin"])
sdk_worker_main._import_beam_plugins(options.view_as(SetupOptions).beam_plugins)
import tfx_bsl
print(tfx_bsl.__name__)
""",
        "-W",
        "ignore",
    )
    assert printed.splitlines()[-1] == "columnstone.compat.tfx_bsl"


def test_importing_the_package_installs_nothing() -> None:
    compat = importlib.import_module("columnstone.compat.tfx_bsl")
    assert set(compat.__all__) == {"install", "installed", "uninstall"}
    assert run("import columnstone.compat.tfx_bsl as c; print(c.installed())") == "False\n"


def test_the_page_lists_modules_that_are_there() -> None:
    page = pathlib.Path(__file__).parents[2] / "docs" / "tfx-bsl.md"
    rows = [line for line in page.read_text().splitlines() if line.startswith("| `tfx_bsl.")]
    names = {name for row in rows for name in re.findall(r"`tfx_bsl\.([\w.]+)`", row.split("|")[1])}
    assert len(names) > 10
    for name in names:
        importlib.import_module(f"columnstone.compat.tfx_bsl.{name}")
