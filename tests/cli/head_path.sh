# What lies below a path, of every format; rows that are null and rows that are empty stay apart.
cat >log.jsonl <<'J'
{"id": 1, "event": [{"query": "shoes", "price": [9.5, 12.25]}, null, {"price": []}], "shop": {"city.name": "Bern", "city": {"name": "Basel"}}}
{"id": 2, "event": []}
{"id": 3, "event": null, "shop": {"city": null}}
J
columnstone head log.jsonl --path event.query
columnstone head log.jsonl --path event.price --path id -n 1
columnstone head log.jsonl -p shop.city.name -p shop.city
for ending in arrow jsonl.gz; do
  columnstone convert log.jsonl again.$ending >out
  columnstone head again.$ending --path event.price >found
  columnstone head log.jsonl --path event.price | cmp - found
done
columnstone head - --format json --path event.query -n 1 <log.jsonl

# --columns that lie below others come in their lists and structs, as of messages
for file in log.jsonl again.arrow; do
  columnstone head $file -c event.query,id,event.price
  columnstone head $file -c shop.city.name,shop.city -n 1
done
columnstone head - --format json -c event.query <log.jsonl || echo "exit status $?"
columnstone head log.jsonl -c event.qery || echo "exit status $?"

columnstone head log.jsonl again.arrow --path id -n 5

make_examples x.tfrecord 4
columnstone head x.tfrecord --path tags
columnstone head - --path tags -n 1 <x.tfrecord
echo '{"user": ["ann"], "##SEQUENCE##": {"movie": [[7], [9, 4]]}}' >watched.jsonl
columnstone convert watched.jsonl watched.tfrecord >out
columnstone head watched.tfrecord --format sequence_example --path '##SEQUENCE##.movie'
printf 'a,b.c\n1,x\n' >t.csv
columnstone head t.csv --path b.c

# Columns that the paths do not need are not looked at: these records are of two types of id.
make_examples mixed.tfrecord 4 mixed
columnstone head mixed.tfrecord || echo "exit status $?"
printf 'feature { name: "id" type: INT }\nfeature { name: "tags" type: BYTES }\n' >schema.pbtxt
columnstone head mixed.tfrecord --schema schema.pbtxt --path tags

columnstone head log.jsonl --path event.qery || echo "exit status $?"
columnstone head log.jsonl --path evnt.query || echo "exit status $?"
columnstone head log.jsonl --path id.x || echo "exit status $?"
columnstone head x.tfrecord --path nothing || echo "exit status $?"
columnstone head log.jsonl --path id --path id || echo "exit status $?"
columnstone head log.jsonl --path '' || echo "exit status $?"
columnstone head log.jsonl --path id --columns id || echo "exit status $?"
