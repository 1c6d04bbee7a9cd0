for verb in head count verify 'schema infer' 'schema spec'; do
  # shellcheck disable=SC2086
  columnstone $verb nowhere.tfrecord || echo "exit status $?"
done
columnstone convert nowhere.tfrecord x.jsonl || echo "exit status $?"
columnstone count '*.tfrecord' || echo "exit status $?"
columnstone head . || echo "exit status $?"
make_examples x.tfrecord
columnstone head x.tfrecord --schema nowhere.pbtxt || echo "exit status $?"
