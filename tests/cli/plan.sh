# Splits: of plain files, by their indexes, of compressed ones, and of other formats.
make_examples x.tfrecord 40
make_examples y.tfrecord.gz 40
make_examples z.tfrecord 4
columnstone plan x.tfrecord y.tfrecord.gz z.tfrecord --target 1K
columnstone index x.tfrecord >index
columnstone plan x.tfrecord --target 2K --json
printf 'a,b\n1,2\n3,4\n' >x.csv
columnstone plan ./*.csv --target 1
columnstone plan x.csv --container lines --target 4 --json | grep -c begin
columnstone plan z.tfrecord --target 64MiB
columnstone plan 'none-*' || echo "exit status $?"
columnstone plan - <z.tfrecord || echo "exit status $?"
columnstone plan z.tfrecord --target 0 || echo "exit status $?"
columnstone plan z.tfrecord --target 64iB || echo "exit status $?"
columnstone plan z.tfrecord --target 1 --format exmple || echo "exit status $?"
