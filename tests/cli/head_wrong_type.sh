make_examples x.tfrecord 5 mixed
columnstone head -c id x.tfrecord || echo "exit status $?"
