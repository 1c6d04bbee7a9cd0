# The name does not matter: plain bytes called .gz, and gzip that is not.
make_examples x.tfrecord 2
cp x.tfrecord x.tfrecord.gz
make_examples y.tfrecord.gz 2
mv y.tfrecord.gz y.tfrecord
columnstone head -c id x.tfrecord.gz y.tfrecord
columnstone verify x.tfrecord.gz y.tfrecord
