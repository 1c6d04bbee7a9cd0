# Every verb that writes a file, on a full disk: the older file stays, nothing else is left, and the
# error names it.
make_examples x.tfrecord 3000
yes 'a,b' | head -n 3000 >x.csv
{
  echo 'from table [{a: int64}]'
  seq 300 | sed 's/.*/output column_& = dense(a + &)/'
} >q.cstq
seq 300 | awk 'BEGIN { printf "{" } { printf "%s\"column_%d\": 1", (NR > 1 ? ", " : ""), $1 } END { print "}" }' >wide.jsonl
ls >before

fails() {
  output=$1
  shift
  echo older >"$output"
  (
    ulimit -f 1
    columnstone "$@"
  ) && echo "$*: no failure"
  [ "$(cat "$output")" = older ] || echo "$*: the older file is gone"
  rm "$output"
  ls | diff before -
}

fails out.csv convert --force x.csv out.csv
fails out.jsonl.gz convert --force x.tfrecord out.jsonl.gz --threads 2
fails out.arrow convert --force x.csv out.arrow
fails out.tfrecord merge --force x.tfrecord x.tfrecord out.tfrecord
fails out.tfrecord repair --force x.tfrecord out.tfrecord
fails out.tfrecord shuffle --force x.tfrecord out.tfrecord
fails out.tfrecord sample --force -n 2000 x.tfrecord out.tfrecord
fails x.tfrecord.cstidx index x.tfrecord
fails out.pbtxt schema infer --force wide.jsonl -o out.pbtxt
fails out.cstv view build --force q.cstq -o out.cstv
rm before
