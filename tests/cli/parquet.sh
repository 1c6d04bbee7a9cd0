make_examples x.tfrecord 5
columnstone convert x.tfrecord x.parquet >out
columnstone head x.tfrecord >want
columnstone head x.parquet >found
cmp want found
columnstone head x.parquet -n 2 --columns tags,id
columnstone schema tree x.parquet
echo '{"id": 1, "event": [{"query": "shoes"}, {}]}' >log.jsonl
columnstone convert log.jsonl log.parquet >out
columnstone head log.parquet --path event.query
columnstone head log.parquet -c event.query || echo "exit status $?"
for file in x log; do
  columnstone info $file.parquet | sed -n 's/^next: //p' >commands
  cat commands
  while read -r command; do
    $command >out
  done <commands
done
rm commands schema.pbtxt
printf '{}\n{}\n' >none.jsonl
columnstone convert none.jsonl none.parquet || echo "exit status $?"
rm none.jsonl
columnstone convert x.parquet y.tfrecord -c id,fare >out
columnstone head y.tfrecord -n 2
columnstone head x.parquet -c nothing || echo "exit status $?"
columnstone convert x.tfrecord - --to parquet || echo "exit status $?"
head -c 100 x.parquet >cut.parquet
columnstone head cut.parquet 2>err || echo "exit status $?"
sed 's/: .*//' err
ls
# Of nested columns a query reads what it looks at: damage in the other fields does not matter.
seq 5000 | awk '{ print "{\"event\": [{\"query\": \"q\", \"price\": " $1 * 7919 % 5003 / 7 "}]}" }' >many.jsonl
columnstone convert many.jsonl many.parquet >out
half=$(($(wc -c <many.parquet) / 2))
{ head -c $half many.parquet; printf '\000\001\002\003'; tail -c +$((half + 5)) many.parquet; } >hurt.parquet
echo 'from table rows event output q = query output at = record_index()' >queries.cstq
echo 'from table rows event output p = price' >prices.cstq
columnstone query queries.cstq hurt.parquet - --to json | tail -n 1
columnstone query prices.cstq hurt.parquet - --to json 2>err || echo "exit status $?"
sed 's/: .*//' err
rm many.jsonl many.parquet hurt.parquet queries.cstq prices.cstq
# What the system refuses, at one thread and with Arrow's own, leaves no file.
make_examples many.tfrecord 2000 clicks
for threads in 1 2; do
  (ulimit -f 8 && columnstone convert many.tfrecord full.parquet -j $threads) || echo "exit status $?"
done
(ulimit -v 450000 && columnstone convert many.tfrecord full.parquet -j 2) || echo "exit status $?"
ls
