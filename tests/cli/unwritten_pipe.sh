# A pipe that nobody writes to: whoever waits for it is stopped by a signal, whichever thread waits.
# info, which would read a pipe more than once, leaves it alone.
make_examples x.tfrecord 3
mkfifo pipe
for verb in cat "verify --threads 2" "merge --threads 1" "merge --threads 2"; do
  output=
  case $verb in merge*) output=out.tfrecord ;; esac
  # shellcheck disable=SC2086
  env --default-signal=TERM timeout --preserve-status -k 10 0.2 columnstone $verb pipe $output || echo "$verb: exit status $?"
done
columnstone info x.tfrecord pipe || echo "info: exit status $?"
cat x.tfrecord >pipe &
columnstone verify --threads 2 pipe
wait
: >pipe &
columnstone count pipe | tail -n 1
wait
rm pipe
ls
