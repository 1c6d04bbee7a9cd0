make_examples x.tfrecord 5
columnstone convert x.tfrecord x.arrow >out
columnstone convert x.tfrecord x.arrows >out
columnstone convert x.tfrecord - --to arrows | cmp - x.arrows
for run in 1 2 3 4 5; do # each has other addresses, which are in no padding
  columnstone convert x.tfrecord - --to arrow | cmp - x.arrow
done
head -c 6 x.arrow; echo
tail -c 6 x.arrow; echo
head -c 4 x.arrows | od -An -tx1
tail -c 8 x.arrows | od -An -tx1
