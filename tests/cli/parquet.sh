make_examples x.tfrecord 5
columnstone convert x.tfrecord x.parquet >out
columnstone head x.tfrecord >want
columnstone head x.parquet >found
cmp want found
columnstone head x.parquet -n 2 --columns tags,id
columnstone schema tree x.parquet
echo '{"id": 1, "event": [{"query": "shoes"}, {}]}' >log.jsonl
columnstone convert log.jsonl log.parquet >out
columnstone head log.parquet --path event.query
columnstone convert x.parquet y.tfrecord -c id,fare >out
columnstone head y.tfrecord -n 2
columnstone head x.parquet -c nothing || echo "exit status $?"
columnstone convert x.tfrecord - --to parquet || echo "exit status $?"
head -c 100 x.parquet >cut.parquet
columnstone head cut.parquet 2>err || echo "exit status $?"
sed 's/: .*//' err
ls
