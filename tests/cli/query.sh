# Queries over messages, tables and tf.Examples, to every format; what is parsed; what goes wrong.
try() { columnstone "$@" || echo "exit status $?"; }
cp "$SOURCE/tests/data/messages/shop.desc" shop.desc
cat >sessions.jsonl <<'JSON'
{"id": 7, "user": "ann", "event": [{"query": "shoes", "price": 9.5, "clicked": true}, {"query": "hats"}]}
{"id": 8}
{"id": 9, "event": [{"query": "tea", "price": 2, "clicked": true}]}
JSON
columnstone convert sessions.jsonl sessions.tfrecord --to message --proto-set shop.desc --message shop.Session >out
cat >clicks.cstq <<'CSTQ'
from message shop.Session
param  least: int64 = 0
let    clicks = event where clicked and price > least
output id     = id
output label  = dense(size(clicks), default=0)
output tokens = ragged(event.query)
CSTQ
columnstone query clicks.cstq sessions.tfrecord - --to json --proto-set shop.desc
columnstone query clicks.cstq sessions.tfrecord - --to json --proto-set shop.desc --param least=5 --columns label,id
columnstone query clicks.cstq sessions.tfrecord clicks.arrow --proto-set shop.desc
columnstone query clicks.cstq sessions.tfrecord clicks.tfrecord --proto-set shop.desc >out
columnstone head clicks.arrow
columnstone head clicks.tfrecord
columnstone query clicks.cstq --explain --proto-set shop.desc --columns label | sed -n "1,3p"
columnstone query clicks.cstq sessions.tfrecord --explain --proto-set shop.desc | grep filter
# Sizes are of records that are read as the query says.
echo 'from message shop.Session with enums = number output device = dense(device)' >numbers.cstq
columnstone query numbers.cstq sessions.tfrecord --explain --proto-set shop.desc | grep column

echo 'tables'
cat >rows.cstq <<'CSTQ'
from table
let event.id = id
rows event
output id = id
output query = query
output at = record_index()
CSTQ
columnstone query rows.cstq sessions.jsonl - --to csv
columnstone convert sessions.jsonl sessions.arrow >out
columnstone query rows.cstq sessions.arrow - --to json -b 1 -j 1

echo 'examples'
make_examples x.tfrecord 3
echo 'from example output id = id + 1 output n = size(tags)' >x.cstq
columnstone query x.cstq x.tfrecord - --to json

echo 'bad records'
echo 'from table [{id: int64, n: [int64]}] output id = id output n = dense(n, shape=[1], default=0)' >fixed.cstq
printf '{"id": 1, "n": [4]}\n{"id": 2, "n": [4, 5]}\n{"id": 3}\n' >bad.jsonl
try query fixed.cstq bad.jsonl - --to json -b 1
try query fixed.cstq bad.jsonl - --to json --on-error skip
try query fixed.cstq bad.jsonl - --to json --on-error null
printf 'id,n\n1,4\n2\n3,6\n' >bad.csv
echo 'output id = id' >ids.cstq
try query ids.cstq bad.csv - --to json
try query ids.cstq bad.csv - --to json --on-error skip
try query ids.cstq bad.csv --explain --on-error skip >out
printf '{"id": 2}\n{"id": 0}\n' >two.jsonl
columnstone convert two.jsonl two.arrow >out
echo 'output id = 4 // id' >divided.cstq
try query divided.cstq two.arrow - --to json --on-error skip

echo 'mistakes'
try query clicks.cstq sessions.tfrecord
try query clicks.cstq sessions.tfrecord -
try query clicks.cstq sessions.tfrecord - --to json
try query clicks.cstq sessions.tfrecord - --to json --proto-set shop.desc --columns lable
try query clicks.cstq sessions.tfrecord - --to json --proto-set shop.desc --param lest=1
try query clicks.cstq sessions.tfrecord - --to json --proto-set shop.desc --param least
printf 'from message shop.Session\nlet q = event.qery\n' >wrong.cstq
try query wrong.cstq sessions.tfrecord - --to json --proto-set shop.desc
try query none.cstq sessions.tfrecord - --to json
try query clicks.cstq sessions.jsonl - --to json --proto-set shop.desc
try query clicks.cstq sessions.tfrecord - --to csv --proto-set shop.desc
try query clicks.cstq sessions.tfrecord clicks.arrow --proto-set shop.desc
try query rows.cstq - - --to json <sessions.jsonl
try query clicks.cstq --json sessions.tfrecord out.json --proto-set shop.desc
try query clicks.cstq --explain --proto-set shop.desc --param least=1 --param least=2 >out
