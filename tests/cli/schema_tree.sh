# Every format, nested or not, with shapes; the same as JSON, in ASCII, and of some columns.
cat >log.jsonl <<'J'
{"id": 1, "event": [{"query": "shoes", "price": [9.5, 12.25]}], "shop": {"city": {"name": "Bern"}}}
{"id": 2, "event": []}
J
columnstone schema tree log.jsonl
columnstone schema tree log.jsonl --json
columnstone schema tree log.jsonl --ascii --columns shop,event
for ending in arrow arrows; do
  columnstone convert log.jsonl log.$ending >out
  columnstone schema tree log.$ending >tree
  columnstone schema tree log.jsonl | cmp - tree
done

# A feature that all records have so many values of has a shape.
make_examples x.tfrecord 20
columnstone schema tree x.tfrecord
columnstone schema tree - --flat --columns id,limits <x.tfrecord
echo '{"user": ["ann"], "##SEQUENCE##": {"movie": [[7], [9, 4]]}}' >watched.jsonl
columnstone convert watched.jsonl watched.tfrecord >out
columnstone schema tree watched.tfrecord
columnstone schema tree watched.tfrecord --format raw

printf 'a,tags\n1,x|y\n' >t.csv
columnstone schema tree t.csv
columnstone schema tree t.csv --multivalent tags

# Names are text for a terminal, and JSON.
printf '{"a\\u001b[2J": 1, "\\u00e9t\\u00e9": 2, "": 3}\n' >odd.jsonl
columnstone schema tree odd.jsonl
columnstone schema tree odd.jsonl --json

# Into a pipe all fields are written.
awk 'BEGIN { for (i = 0; i < 300; i++) printf "%sf%d", i ? "," : "", i; print ""; for (i = 0; i < 300; i++) printf "%s1", i ? "," : ""; print "" }' >wide.csv
columnstone schema tree wide.csv | wc -l | tr -d ' '
