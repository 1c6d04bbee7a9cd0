# No half file, and no temporary one, stays behind.
try() { columnstone convert "$@" || echo "exit status $?"; }
make_examples x.tfrecord 5
size=$(wc -c <x.tfrecord)
head -c $((size - 1)) x.tfrecord >cut.tfrecord
echo 'feature { name: "id" type: INT }' >id.pbtxt
echo 'feature { name: "id" type: FLOAT }' >wrong.pbtxt
echo 'feature { name "id" }' >syntax.pbtxt
try cut.tfrecord y.jsonl
try cut.tfrecord y.jsonl --schema id.pbtxt
try x.tfrecord y.jsonl --schema wrong.pbtxt
try x.tfrecord y.jsonl --schema syntax.pbtxt
try x.tfrecord y.jsonl --columns idd
try x.tfrecord nowhere/y.jsonl
try x.tfrecord y.foo
try x.tfrecord -
try x.tfrecord y.jsonl --to jsnol
try x.tfrecord y.jsonl --format rwa
ls
