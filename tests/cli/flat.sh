# --flat: values instead of lists of one, in every format; a row that does not fit.
printf '%s\n' '{"id": [1], "name": ["a"], "tags": [1, 2]}' '{"id": [2], "tags": []}' '{"id": [3], "name": ["ö"]}' >in.jsonl
columnstone convert in.jsonl out.tfrecord >/dev/null
columnstone head out.tfrecord --flat
columnstone head out.tfrecord --flat --columns name -n 1
columnstone convert out.tfrecord flat.csv --flat --columns id,name >/dev/null
cat flat.csv
columnstone convert in.jsonl flat.arrow --flat >/dev/null
columnstone head flat.arrow
printf '%s\n' 'feature { name: "tags" type: INT value_count { min: 1 max: 1 } }' >one.pbtxt
columnstone convert out.tfrecord tags.csv --flat --schema one.pbtxt || echo "exit status $?"
columnstone convert out.tfrecord tags.csv --flat --schema one.pbtxt --on-error skip >/dev/null || echo "exit status $?"
