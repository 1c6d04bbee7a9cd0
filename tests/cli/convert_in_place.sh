make_examples x.tfrecord 3
columnstone convert x.tfrecord x.tfrecord --force >out
columnstone head -c id x.tfrecord
