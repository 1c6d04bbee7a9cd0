# Options of formats are for looking into the file, not for finding it.
printf 'a;b\n1;2\n' >s.csv
columnstone info s.csv -d ';'
columnstone convert s.csv s.tfrecord -d ';'
columnstone info s.tfrecord -f sequence_example --sequence-column q --json || echo "exit status $?"
# A pipe that has a name.
mkfifo pipe
cat s.tfrecord >pipe &
columnstone convert pipe - --to json
