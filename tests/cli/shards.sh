# convert into shards, and records that are skipped on the way.
make_examples x.tfrecord 10
columnstone convert x.tfrecord y.jsonl -c id --shards 2 -b 3
ls y*
cat y-00001-of-00002.jsonl
columnstone convert x.tfrecord x.jsonl -c id >out
columnstone convert x.tfrecord z.arrow --shard-size 1 -b 5 -c id >out
columnstone convert 'z-*' - --to json | cmp - x.jsonl || echo different
cp x.tfrecord bad.tfrecord
printf '\177' | dd of=bad.tfrecord bs=1 seek=3 conv=notrunc 2>/dev/null
columnstone convert bad.tfrecord - --to json -c id --on-error skip || echo "exit status $?"
columnstone convert bad.tfrecord - --to json -c id --on-error ignore || echo "exit status $?"
columnstone convert x.tfrecord - --to json -c id --raw-column raw -f raw | head -c 20
columnstone convert x.tfrecord - --to json -c id --offset-column at | head -n 2
columnstone convert x.tfrecord y.jsonl -c id --shards 2 || echo "exit status $?"
columnstone convert x.tfrecord y.jsonl -c id --shards 2 --force >out
