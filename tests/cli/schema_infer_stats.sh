# A schema of saved statistics is that of the data, but for tensors and what their order says.
seq 1 50 | awk '{ print "{\"fare\": " $1 / 4 ", \"n\": [" $1 % 7 ($1 % 2 ? "" : ",7") "], \"pay\": \"" ($1 % 3 ? "Cash" : "Card") "\", \"id\": \"x" $1 "\"" ($1 % 4 ? ", \"tip\": 1" : "") ", \"none\": []}" }' >rows.jsonl
columnstone convert rows.jsonl rows.tfrecord >messages.txt
for name in rows.jsonl rows.tfrecord; do
  columnstone schema infer --propose "$name" | sed '/^tensor_representation_group/,$d;/annotation/,/}/d' >data.pbtxt
  columnstone stats "$name" -o saved.cststats --force
  columnstone schema infer saved.cststats -o stats.pbtxt --force
  diff data.pbtxt stats.pbtxt && columnstone schema check stats.pbtxt "$name"
done
printf '{"s": {"a.b": 1, "t": ["p"]}, "day": null}\n' >nested.jsonl
columnstone stats nested.jsonl -o nested.cststats && columnstone schema infer nested.cststats
columnstone schema infer nested.cststats nested.jsonl || echo $?
