# Names are looked up, not compared one by one: with 30,000 of them every verb is done in a fraction
# of a second of CPU time; to compare all with all takes seconds.
awk 'BEGIN {
  printf "{"
  for (i = 0; i < 30000; i++) printf "%s\"f%d\": %d", i ? ", " : "", (i * 7919) % 30000, i
  print "}"
}' > wide.jsonl
ulimit -t 2
columnstone schema infer wide.jsonl > schema.pbtxt
columnstone convert wide.jsonl wide.tfrecord
columnstone verify wide.tfrecord
columnstone schema infer wide.tfrecord > records.pbtxt
columnstone schema check records.pbtxt wide.tfrecord
columnstone schema spec records.pbtxt | wc -l
columnstone schema diff records.pbtxt records.pbtxt
columnstone head wide.tfrecord | wc -c
for to in arrow csv jsonl; do
  columnstone convert wide.tfrecord "again.$to" --schema records.pbtxt
done
columnstone convert wide.tfrecord x.arrow --schema records.pbtxt --columns f29x99 || echo "status $?"
columns=$(awk 'BEGIN { for (i = 0; i < 15000; i++) printf "%sf%d", i ? "," : "", i }')
columnstone head wide.tfrecord --columns "$columns" | wc -c
columnstone convert wide.tfrecord some.arrow --columns "$columns"

# Verbs that look at records as bytes do not know how many names there are.
columnstone info wide.tfrecord | tail -n 4
columnstone count wide.tfrecord
columnstone cat wide.tfrecord wide.tfrecord | wc -c
columnstone merge wide.tfrecord wide.tfrecord both.tfrecord
columnstone index both.tfrecord
columnstone split both.tfrecord part.tfrecord --shards 2
columnstone sample both.tfrecord one.tfrecord -n 1 --seed 1
columnstone shuffle both.tfrecord mixed.tfrecord --seed 1
columnstone repair both.tfrecord sound.tfrecord
