make_examples a.tfrecord 3
make_examples b.tfrecord.gz 3
columnstone verify a.tfrecord
columnstone verify a.tfrecord b.tfrecord.gz --json
