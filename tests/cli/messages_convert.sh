# JSON lines to messages and back, by every verb that reads them; bad records; messages in a column.
try() { columnstone "$@" || echo "exit status $?"; }
# By their contents: what ISA-L writes depends a little on the address of its state.
same() { gzip -cd "$1" >"$1.plain" && gzip -cd "$2" | cmp "$1.plain" -; }
cp "$SOURCE/tests/data/messages/shop.desc" shop.desc
shop="--proto-set shop.desc --message"
cat >sessions.jsonl <<'JSON'
{"id": 7, "user": "ann", "device": "PHONE", "event": [{"query": "shoes", "price": 9.5, "clicked": true}, {"query": "hats"}], "labels": [{"key": "country", "value": "NZ"}], "card": "visa"}
{"id": 8, "device": "DESKTOP", "event": [], "coupon": {"code": "spring", "percent": 10}}
JSON
# shellcheck disable=SC2086
{
  columnstone convert sessions.jsonl sessions.tfrecord.gz --to message $shop shop.Session >out
  columnstone head sessions.tfrecord.gz $shop shop.Session
  columnstone head sessions.tfrecord.gz $shop shop.Session --columns id,event.query -n 1
  columnstone head sessions.tfrecord.gz $shop shop.Session --path event.query
  columnstone head sessions.tfrecord.gz $shop shop.Session --columns device --message-option enums=int32
  columnstone schema tree sessions.tfrecord.gz $shop shop.Event --columns query,price --message-option defaults=true
  columnstone verify sessions.tfrecord.gz $shop shop.Session
  columnstone count sessions.tfrecord.gz | sed "s/[0-9]*  sessions/so many  sessions/"
  columnstone info sessions.tfrecord.gz $shop shop.Session | sed 's/, [0-9]* B,/, so many bytes,/'
  columnstone convert sessions.tfrecord.gz again.arrow $shop shop.Session >out
  columnstone convert again.arrow again.tfrecord.gz --to message $shop shop.Session >out
  same sessions.tfrecord.gz again.tfrecord.gz

  echo 'other messages, paths and containers'
  try head sessions.tfrecord.gz $shop shop.Sesion
  try head sessions.tfrecord.gz $shop shop.Session --columns event.qery
  try head sessions.tfrecord.gz --proto-set shop.desc
  columnstone convert sessions.jsonl sessions.bin --to message --to-container delimited $shop shop.Session >out
  columnstone head sessions.bin --container delimited $shop shop.Session --columns id

  echo 'messages to messages'
  try convert sessions.tfrecord.gz copy.tfrecord.gz --to message $shop shop.Session
  columnstone convert sessions.tfrecord.gz copy.tfrecord.gz --format message --to message $shop shop.Session >out
  same sessions.tfrecord.gz copy.tfrecord.gz

  echo 'bad records'
  echo '{"record": {"base64": "CAc="}}' >records.jsonl
  echo '{"record": {"base64": "/////w=="}}' >>records.jsonl
  columnstone convert records.jsonl bad.tfrecord --to raw >out
  try verify bad.tfrecord $shop shop.Session
  try convert bad.tfrecord - --to json $shop shop.Session --columns id
  try convert bad.tfrecord - --to json $shop shop.Session --columns id --on-error skip
  try convert bad.tfrecord - --to json $shop shop.Session --columns id --on-error null
  try convert sessions.jsonl - --to json --on-error null

  echo 'in a column'
  echo '{"topic": "visits", "value": {"base64": "CAcgAQ=="}}' >kafka.jsonl
  echo '{"topic": "visits", "value": null}' >>kafka.jsonl
  columnstone head kafka.jsonl --message-column value $shop shop.Session --columns topic,value.id,value.device
  try head kafka.jsonl --message-column nix $shop shop.Session

  echo 'a value that does not fit'
  echo '{"code": "spring", "percent": 5000000000}' >coupons.jsonl
  try convert coupons.jsonl coupons.tfrecord --to message $shop shop.Coupon
  try convert coupons.jsonl coupons.tfrecord --to message
}
