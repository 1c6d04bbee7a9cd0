# One byte of the second record's data is changed, and one of the third's length in another file.
make_examples a.tfrecord 3
cp a.tfrecord b.tfrecord
poke() { printf '\377' | dd of="$1" bs=1 seek="$2" conv=notrunc 2>/dev/null; }
poke a.tfrecord 200
columnstone verify a.tfrecord || echo "exit status $?"
poke b.tfrecord 3
columnstone verify b.tfrecord a.tfrecord || echo "exit status $?"
columnstone verify a.tfrecord --json || echo "exit status $?"
columnstone head a.tfrecord --no-crc -c id
