"""Stores of lineage with many at work at once: processes, threads, forked children; and stores that
strangers made."""

from __future__ import annotations

import os
import pathlib
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import columnstone as cst
import pytest
from columnstone.lineage import Store

LONG = bool(os.environ.get("COLUMNSTONE_LONG"))


@pytest.fixture
def store(tmp_path: pathlib.Path) -> Store:
    return cst.lineage.open(tmp_path / "lineage.db", create=True)


# Processes

WORKER = """
import sys, columnstone as cst
path, me, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
store = cst.lineage.open(path, create=True, timeout=120)  # whoever comes first makes it
shared = store.context("run", "all")
for i in range(count):
    made = store.add("Data", name="shared", properties={"me": me, "i": i})
    assert store[made.id].properties == {"me": me, "i": i}
    assert made.version == len(store.find(name="shared", created=None, me=me)) or made.version > i
    if i % 5 == 0:
        with store.execution("step", [made]) as run, store.lease(made):
            with store.transaction():
                one = run.output(store.add("Data", pending=True))
                shared.add(one)
                store.set(shared, **{f"last-{me}": i})
        assert run.execution.state == "complete"
    store.trace(made)
print("done")
"""


def test_eight_processes_write_and_read_at_once(tmp_path: pathlib.Path) -> None:
    """Into a store that is not there yet. Nobody sees "locked", and no update is lost."""
    count = 100 if LONG else 10
    script = tmp_path / "worker.py"
    script.write_text(WORKER)
    path = tmp_path / "lineage.db"
    command = [sys.executable, str(script), str(path)]
    at_work = [
        subprocess.Popen(
            [*command, str(me), str(count)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for me in range(8)
    ]
    for one in at_work:
        output, errors = one.communicate(timeout=300)
        assert output == "done\n", errors
    with cst.lineage.open(path) as store:
        made = store.find(name="shared")
        assert [one.version for one in made] == list(range(1, 8 * count + 1))
        assert {(one.properties["me"], one.properties["i"]) for one in made} == {
            (me, i) for me in range(8) for i in range(count)
        }
        [shared] = store.contexts("run")
        last = (count - 1) // 5 * 5
        assert shared.properties == {f"last-{me}": last for me in range(8)}
        assert len(shared.artifacts) == 8 * len(range(0, count, 5))
        assert {run.state for run in store.executions()} == {"complete"}
        assert store.leases() == []
        assert store.check(digests=True) == []


def test_a_process_that_is_killed_leaves_whole_artifacts(tmp_path: pathlib.Path) -> None:
    script = tmp_path / "worker.py"
    script.write_text(WORKER)
    path = tmp_path / "lineage.db"
    rounds = 20 if LONG else 4
    for me in range(rounds):
        process = subprocess.Popen(
            [sys.executable, str(script), str(path), str(me), "100000"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        target = len(cst.lineage.open(path, create=True).find(name="shared")) + 3
        with cst.lineage.open(path) as store:
            while len(store.find(name="shared", limit=target)) < target:
                assert process.poll() is None
        process.send_signal(signal.SIGKILL)
        process.wait()
        with cst.lineage.open(path) as store:
            made = store.find(name="shared")
            assert [one.version for one in made] == list(range(1, len(made) + 1))
            assert all(one.properties.keys() == {"me", "i"} for one in made)
            assert {fault.fault for fault in store.check()} <= {"the execution has not ended"}


# Threads


def test_threads_take_turns(store: Store) -> None:
    def work(me: int) -> None:
        for i in range(20):
            if me % 2:
                store.add("Data", name="n", properties={"me": me})
            else:
                with store.transaction():
                    first = store.add("Data", name="n", properties={"me": me})
                    second = store.add("Data", name="n", properties={"me": me, "i": i})
                    assert second.version == first.version + 1  # type: ignore[operator]

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(work, range(6)))
    made = store.find(name="n")
    assert [one.version for one in made] == list(range(1, len(made) + 1))
    assert len(made) == 3 * 20 + 3 * 40


def test_a_transaction_keeps_other_threads_out(store: Store) -> None:
    begun, seen = threading.Event(), []

    def other() -> None:
        begun.wait()
        seen.append([one.name for one in store])

    thread = threading.Thread(target=other)
    thread.start()
    with store.transaction():
        store.add("Data", name="a")
        begun.set()
        store.add("Data", name="b")
    thread.join()
    assert seen == [["a", "b"]]


def test_closing_while_others_work(store: Store) -> None:
    def work() -> None:
        try:
            while True:
                store.add("Data")
        except cst.errors.StateError:
            pass

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    store.close()
    for thread in threads:
        thread.join()


# Forks


def in_child(work: Callable[[], object]) -> None:
    """Runs in a forked child, which has to come to its end."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            work()
            code = 0
        except BaseException:
            import traceback

            traceback.print_exc()
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0


def test_a_forked_child_opens_the_store_anew(store: Store, tmp_path: pathlib.Path) -> None:
    (tmp_path / "a.csv").write_text("x\n1\n")
    artifact = store.examples(tmp_path / "a.csv", "a", format="csv")
    source = cst.open(artifact)

    def work() -> None:
        assert store["a"] == artifact
        store.add("Data", name="child")
        assert artifact.refresh() == artifact
        assert cst.open(artifact).num_rows == 1
        assert source.num_rows == 1
        source.close()  # the lease is the parent's
        store.close()

    in_child(work)
    assert "child" in store
    assert len(store.leases()) == 1 or all("a@1" in lease.references for lease in store.leases())
    source.close()
    store.add("Data")


def test_a_fork_within_a_transaction(store: Store) -> None:
    def work() -> None:
        with pytest.raises(cst.errors.StateError, match="transaction"):
            store.add("Data", name="child")

    with store.transaction():
        store.add("Data", name="parent")
        in_child(work)
    assert [one.name for one in store] == ["parent"]


# Strangers


def full(path: pathlib.Path, folder: pathlib.Path) -> None:
    """A store with a bit of everything."""
    (folder / "a.csv").write_text("x\n1\n")
    with cst.lineage.open(path, create=True) as store:
        previous = store.examples(folder / "a.csv", "e", format="csv", span=1)
        context = store.context("c", "c", p=1.5)
        for i in range(10):
            with store.execution("step", {"in": previous}, p="x") as run:
                previous = run.output(
                    store.examples(folder / "a.csv", "e", format="csv", properties={"i": i}), "out"
                )
            context.add(previous)
        view = cst.Query.from_text("from table\noutput y = x\n", type=cst.open(previous))
        store.bind(previous, store.view(view, "v"))
        with store.transaction():
            for i in range(100):
                store.add("T", name=f"n{i}", properties={"p": "x" * 100, "b": b"\0"})
        store._connection.core.lease((1,), None, 10**6, True, 0)


def use(path: pathlib.Path) -> int:
    """All that reads or writes: it works, or it is an error of ours. How many were errors."""
    errors = 0

    def attempt(work: Callable[[], object]) -> Any:
        nonlocal errors
        try:
            return work()
        except cst.Error as error:
            assert str(error).isprintable() or "\n" in str(error)
            errors += 1
            return None

    store = attempt(lambda: cst.lineage.open(path))
    if store is None:
        return errors
    with store:
        found = attempt(store.find) or []
        for work in (
            store.info,
            store.executions,
            store.contexts,
            store.leases,
            store.check,
            lambda: store.find(states=["deleted"], path="a"),
            lambda: store.find(source_path="x"),
            lambda: store["e"],
            lambda: store.gc(keep=1, dry_run=True),
            lambda: store.graph(format="dot"),
            store.openlineage,
            lambda: store.add("Data", name="new"),
        ):
            attempt(work)
        for one in found[:3] + found[-3:]:
            attempt(lambda one=one: store.trace(one))
            attempt(lambda one=one: store.reading(one))
            attempt(lambda one=one: one.inputs)
            attempt(lambda one=one: cst.open(one).head())
    return errors


def test_damaged_files(tmp_path: pathlib.Path) -> None:
    """Cut anywhere, and with any bytes changed."""
    whole, damaged = tmp_path / "whole.db", tmp_path / "damaged.db"
    full(whole, tmp_path)
    assert use(whole) <= 8  # of what is no Examples
    data = whole.read_bytes()
    choose = random.Random(1)
    errors = 0
    for i in range(400 if LONG else 40):
        changed = bytearray(data)
        if i % 3 == 0:
            del changed[choose.randrange(len(data)) :]
        elif i % 3 == 1:
            for _ in range(choose.choice([1, 10, 100])):
                changed[choose.randrange(len(data))] = choose.randrange(256)
        else:
            begin = choose.randrange(len(data))
            changed[begin : begin + 4096] = bytes(min(4096, len(data) - begin))
        for leftover in tmp_path.glob("damaged.db*"):
            leftover.unlink()
        damaged.write_bytes(changed)
        errors += use(damaged) > 8
    assert errors > 0


def test_any_value_in_any_column(tmp_path: pathlib.Path) -> None:
    """Tables whose rows say what no row of ours does."""
    whole, forged = tmp_path / "whole.db", tmp_path / "forged.db"
    full(whole, tmp_path)
    values = [None, -1, 0, 2**63 - 1, -(2**63), 1.5, float("inf"), "", "x", "a'\n\"", "\x1b[1m"]
    values += [b"", b"\0\xff", "x" * 10_000, 3, 10]
    with sqlite3.connect(whole) as plain:
        tables = [name for (name,) in plain.execute("SELECT name FROM sqlite_schema") if name]
        columns = [
            (table, column[1])
            for table in tables
            if not table.startswith("sqlite_")
            for column in plain.execute(f'PRAGMA table_info("{table}")')
        ]
    plain.close()
    choose = random.Random(2)
    for _ in range(400 if LONG else 40):
        for leftover in tmp_path.glob("forged.db*"):
            leftover.unlink()
        shutil.copy(whole, forged)
        changes = sqlite3.connect(forged)
        changes.execute("PRAGMA ignore_check_constraints = ON")
        for table, column in choose.sample(columns, choose.randrange(1, 5)):
            rows = choose.choice(["rowid % 2", "1", "rowid % 7 = 3"])
            sql = f'UPDATE OR IGNORE "{table}" SET "{column}" = ? WHERE {rows}'
            try:
                changes.execute(sql, [choose.choice(values)])
            except sqlite3.Error:  # a constraint
                continue
        changes.commit()
        changes.close()
        use(forged)


def test_other_files(tmp_path: pathlib.Path) -> None:
    text = tmp_path / "text.db"
    text.write_text("no database at all, but long enough to be one" * 100)
    with pytest.raises(cst.errors.FormatError) as caught:
        cst.lineage.open(text)
    assert caught.value.file == str(text)
    foreign = sqlite3.connect(tmp_path / "foreign.db")
    foreign.execute("CREATE TABLE artifact(id)")
    foreign.close()
    with pytest.raises(cst.errors.FormatError):
        cst.lineage.open(tmp_path / "foreign.db")
    cst.lineage.open(tmp_path / "newer.db", create=True).close()
    newer = sqlite3.connect(tmp_path / "newer.db")
    newer.execute("PRAGMA user_version = 99")
    newer.close()
    with pytest.raises(cst.errors.UnsupportedError, match="99"):
        cst.lineage.open(tmp_path / "newer.db")
    with pytest.raises(cst.Error):
        cst.lineage.open(tmp_path)
    with pytest.raises(cst.errors.NotFoundError):
        cst.lineage.open("")


def test_many_properties(store: Store) -> None:
    count = 1_000_000 if LONG else 20_000
    made = store.add("Data", properties={f"p{i}": i for i in range(count)})
    assert len(made.properties) == count
    assert store.find(p77=77) == [made]


def test_cycles(store: Store, tmp_path: pathlib.Path) -> None:
    """References of a stranger's store may go in a circle."""
    one = store.add("Data", name="a")
    two = store.add("Data", name="b", references={"x": one})
    store.close()
    changes = sqlite3.connect(store.path)
    changes.execute("INSERT INTO reference(artifact, role, target) VALUES(?, 'x', ?)", (1, 2))
    changes.commit()
    changes.close()
    with cst.lineage.open(store.path) as again:
        assert {node.label for node in again.trace("a")} == {"a@1", "b@1"}
        assert again.trace(again[two.id], down=True)
        again.gc(keep=1)


# Garbage


def test_garbage_is_collected(store: Store, tmp_path: pathlib.Path) -> None:
    for span in range(4):
        (tmp_path / f"{span}.csv").write_text("x\n1\n")
        store.examples(tmp_path / f"{span}.csv", "e", format="csv", span=span)
    planned = store.gc(keep=2, dry_run=True)
    assert [row.reference for row in planned.deleted] == ["e@1", "e@2"]
    assert planned.is_dry_run
    assert bool(planned)
    assert "e@3" in str(planned)
    assert "would be deleted" in repr(planned)
    assert (tmp_path / "0.csv").exists()
    held = cst.open(store["e@1"])
    done = store.gc(keep=2)
    assert [row.reference for row in done.deleted] == ["e@2"]
    assert [held.num_rows, done.num_files] == [1, 1]
    assert sorted(path.name for path in tmp_path.glob("*.csv")) == ["0.csv", "2.csv", "3.csv"]
    with pytest.raises(cst.errors.StateError, match="e@2"):
        cst.open(store["e@2"])
    held.close()
    assert [row.reference for row in store.gc(keep=2).deleted] == ["e@1"]
    assert store["e@1"].state == "deleted"
    assert len(done) == len(done.kept) + len(done.deleted)
    assert not store.gc(keep=2)
