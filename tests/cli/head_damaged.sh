# What is good in front of the fault is printed; a fault further on does not matter.
make_examples x.tfrecord 5
size=$(wc -c <x.tfrecord)
head -c $((size - 1)) x.tfrecord >cut.tfrecord
columnstone head cut.tfrecord -c id -n 4
columnstone head cut.tfrecord -c id || echo "exit status $?"
columnstone head cut.tfrecord -c record -f raw >raw.jsonl || echo "exit status $?"
wc -l <raw.jsonl
