# protobuf's JSON to binary messages and back: each side has its own form.
try() { columnstone "$@" || echo "exit status $?"; }
cp "$SOURCE/tests/data/messages/shop.desc" shop.desc
coupon() { try "$@" --proto-set shop.desc --message shop.Coupon; }
printf '{"code": "spring", "percent": 10}\n{"code": "summer"}\n' >coupons.jsonl
coupon convert coupons.jsonl coupons.tfrecord --format message --container lines --to message --message-option form=json
coupon verify coupons.tfrecord
coupon head coupons.tfrecord
coupon convert coupons.tfrecord back.jsonl --format message --to message --to-container lines --to-message-option form=json
cat back.jsonl
coupon verify back.jsonl --format message --container lines --message-option form=json
coupon convert coupons.tfrecord text.tfrecord --format message --to message --to-message-option form=text
coupon head text.tfrecord --message-option form=text
coupon convert coupons.jsonl columns.tfrecord --to message
cmp coupons.tfrecord columns.tfrecord

echo 'what is refused'
coupon convert coupons.jsonl x.tfrecord --to message --message-option form=json
coupon convert coupons.tfrecord x.jsonl --to-message-option form=json
coupon convert coupons.jsonl x.tfrecord --to message --to-message-option frm=json
coupon convert coupons.jsonl x.tfrecord --to message --to-message-option form
coupon convert coupons.jsonl x.tfrecord --to message --to-message-option offsets=32
try convert coupons.jsonl x.tfrecord --to message --to-message-option form=json
