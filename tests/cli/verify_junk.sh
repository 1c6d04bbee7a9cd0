make_examples x.tfrecord 5 junk
columnstone verify x.tfrecord || echo "exit status $?"
columnstone verify x.tfrecord --format raw
