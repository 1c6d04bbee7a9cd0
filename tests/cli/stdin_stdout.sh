# Every verb reads standard input; an output that takes nothing is exit status 2.
make_examples x.tfrecord.gz 5
columnstone count - <x.tfrecord.gz
cat x.tfrecord.gz | columnstone verify -
cat x.tfrecord.gz | columnstone schema infer - | head -n 3
cat x.tfrecord.gz | columnstone convert - - --to json -c id -n 2>&1 || echo "exit status $?"
cat x.tfrecord.gz | columnstone convert - - --to json -c id
columnstone head x.tfrecord.gz >/dev/full || echo "exit status $?"
columnstone count x.tfrecord.gz >/dev/full || echo "exit status $?"
columnstone convert x.tfrecord.gz - --to arrows >/dev/full || echo "exit status $?"
