make_examples x.tfrecord 5
columnstone convert x.tfrecord x.jsonl --columns id,fare
cat x.jsonl
columnstone convert x.tfrecord x.jsonl.gz -c id,fare >out
gzip -dc x.jsonl.gz | cmp - x.jsonl
columnstone convert x.tfrecord - --to json -c id,fare | cmp - x.jsonl
ls
