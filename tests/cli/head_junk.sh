make_examples x.tfrecord 5 junk
columnstone head x.tfrecord -c id || echo "exit status $?"
