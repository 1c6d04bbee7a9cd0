# An index, its text form, and what cannot be indexed.
make_examples x.tfrecord 4
columnstone index x.tfrecord --text
cat x.tfrecord.idx
mv x.tfrecord.cstidx first
columnstone index x.tfrecord --import x.tfrecord.idx
cmp first x.tfrecord.cstidx
make_examples y.tfrecord.gz 4
columnstone index y.tfrecord.gz || echo "exit status $?"
echo '3 5' >wrong.idx
columnstone index x.tfrecord --import wrong.idx || echo "exit status $?"
columnstone index x.tfrecord y.tfrecord.gz --import x.tfrecord.idx || echo "exit status $?"
columnstone index 'none-*' || echo "exit status $?"
