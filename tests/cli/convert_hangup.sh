# A hangup removes the unfinished output, as Ctrl-C does. The pipe is as long as it takes.
make_examples x.tfrecord 20000
echo 'feature { name: "id" type: INT }' >id.pbtxt
mkfifo pipe
env --default-signal=HUP columnstone convert - y.jsonl --schema id.pbtxt <pipe >out &
pid=$!
(while cat x.tfrecord 2>&3; do :; done) >pipe 3>/dev/null &
until [ "$(find . -name '*y.jsonl*')" ]; do :; done
kill -HUP "$pid"
wait "$pid" || echo "exit status $?"
rm pipe
ls
