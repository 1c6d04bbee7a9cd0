# Examples to Examples: what is read back is what was written, in every compression.
make_examples x.tfrecord 7
columnstone head x.tfrecord >want
for name in y.tfrecord y.tfrecord.gz y.tfrecord.zst y.tfrecord.zz y-00000-of-00001.tfrecord; do
  columnstone convert x.tfrecord "$name" >out
  columnstone verify "$name" >out
  columnstone head "$name" >found
  cmp want found
done
columnstone convert x.tfrecord - --to example -f example | cmp - y.tfrecord
cat x.tfrecord | columnstone convert - z.tfrecord >out
cmp y.tfrecord z.tfrecord
