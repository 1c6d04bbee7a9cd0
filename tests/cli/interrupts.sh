# A signal stops every verb, whose status tells of it, and leaves no part of an output. A reader of
# a pipe that has enough is no failure.
make_examples x.tfrecord 20000
many=$(yes x.tfrecord | head -n 3000)
echo 'feature { name: "id" type: INT }' >id.pbtxt

hit() {
  signal=$1
  shift
  env --default-signal="$signal" columnstone "$@" >out 2>err &
  pid=$!
  sleep 0.15
  kill -"$signal" "$pid"
  status=0
  wait "$pid" || status=$?
  echo "$1 $status" $(cat err)
  rm out err
}

# head is too quick to be hit, unless what it reads from is slow.
mkfifo slow
sleep 60 >slow &
sleeper=$!

# shellcheck disable=SC2086
{
  hit INT head slow
  hit INT count $many
  hit INT verify $many
  hit INT verify --json --threads 2 $many
  hit INT schema infer $many
  hit INT convert $many out.csv
  hit TERM convert $many out.jsonl.gz --threads 2
  hit INT merge $many out.tfrecord
  hit INT cat $many
  hit INT repair $many out.tfrecord
  hit INT split $many out.tfrecord --shards 3
  hit INT sample $many out.tfrecord -n 1000000
  hit INT shuffle $many out.tfrecord
}
kill "$sleeper"
rm slow
ls

(columnstone convert x.tfrecord - --to json || echo "status $?" >&2) | head -n 1 >/dev/null
(columnstone head -n 20000 x.tfrecord || echo "status $?" >&2) | head -n 1 >/dev/null
