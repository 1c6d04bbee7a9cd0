make_examples x.tfrecord 4
cat >schema.pbtxt <<'S'
feature { name: "fare" type: FLOAT }
feature { name: "id" type: INT }
S
columnstone head x.tfrecord --schema schema.pbtxt
columnstone head x.tfrecord --schema schema.pbtxt --columns idd || echo "exit status $?"
