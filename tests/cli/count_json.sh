make_examples a.tfrecord 3
printf x >>a.tfrecord
make_examples b.tfrecord 4
columnstone count b.tfrecord b.tfrecord --json
columnstone count b.tfrecord a.tfrecord --json
