# An index, its text form, and what cannot be indexed.
make_examples x.tfrecord 4
columnstone index x.tfrecord --text
cat x.tfrecord.idx
mv x.tfrecord.cstidx first
columnstone index x.tfrecord --import x.tfrecord.idx
cmp first x.tfrecord.cstidx
make_examples y.tfrecord.gz 4
columnstone index y.tfrecord.gz || echo "exit status $?"
echo '3 5' >wrong.idx
columnstone index x.tfrecord --import wrong.idx || echo "exit status $?"
columnstone index x.tfrecord y.tfrecord.gz --import x.tfrecord.idx || echo "exit status $?"
columnstone index 'none-*' || echo "exit status $?"

# A link in the place of an index is replaced: what it leads to, here or nowhere, is another's.
for target in kept nowhere; do
  echo kept >kept
  ln -sf "$target" x.tfrecord.cstidx
  ln -sf "$target" x.tfrecord.idx
  columnstone index x.tfrecord --text
  cat kept
  [ ! -e nowhere ] || echo followed
  cmp first x.tfrecord.cstidx
done
