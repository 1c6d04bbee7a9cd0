make_examples x.tfrecord 5
columnstone convert x.tfrecord x.parquet >out
columnstone head x.tfrecord >want
columnstone head x.parquet >found
cmp want found
columnstone head x.parquet -n 2 --columns tags,id
columnstone schema tree x.parquet
columnstone convert x.parquet y.tfrecord -c id,fare >out
columnstone head y.tfrecord -n 2
columnstone head x.parquet -c nothing || echo "exit status $?"
columnstone convert x.tfrecord - --to parquet || echo "exit status $?"
head -c 100 x.parquet >cut.parquet
columnstone head cut.parquet 2>err || echo "exit status $?"
sed 's/: .*//' err
ls
