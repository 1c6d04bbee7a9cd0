make_examples x.tfrecord 12
columnstone head x.tfrecord
echo ---
columnstone head x.tfrecord -n 1
columnstone head -n1 x.tfrecord
columnstone head --rows=1 -- x.tfrecord
columnstone head -n 0 x.tfrecord
