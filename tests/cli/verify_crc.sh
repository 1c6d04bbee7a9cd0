# One byte of a string of the second record is changed, and one of the first length in another file.
make_examples a.tfrecord 3
cp a.tfrecord b.tfrecord
poke() { printf '\177' | dd of="$1" bs=1 seek="$2" conv=notrunc 2>/dev/null; }
poke a.tfrecord "$(grep -abo red a.tfrecord | head -n 1 | cut -d : -f 1)"
columnstone verify a.tfrecord || echo "exit status $?"
poke b.tfrecord 3
columnstone verify b.tfrecord a.tfrecord || echo "exit status $?"
columnstone verify b.tfrecord a.tfrecord --max-faults 1 || echo "exit status $?"
columnstone verify b.tfrecord a.tfrecord --max-faults 1 --json || echo "exit status $?"
columnstone verify a.tfrecord --json || echo "exit status $?"
columnstone head a.tfrecord -c id,tags || echo "exit status $?"
columnstone head a.tfrecord -c id,tags --no-crc
columnstone convert a.tfrecord - --to json -c id,tags --no-crc
