# tf.SequenceExamples are known by their first record; a schema counts for every format.
printf '{"id": [1], "##SEQUENCE##": {"words": [["a"], ["b", "c"]]}}\n{"id": null, "##SEQUENCE##": {"words": []}}\n' >x.jsonl
printf 'feature { name: "id" type: INT } feature { name: "##SEQUENCE##" type: STRUCT struct_domain { feature { name: "words" type: BYTES } } }' >x.pbtxt
columnstone convert x.jsonl x.tfrecord --to sequence_example --schema x.pbtxt >out
columnstone head x.tfrecord
columnstone head x.tfrecord -n 1 -c '##SEQUENCE##'
columnstone convert x.tfrecord - --to json --schema x.pbtxt | cmp - x.jsonl
columnstone head x.tfrecord -f example
printf 'id,x\n1,2\n' >x.csv
columnstone head x.csv --schema x.pbtxt || echo "exit status $?"
printf 'feature { name: "x" type: FLOAT }' >y.pbtxt
columnstone head x.csv --schema y.pbtxt
columnstone convert - - --to json <x.tfrecord | cmp - x.jsonl
columnstone head - -n 1 <x.tfrecord
