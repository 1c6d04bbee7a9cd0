# Reading through a saved query: every verb that does, parameters, and what does not go together.
try() { columnstone "$@" || echo "exit status $?"; }
cp "$SOURCE/tests/data/messages/shop.desc" shop.desc
cat >sessions.jsonl <<'JSON'
{"id": 7, "user": "ann", "event": [{"query": "shoes", "price": 9.5, "clicked": true}, {"query": "hats"}]}
{"id": 9, "event": [{"query": "tea", "price": 2, "clicked": true}]}
JSON
columnstone convert sessions.jsonl sessions.tfrecord --to message --proto-set shop.desc --message shop.Session >out
cat >clicks.cstq <<'CSTQ'
from message shop.Session
param  least: int64 = 0
output label  = dense(size(event where clicked and price > least), default=0)
output tokens = ragged(event.query)
CSTQ
columnstone view build clicks.cstq --proto-set shop.desc -o clicks.cstv >out
columnstone convert sessions.tfrecord - --to json --view clicks.cstv
columnstone head sessions.tfrecord -n 1 --view clicks.cstv --columns label --param least=20
columnstone schema tree sessions.tfrecord --view clicks.cstv
columnstone schema spec --view clicks.cstv
columnstone schema infer sessions.tfrecord --view clicks.cstv >outputs.pbtxt
columnstone schema check outputs.pbtxt sessions.tfrecord --view clicks.cstv

echo 'mistakes'
try head sessions.tfrecord --view clicks.cstv --columns tokns
try head sessions.tfrecord --view clicks.cstv --param lest=2
try head sessions.tfrecord --param least=2
try head sessions.tfrecord --view clicks.cstv --proto-set shop.desc --message shop.Session
try head sessions.jsonl --view clicks.cstv
try head sessions.tfrecord --view clicks.cstq
try schema spec outputs.pbtxt --view clicks.cstv
