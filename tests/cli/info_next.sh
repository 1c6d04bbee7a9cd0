# Every command that info recommends works, for every kind of file, and with what info was told.
cp "$SOURCE/tests/data/messages/shop.desc" shop.desc
make_examples x.tfrecord 4
make_examples mixed.tfrecord 4 mixed
echo '{"record": {"base64": "CgZzcHJpbmcQCg=="}}' >coupons.jsonl
echo '{"record": {"base64": "/////w=="}}' >none.jsonl
for name in coupons none; do
  columnstone convert $name.jsonl $name.tfrecord --to raw >out
  columnstone convert $name.jsonl $name.bin --to raw --to-container delimited >out
done
echo '{"user": ["ann"], "##SEQUENCE##": {"movie": [[7], [9, 4]]}}' >watched.jsonl
columnstone convert watched.jsonl watched.tfrecord >out
printf '{"a": [1, 2], "s": {"t": "x"}}\n' >nested.jsonl
printf '{"a": [1, 2], "b": true, "c": null, "d": [[1.5]]}\n' >lists.jsonl
columnstone convert nested.jsonl nested.arrow >out
columnstone convert x.tfrecord x.arrow >out
printf 'a;b\n1;x\n' >'semi colon.data'
printf 'a;b\n' >text
cp x.tfrecord "it's.tfrecord"
cp x.tfrecord -- -x.tfrecord
tab=$(printf "ta\tb's\303\274.tfrecord")
cp x.tfrecord "$tab"
printf 'from table [{a: int64}]\noutput n = dense(a)\n' >q.cstq
columnstone view build q.cstq -o saved.cstv >out
columnstone schema infer x.tfrecord -o spec.pbtxt >out

try_next() {
  rm -f schema.pbtxt
  columnstone info "$@" >said
  grep -A 9 '^next\|^if' said
  sed -n 's/^next: //p' said >commands
  while read -r command; do
    bash -c "$command" >out 2>error </dev/null || { echo "FAILED: $command" && cat error; }
  done <commands
}
for file in x.tfrecord coupons.tfrecord none.tfrecord watched.tfrecord nested.jsonl lists.jsonl nested.arrow x.arrow \
  "it's.tfrecord" "$tab" ./-x.tfrecord spec.pbtxt saved.cstv coupons.jsonl; do
  try_next "$file"
done
try_next 'semi colon.data' --format csv -d ';'
try_next x.tfrecord --format raw
try_next x.tfrecord -fraw
try_next text --container lines --format raw
try_next coupons.bin --container delimited
for file in coupons none; do
  try_next $file.tfrecord --proto-set shop.desc
  try_next $file.bin --container delimited --proto-set shop.desc
  try_next $file.jsonl --message-column record --proto-set shop.desc
done
try_next coupons.tfrecord --proto-set shop.desc --message shop.Coupon --message-option enums=text
try_next coupons.jsonl --proto-set shop.desc --message shop.Coupon --message-column=record

echo 'columns below columns'
for file in nested.jsonl nested.arrow; do
  columnstone head $file -c s.t
  columnstone convert $file - --to json -c s.t
  columnstone schema tree $file -c s.t
  columnstone head $file -c s.u || echo "exit status $?"
  columnstone head $file --path s.t
done
