make_examples x.tfrecord 5
columnstone convert x.tfrecord x.arrow >out
columnstone convert x.tfrecord x.arrows >out
columnstone convert x.tfrecord - --to arrows | cmp - x.arrows
columnstone convert x.tfrecord - --to arrow | cmp - x.arrow
head -c 6 x.arrow; echo
tail -c 6 x.arrow; echo
head -c 4 x.arrows | od -An -tx1
tail -c 8 x.arrows | od -An -tx1
