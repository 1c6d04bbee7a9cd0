try() { columnstone "$@" || echo "exit status $?"; }
try head --colums a x.tfrecord
try head --frobnicate x.tfrecord
try head -x x.tfrecord
try head -n
try head -n ten x.tfrecord
try head --rows=100001 x.tfrecord
try head --columns a,,b x.tfrecord
try count --json=yes x.tfrecord
try count --threads 2 x.tfrecord
try convert x.tfrecord
try convert x.tfrecord y.jsonl --level 1000
try schema spec a.pbtxt b.pbtxt
