# Sound records are saved, damaged ones are told of; the rest is as it was.
make_examples x.tfrecord 5
cp x.tfrecord y.tfrecord
poke() { printf '\177' | dd of="$1" bs=1 seek="$2" conv=notrunc 2>/dev/null; }
poke y.tfrecord 3
columnstone repair y.tfrecord good.tfrecord || echo "exit status $?"
columnstone verify good.tfrecord
columnstone repair y.tfrecord good.tfrecord || echo "exit status $?"
columnstone repair y.tfrecord better.tfrecord --json || echo "exit status $?"
columnstone repair x.tfrecord same.tfrecord >out
cmp x.tfrecord same.tfrecord
columnstone repair y.tfrecord one.tfrecord --max-errors 1 >out || echo "exit status $?"
poke y.tfrecord "$(($(wc -c <y.tfrecord) - 20))"
columnstone repair y.tfrecord none.tfrecord --max-errors 1 >out || echo "exit status $?"
ls
