# Which message fits the records: the best one, equal ones, none, and what speaks for it.
try() { columnstone "$@" || echo "exit status $?"; }
cp "$SOURCE/tests/data/messages/shop.desc" shop.desc
# {"code": "spring", "percent": 10}, which an Item would read in part, and of which none is left
for i in 1 2 3 4 5 6 7 8 9 10 11 12; do echo '{"record": {"base64": "CgZzcHJpbmcQCg=="}}'; done >coupons.jsonl
columnstone convert coupons.jsonl coupons.tfrecord.gz --to raw >out
columnstone info coupons.tfrecord.gz --proto-set shop.desc | sed 's/, [0-9]* B,/, so many bytes,/'
columnstone info coupons.tfrecord.gz --proto-set shop.desc --json | sed 's/"file_bytes": [0-9]*/"file_bytes": 0/'
columnstone info coupons.jsonl --proto-set shop.desc --message-column record
try info coupons.jsonl --proto-set shop.desc

echo 'only a text, which may be the code of a coupon, the sku of an item or the query of an event'
echo '{"record": {"base64": "CgZzcHJpbmc="}}' >texts.jsonl
columnstone convert texts.jsonl texts.tfrecord --to raw >out
columnstone info texts.tfrecord --proto-set shop.desc

echo 'one record of two is no message'
echo '{"record": {"base64": "/////w=="}}' >>coupons.jsonl
columnstone convert coupons.jsonl damaged.tfrecord --to raw >out
columnstone info damaged.tfrecord --proto-set shop.desc

echo 'none'
echo '{"record": {"base64": "/////w=="}}' >none.jsonl
columnstone convert none.jsonl none.tfrecord --to raw >out
columnstone info none.tfrecord --proto-set shop.desc
echo '{"record": ""}' >empty.jsonl
columnstone convert empty.jsonl empty.tfrecord --to raw >out
columnstone info empty.tfrecord --proto-set shop.desc

echo 'of newer writers: a number that shop.Coupon does not have'
echo '{"record": {"base64": "CgZzcHJpbmcQCkgB"}}' >newer.jsonl
columnstone convert newer.jsonl newer.tfrecord --to raw >out
columnstone info newer.tfrecord --proto-set shop.desc
