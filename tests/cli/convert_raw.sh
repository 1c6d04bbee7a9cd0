# The records as they are, to another compression and back.
make_examples x.tfrecord 5
columnstone convert x.tfrecord y.tfrecord.gz --format raw >out
columnstone convert y.tfrecord.gz z.tfrecord --format raw >out
cmp x.tfrecord z.tfrecord
columnstone convert x.tfrecord - --format raw --to raw | cmp - x.tfrecord
columnstone convert x.tfrecord - --format example --to raw || echo "exit status $?"
