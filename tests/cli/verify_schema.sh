make_examples x.tfrecord 5 mixed
echo 'feature { name: "id" type: INT }' >schema.pbtxt
columnstone verify x.tfrecord
columnstone verify x.tfrecord --schema schema.pbtxt
