# What files are, from a look at their beginning.
make_examples cells.tfrecord 6
make_examples clicks.tfrecord.gz 1200 clicks
columnstone info cells.tfrecord clicks.tfrecord.gz | sed 's/gzip, [0-9.]* kB/gzip, SIZE/'
columnstone convert cells.tfrecord cells.arrow --columns id,tags
columnstone info cells.arrow
printf 'id,name\n1,x\n2,\n' >people.csv
printf '{"a": [1, 2], "s": {"t": "%0100d"}}\n' 7 >nested.jsonl
columnstone info people.csv nested.jsonl
echo '{"user": ["ann"], "##SEQUENCE##": {"movie": [[7], [9, 4]]}}' >watched.jsonl
columnstone convert watched.jsonl watched.tfrecord >none
columnstone info watched.tfrecord
columnstone info --json people.csv cells.tfrecord
columnstone info 'watched.[t]frecord' cells.tfrecord --format raw

# Larger than the look: an estimate, and exact with an index.
make_examples big.tfrecord 45000 clicks
columnstone info big.tfrecord | head -n 2
columnstone index big.tfrecord
columnstone info big.tfrecord | head -n 2

# What it cannot read, it names.
columnstone schema infer cells.tfrecord -o schema.pbtxt
printf 'PK\003\004zip' >archive
: >nothing
cp cells.tfrecord 'it is.tfrecord'
printf '\377' | dd of='it is.tfrecord' bs=1 seek=150 conv=notrunc status=none
columnstone info schema.pbtxt nothing
columnstone info archive || echo "exit status $?"
columnstone info 'it is.tfrecord' || echo "exit status $?"
columnstone info none.tfrecord || echo "exit status $?"
columnstone info - || echo "exit status $?"

# Data in place of a schema; equal schemas.
for file in cells.tfrecord people.csv nested.jsonl cells.arrow; do
  columnstone schema spec $file || echo "exit status $?"
done
columnstone schema diff schema.pbtxt schema.pbtxt
