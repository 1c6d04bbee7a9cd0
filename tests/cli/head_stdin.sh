make_examples x.tfrecord.gz 3
columnstone head - -c id <x.tfrecord.gz
cat x.tfrecord.gz | columnstone head -c id -
