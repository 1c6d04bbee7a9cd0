# Cut at any byte but a record's end: exit status 1, and never a crash.
make_examples x.tfrecord 2
size=$(wc -c <x.tfrecord)
first=$(columnstone count x.tfrecord --json | sed -n 's/.*"record_bytes": \([0-9]*\), "stream.*/\1/p')
i=0
while [ "$i" -lt "$size" ]; do
  head -c "$i" x.tfrecord >cut.tfrecord
  status=0
  columnstone verify cut.tfrecord >out 2>&1 || status=$?
  case $status in
    0) echo "fine with $i bytes" ;;
    1) grep -q '^cut.tfrecord: .*record [01]\|cut.tfrecord: .*\[truncated\]' out || cat out ;;
    *) echo "exit status $status at $i"; cat out ;;
  esac
  i=$((i + 1))
done
echo "of $size; payload $first"
