make_examples x.tfrecord 3
columnstone schema check || echo "exit status $?"
columnstone schema check missing.pbtxt x.tfrecord || echo "exit status $?"
echo 'feature { name: "id" type: INT }' >schema.pbtxt
columnstone schema check schema.pbtxt missing.tfrecord || echo "exit status $?"
columnstone schema check schema.pbtxt x.tfrecord --group g || echo "exit status $?"
columnstone schema check schema.pbtxt x.tfrecord --environment SERVING || echo "exit status $?"
columnstone schema check schema.pbtxt x.tfrecord --places 0 || echo "exit status $?"
columnstone schema check schema.pbtxt x.tfrecord --format raw || echo "exit status $?"
echo 'feature { name: "id" type: INT domain: "d" }' >bad.pbtxt
columnstone schema check bad.pbtxt x.tfrecord || echo "exit status $?"
