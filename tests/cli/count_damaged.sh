make_examples a.tfrecord 3
printf x >>a.tfrecord
columnstone count a.tfrecord
