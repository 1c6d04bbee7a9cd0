make_examples x.tfrecord 3 mixed
columnstone schema infer x.tfrecord || echo "exit status $?"
make_examples x.tfrecord 3
columnstone schema infer x.tfrecord -o nowhere/schema.pbtxt || echo "exit status $?"
