# Statistics of what comes from elsewhere: messages, views, a pipe, damaged records, several threads.
cp "$SOURCE/tests/data/messages/shop.desc" shop.desc
shop="--proto-set shop.desc --message shop.Session"
cat >sessions.jsonl <<'JSON'
{"id": 7, "user": "ann", "device": "PHONE", "event": [{"query": "red shoes", "price": 9.5, "clicked": true}, {"query": "hats"}], "labels": [{"key": "country", "value": "NZ"}], "card": "visa"}
{"id": 8, "device": "DESKTOP", "event": [], "coupon": {"code": "spring", "percent": 10}}
{"id": 9, "device": "PHONE", "event": [{"query": "hats"}]}
JSON
# shellcheck disable=SC2086
columnstone convert sessions.jsonl sessions.tfrecord --to message $shop >out
columnstone stats sessions.tfrecord $shop
columnstone stats sessions.tfrecord $shop --message-option enums=int32 --columns device,id --by device
cat >clicks.cstq <<'Q'
from message shop.Session
let clicks = event where clicked
output clicks = dense(size(clicks), default=0)
output query = ragged(event.query)
Q
columnstone view build clicks.cstq --proto-set shop.desc -o clicks.cstv >out
columnstone stats sessions.tfrecord --view clicks.cstv --by clicks
columnstone stats - --format json <sessions.jsonl --columns id,user
cat sessions.tfrecord | columnstone stats - $shop --columns id
cat sessions.tfrecord >damaged.tfrecord && printf 'damage' >>damaged.tfrecord
cat sessions.tfrecord >>damaged.tfrecord
columnstone stats damaged.tfrecord $shop --columns id || echo $?
columnstone stats damaged.tfrecord $shop --columns id --on-error skip || echo $?
echo '{"a": 1}' >one.jsonl; columnstone stats one.jsonl -o one.cststats
columnstone stats - <one.cststats || echo $?
