"""Checks an installed wheel: `PYTHON tests/smoke/smoke.py`, with any interpreter that has it. Needs
only the standard library and columnstone, so it runs in a bare root.

COLUMNSTONE_PROGRAM is the program to check, if it is not the one beside the interpreter."""

import gzip
import importlib.metadata
import json
import os
import pathlib
import resource
import subprocess
import sys
import sysconfig
import tempfile
import unittest

import columnstone as cst

PROGRAM = os.environ.get(
    "COLUMNSTONE_PROGRAM", os.path.join(sysconfig.get_path("scripts"), "columnstone")
)
ROWS = [(i, i / 4, "blue" if i % 2 else "yellow") for i in range(5000)]


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, timeout=60)


class Smoke(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(folder.name)
        lines = [f"{i},{fare},{company}" for i, fare, company in ROWS]
        pathlib.Path("trips.csv").write_text("\n".join(["id,fare,company", *lines, ""]))

    def expect(self, *arguments: str) -> str:
        """What the program prints; it has to end well."""
        done = run(*arguments)
        self.assertEqual((done.returncode, done.stderr), (0, ""), arguments)
        return done.stdout

    def test_import_time(self) -> None:
        """In seconds of the processor: 0.05 on a machine at rest, twice as much on a busy one."""
        program = "import time; t = time.process_time(); import columnstone; columnstone.open; "
        program += "print(time.process_time() - t)"
        times = [
            float(subprocess.check_output([sys.executable, "-c", program], text=True))
            for _ in range(5)
        ]
        self.assertLess(min(times), 0.2)

    def test_nothing_else_is_imported(self) -> None:
        program = "import columnstone, sys; columnstone.open; "
        program += (
            "print([n for n in ('numpy', 'pyarrow', 'tensorflow', 'torch') if n in sys.modules])"
        )
        said = subprocess.check_output([sys.executable, "-c", program], text=True)
        self.assertEqual(said.strip(), "[]")

    def test_version(self) -> None:
        version = importlib.metadata.version("columnstone")
        self.assertEqual(cst.__version__, version)
        self.assertIn(version, self.expect("--version"))

    def test_program_starts_soon(self) -> None:
        times = []
        for _ in range(5):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            self.expect("--version")
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            times.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
        self.assertLess(min(times), 0.03)

    def test_round_trip_in_python(self) -> None:
        for name in ("trips.tfrecord", "trips.tfrecord.gz", "trips.tfrecord.zst", "trips.arrow"):
            with self.subTest(name):
                cst.convert("trips.csv", name)
                columns = [batch.to_pydict() for batch in cst.open(name, flat=True)]
                fares = [fare for batch in columns for fare in batch["fare"]]
                companies = [company for batch in columns for company in batch["company"]]
                self.assertEqual(fares, [fare for _, fare, _ in ROWS])
                self.assertEqual(
                    [c.decode() if isinstance(c, bytes) else c for c in companies],
                    [company for _, _, company in ROWS],
                )

    def test_gzip_is_gzip(self) -> None:
        cst.convert("trips.csv", "trips.tfrecord")
        cst.convert("trips.csv", "trips.tfrecord.gz")
        with gzip.open("trips.tfrecord.gz") as packed:
            self.assertEqual(packed.read(), pathlib.Path("trips.tfrecord").read_bytes())

    def test_tensors(self) -> None:
        cst.convert("trips.csv", "trips.tfrecord.gz")
        schema = cst.infer_schema("trips.tfrecord.gz")
        total = 0.0
        for tensors in cst.open("trips.tfrecord.gz", schema=schema, columns=["fare"]).tensors():
            self.assertEqual(tensors["fare"].shape[1:], (1,))
            total += sum(row[0] for row in tensors["fare"].tolist())
        self.assertEqual(total, sum(fare for _, fare, _ in ROWS))

    def test_program(self) -> None:
        self.expect("convert", "trips.csv", "trips.tfrecord.gz")
        self.assertIn("5000", self.expect("count", "trips.tfrecord.gz"))
        self.assertIn("no faults", self.expect("verify", "trips.tfrecord.gz"))
        self.assertIn("fare", self.expect("stats", "trips.tfrecord.gz"))
        first = json.loads(self.expect("head", "-n", "1", "trips.tfrecord.gz"))
        self.assertEqual(first["fare"], [0.0])

    def test_statistics(self) -> None:
        stats = cst.statistics(cst.open("trips.csv"))
        self.assertAlmostEqual(stats["fare"].mean, sum(fare for _, fare, _ in ROWS) / len(ROWS))
        pathlib.Path("stats.html").write_text(stats.to_html(), encoding="utf-8")
        self.assertGreater(pathlib.Path("stats.html").stat().st_size, 10_000)

    def test_messages_and_queries(self) -> None:
        pathlib.Path("visits.jsonl").write_text(
            '{"id": 7, "event": [{"query": "tea", "price": [4.5, 6]}, {"query": "pot"}]}\n'
        )
        pathlib.Path("visits.desc").write_bytes(visits_descriptors())
        pathlib.Path("visits.cstq").write_text(
            "from message Visit\nlet event.cheapest = min(event.price)\n"
            "output cheapest = ragged(event.cheapest, default=0)\n"
        )
        message = ("--proto-set", "visits.desc", "--message", "Visit")
        self.expect("convert", "visits.jsonl", "visits.tfrecord.gz", "--to", "message", *message)
        (batch,) = cst.open("visits.tfrecord.gz", message="Visit", descriptors="visits.desc")
        self.assertEqual(batch.to_pydict()["event"][0][0]["price"], [4.5, 6.0])
        self.expect("view", "build", "visits.cstq", *message[:2], "-o", "visits.cstv")
        (batch,) = cst.open("visits.tfrecord.gz", view="visits.cstv")
        self.assertEqual(batch.to_pydict(), {"cheapest": [[4.5, 0.0]]})

    def test_lineage(self) -> None:
        self.expect("convert", "trips.csv", "trips.tfrecord")
        self.expect("lineage", "init", "lineage.db")
        at = ("--lineage", "lineage.db")
        self.expect("lineage", "add", "examples", "trips.tfrecord", "--name", "trips", *at)
        store = cst.lineage.open("lineage.db")
        self.assertEqual(store["trips"].reference, "trips@1")
        self.assertEqual(sum(batch.num_rows for batch in cst.open(store["trips@1"])), len(ROWS))

    def test_errors_say_what_to_do(self) -> None:
        cst.convert("trips.csv", "trips.tfrecord")
        data = bytearray(pathlib.Path("trips.tfrecord").read_bytes())
        data[20] ^= 1
        pathlib.Path("bad.tfrecord").write_bytes(data)
        with self.assertRaises(cst.errors.CorruptError) as caught:
            list(cst.open("bad.tfrecord", format="example", container="tfrecord"))
        self.assertEqual(caught.exception.record, 0)
        done = run("verify", "bad.tfrecord")
        self.assertEqual(done.returncode, 1, done)
        missing = run("count", "missing.tfrecord")
        self.assertEqual(missing.returncode, 2)
        self.assertIn("missing.tfrecord", missing.stderr)

    def test_licences(self) -> None:
        files = importlib.metadata.files("columnstone") or []
        names = {file.name for file in files if "licenses" in file.parts}
        self.assertLessEqual({"LICENSE", "THIRD_PARTY_NOTICES"}, names)

    def test_nothing_is_required(self) -> None:
        required = importlib.metadata.requires("columnstone") or []
        self.assertEqual([line for line in required if "extra ==" not in line], [])


def visits_descriptors() -> bytes:
    """Descriptors, by hand: a bare root has no compiler of .proto files."""

    def field(name: str, number: int, label: int, kind: int, type_name: str = "") -> bytes:
        named = [(1, name.encode()), *([(6, type_name.encode())] if type_name else [])]
        numbers = b"".join(
            [b"\x18", bytes([number]), b"\x20", bytes([label]), b"\x28", bytes([kind])]
        )
        return numbers + b"".join(text(*one) for one in named)

    def text(number: int, data: bytes) -> bytes:
        return bytes([number << 3 | 2, len(data)]) + data

    one, many, a_double, an_int64, a_string, a_message = 1, 3, 1, 3, 9, 11
    visit = text(1, b"Visit") + text(2, field("id", 1, one, an_int64))
    visit += text(2, field("event", 2, many, a_message, ".Event"))
    event = text(1, b"Event") + text(2, field("query", 1, one, a_string))
    event += text(2, field("price", 2, many, a_double))
    file = text(1, b"visits.proto") + text(4, visit) + text(4, event) + text(12, b"proto3")
    return text(1, file)


if __name__ == "__main__":
    unittest.main()
