# Shards of records, and back to one file: nothing is lost and the order is kept.
make_examples x.tfrecord 10
columnstone split x.tfrecord s.tfrecord.gz --shards 4
columnstone count 's-*' | awk '{print $1, $4}'
columnstone merge 's-*' y.tfrecord >out
cmp x.tfrecord y.tfrecord
columnstone cat 's-*' | cmp - x.tfrecord
columnstone split x.tfrecord t --shard-size 1K >out
columnstone cat 't-*' | cmp - x.tfrecord
columnstone split x.tfrecord u || echo "exit status $?"
columnstone split x.tfrecord u --shards 2 --shard-size 5 || echo "exit status $?"
columnstone merge x.tfrecord y.tfrecord || echo "exit status $?"
ls | grep -v '^t-'
columnstone split x.tfrecord u.csv.gz --shards 2 || echo "exit status $?"
columnstone sample x.tfrecord u.parquet -n 2 || echo "exit status $?"
