# The rows are the same for every batch size and number of threads, over several files.
make_examples a.tfrecord 100
make_examples b.tfrecord.gz 33
columnstone convert a.tfrecord b.tfrecord.gz want.jsonl >out
for arguments in '-b 1' '-b 7 -j 3' '-b 1000 -j 1' '--batch-size=64 --threads 2'; do
  # shellcheck disable=SC2086
  columnstone convert a.tfrecord b.tfrecord.gz found.jsonl --force $arguments >out
  cmp want.jsonl found.jsonl
done
wc -l <want.jsonl
