make_examples a.tfrecord 3
make_examples b.tfrecord 4
: >c.tfrecord
columnstone count a.tfrecord
columnstone count a.tfrecord b.tfrecord c.tfrecord
