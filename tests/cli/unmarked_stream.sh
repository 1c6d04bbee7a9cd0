# An Arrow stream may end without its end marker, or it was cut there: read with a warning, a fault to verify.
make_examples x.tfrecord 3
columnstone convert x.tfrecord whole.arrows >out
head -c -8 whole.arrows >cut.arrows
columnstone count whole.arrows cut.arrows
columnstone convert cut.arrows back.jsonl >out
columnstone head cut.arrows -n 1 -c id
columnstone verify whole.arrows cut.arrows || echo "exit status $?"
for accumulator in counts inference; do
  columnstone accumulate $accumulator cut.arrows >out
done
columnstone schema infer cut.arrows >out
