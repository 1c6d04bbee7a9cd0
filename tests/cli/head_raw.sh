make_examples x.tfrecord 2
columnstone head x.tfrecord --format raw
