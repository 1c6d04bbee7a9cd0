# --json of every verb that prints a table: one JSON object, with what the table says. Numbers are
# exact, what is missing is null, and errors go to standard error.
cp "$SOURCE/tests/data/messages/shop.desc" shop.desc
cp "$SOURCE/tests/data/views/sessions.tfrecord" .
printf 'fare,miles,company\n3.5,1.25,Blue\n4.5,,Red\n9007199254740993,2,\n' >trips.csv
printf '{"id": [9007199254740993], "name": ["n0"]}\n{"id": [7], "name": null}\n' >big.jsonl
columnstone convert big.jsonl big.tfrecord >done
columnstone convert big.tfrecord cut.tfrecord >done
printf 'x' >>cut.tfrecord
columnstone schema infer big.tfrecord -o schema.pbtxt >done
sed 's/BYTES/INT/' schema.pbtxt >new.pbtxt
columnstone stats big.tfrecord -o before.cststats >done
columnstone stats trips.csv -o after.cststats >done
printf 'from message shop.Session\nparam longest: int64 = 2\noutput tokens = ragged(event.query[:longest])\n' >a.cstq
sed 's/ragged(/sparse(/' a.cstq >b.cstq
for v in a b; do columnstone view build $v.cstq --proto-set shop.desc -o $v.cstv >done; done
export COLUMNSTONE_LINEAGE=$PWD/store.db
cat >check.py <<'P'
import json, subprocess, sys

def run(*words, status=0):
    done = subprocess.run(["columnstone", *words], capture_output=True, text=True)
    assert done.returncode == status, (words, done.returncode, done.stderr)
    return done

def table(*words, status=0):
    """What the verb prints with --json, and the words that it prints without."""
    text = run(*words, status=status).stdout
    found = run(*words, "--json", status=status)
    return parse(words, found), text

def parse(words, found):
    assert found.stdout.isascii() or found.stdout.encode()
    value = json.loads(found.stdout, parse_constant=lambda c: sys.exit(f"{words}: {c}"))
    assert isinstance(value, dict), words
    print("ok", *[w for w in words if not w.startswith("/")])
    return value

def only_json(*words, status=0):
    return parse(words, run(*words, "--json", status=status))

found, text = table("info", "big.tfrecord")
assert [f["name"] for f in found["files"][0]["features"]] == ["id", "name"]
assert found["files"][0]["features"][0]["example"] == [9007199254740993]
assert found["files"][0]["compression"] is None and "9007199254740993" in text
found, text = table("count", "big.tfrecord", "sessions.tfrecord")
assert found["records"] == 5 and found["error"] is None
assert [f["records"] for f in found["files"]] == [2, 3] and str(found["file_bytes"]) in text
found, text = table("verify", "cut.tfrecord", status=1)
assert found["num_faults"] == 1 and found["faults"][0]["kind"] == "truncated"
assert found["faults"][0]["message"] in text and found["faults"][0]["path"] is None
found = only_json("schema", "infer", "big.tfrecord")
assert [f["path"] for f in found["features"]] == ["id", "name"] and "feature {" in found["schema"]
found, text = table("schema", "spec", "schema.pbtxt")
assert all(t["tensor"] in text for t in found["tensors"]) and len(found["tensors"]) == 2
found, text = table("schema", "check", "new.pbtxt", "big.tfrecord", status=1)
assert found["num_rows"] == 2 and all(a["kind"] in text for a in found["anomalies"])
found, text = table("schema", "diff", "schema.pbtxt", "new.pbtxt", status=1)
assert len(found["changes"]) == text.count("\n") > 0
found, text = table("schema", "tree", "big.tfrecord")
assert "int64" in json.dumps(found) and "int64" in text
found = only_json("repair", "cut.tfrecord", "saved.tfrecord", status=1)
assert found["records"] == 2 and found["dropped_records"] == len(found["dropped"]) == 1
found, text = table("index", "big.tfrecord")
assert found == {"indexes": [{"file": "big.tfrecord", "records": 2}]}
assert text == "big.tfrecord.cstidx: 2 records\n"
found, text = table("plan", "big.tfrecord")
assert found["splits"][0]["file"].endswith("big.tfrecord") and "big.tfrecord" in text
found, text = table("accumulate")
assert all(a["name"] in text for a in found["accumulators"])
found, text = table("accumulate", "counts", "big.tfrecord")
assert "id" in json.dumps(found) and found["num_rows"] == 2
found, text = table("stats", "before.cststats")
assert [f["path"] for f in found["features"]] == ["id", "name"]
found, text = table("stats", "diff", "before.cststats", "after.cststats")
assert {"id", "name", "fare"} <= {f["path"] for f in found["drift"]}
found, text = table("query", "a.cstq", "--proto-set", "shop.desc", "--explain")
assert "event.query" in json.dumps(found) and "event.query" in text
found, text = table("view", "show", "a.cstv")
assert found["params"] == [{"name": "longest", "type": "int64", "value": "2"}] and "longest" in text
found, text = table("view", "check", "a.cstv", "sessions.tfrecord")
assert f"fits the input: {found['rows']} rows" in text and found["row_paths"] == []
assert found["digest"].startswith(text.split("digest ")[1].split("\n")[0])
assert only_json("view", "check", "a.cstv")["rows"] is None
found, text = table("view", "diff", "a.cstv", "b.cstv", status=1)
assert [(c["kind"], c["message"]) for c in found["changes"]] == [
    tuple(part.strip() for part in line.split(":", 1)) for line in text.splitlines()]
assert found["num_breaking"] == 1 and found["num_rows"] == 0
assert only_json("view", "diff", "a.cstv", "a.cstv")["changes"] == []

only_json("lineage", "init", "store.db")
found = only_json("lineage", "add", "examples", "sessions.tfrecord", "--name", "s", "--proto-set",
                  "shop.desc", "--message", "shop.Session")
only_json("lineage", "add", "view", "a.cstv", "--name", "v")
only_json("lineage", "bind", "s@1", "v@1")
only_json("lineage", "lease", "s@1", "--for", "1h")
for words in (["ls"], ["ls", "executions"], ["ls", "contexts"], ["ls", "roots"], ["show", "s@1"],
              ["trace", "s@1"], ["check"], ["lease"]):
    found, text = table("lineage", *words)
found, text = table("lineage", "ls")
assert sorted((a["name"], a["version"]) for a in found["artifacts"]) == [
    ("s", 1), ("s", 2), ("v", 1)], found
assert all(word in text for word in ("s@1", "s@2", "v@1"))
found, text = table("gc", "--keep", "1", "--dry-run")
only_json("lineage", "export-mlmd", "mlmd.db")
only_json("lineage", "import-mlmd", "mlmd.db")

# errors go to standard error, and no half of an object to standard output
done = subprocess.run(["columnstone", "info", "none", "--json"], capture_output=True, text=True)
assert done.returncode == 2 and "none" in done.stderr
P
python3 check.py
# every verb that takes --json is above
columnstone __describe | python3 -c '
import json, sys
told = json.load(sys.stdin)
names = {v["name"] for v in told["verbs"] if any(told["options"][i]["name"] == "json" for i in v["options"])}
text = open("check.py").read().replace("\"", "").replace(", ", " ")
missing = [n for n in sorted(names) if n not in text and not n.startswith("lineage")]
print("not tested:", missing)'
