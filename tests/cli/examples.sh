# Every example of --help works, with the exit status that is listed here, on files like these.
mkdir files && cd files
awk 'BEGIN { print "fare,miles,company"
  for (i = 0; i < 1000; i++) printf "%.2f,%.1f,%s\n", 3 + i * 7 % 500 / 4, i % 93 / 10, i % 3 ? "Blue" : "Yellow" }' >trips.csv
columnstone convert trips.csv trips.tfrecord --lossy >/dev/null
columnstone split trips.tfrecord trips.tfrecord.gz --shards 2 >/dev/null
columnstone schema infer trips.tfrecord -o schema.pbtxt >/dev/null
sed 's/"miles"/"kilometres"/' schema.pbtxt >new.pbtxt
columnstone convert trips.tfrecord damaged.tfrecord >/dev/null
printf '\377' | dd of=damaged.tfrecord bs=1 seek=70 conv=notrunc 2>err
for name in before today; do columnstone stats trips.tfrecord -o $name.cststats >/dev/null; done
echo '{"id": 1, "event": [{"query": "shoes", "price": [9.5]}]}' >log.jsonl
cp "$SOURCE/tests/data/messages/shop.desc" "$SOURCE/tests/data/views/sessions.tfrecord" .
printf 'from message shop.Session\noutput tokens = ragged(event.query)\n' >sessions.cstq
printf 'from example\noutput fare = dense(fare, default=0.0)\n' >trips.cstq
columnstone view build sessions.cstq -o sessions.cstv --proto-set shop.desc >/dev/null
sed 's/ragged/sparse/' sessions.cstq >new.cstq
columnstone view build new.cstq -o new.cstv --proto-set shop.desc >/dev/null
rm new.cstq err
echo model >model.bin
export COLUMNSTONE_LINEAGE=lineage.db
columnstone lineage init lineage.db >/dev/null
columnstone lineage add examples trips.tfrecord --name trips >/dev/null
columnstone lineage add model model.bin --name fares --from trips@1 --by train >/dev/null
columnstone lineage add examples sessions.tfrecord --name sessions --proto-set shop.desc --message shop.Session >/dev/null
columnstone lineage add view sessions.cstv --name ranking >/dev/null
columnstone lineage export-mlmd metadata.sqlite >/dev/null
cd ..
cat >run.py <<'P'
import json, os, pathlib, shutil, subprocess

told = json.loads(subprocess.run(["columnstone", "__describe"], capture_output=True, check=True).stdout)
for verb in told["verbs"]:
    allowed = {e["status"] for e in verb["exits"]} - {2}
    for example in verb["examples"]:
        command = example["command"]
        shutil.copytree("files", "try")
        os.mkdir("try/data")
        words = command.split()
        outputs = [words[i + 1] for i, word in enumerate(words) if word == "-o"]
        outputs += ["metadata.sqlite"] if "export-mlmd" in words else []
        outputs += ["trips-0*.gz"] if words[1] == "convert" else []
        for path in [p for name in outputs for p in pathlib.Path("try").glob(name)]:
            path.unlink()
        done = subprocess.run(["sh", "-c", command], cwd="try", capture_output=True, text=True)
        print(done.returncode, command)
        if done.returncode not in allowed or (not outputs and not done.stdout + done.stderr):
            print("   ", done.stderr.strip() or "prints nothing")
        shutil.rmtree("try")
P
python3 run.py
