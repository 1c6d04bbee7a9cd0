# A forgotten output makes the last input the output: it must survive.
try() { columnstone convert "$@" >out || echo "exit status $?"; }
make_examples a.tfrecord.gz 3
make_examples b.tfrecord.gz 4
cp b.tfrecord.gz want
try [ab].tfrecord.gz
cmp b.tfrecord.gz want
echo text >x.jsonl
try a.tfrecord.gz x.jsonl
cat x.jsonl
try a.tfrecord.gz x.jsonl --force
wc -l <x.jsonl
try a.tfrecord.gz /dev/null --to json
ls
