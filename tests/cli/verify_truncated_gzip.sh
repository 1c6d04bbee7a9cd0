make_examples x.tfrecord.gz 2
size=$(wc -c <x.tfrecord.gz)
i=1
while [ "$i" -lt "$size" ]; do
  head -c "$i" x.tfrecord.gz >cut.gz
  status=0
  columnstone verify cut.gz >out 2>&1 || status=$?
  [ "$status" -eq 1 ] || { echo "exit status $status at $i"; cat out; }
  i=$((i + 1))
done
echo "all but the whole are refused"
