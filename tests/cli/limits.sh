# The hints name options that there are, and these do what they say.
make_examples x.tfrecord 3
columnstone verify x.tfrecord --max-record-size 10 || echo "exit status $?"
columnstone head x.tfrecord -c id --max-record-size 10 || echo "exit status $?"
columnstone count x.tfrecord --max-record-size 100000
columnstone count x.tfrecord --max-record-size 0 || echo "exit status $?"
make_examples y.tfrecord 20000
for i in 1 2 3 4 5 6 7 8 9 10; do cat y.tfrecord y.tfrecord y.tfrecord y.tfrecord; done >z.tfrecord
gzip -1 z.tfrecord
columnstone count z.tfrecord.gz >out
columnstone count z.tfrecord.gz --max-inflation 2 2>err || echo "exit status $?"
sed 's/.*(//' err
