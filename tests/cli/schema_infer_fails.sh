make_examples x.tfrecord 3 mixed
columnstone schema infer x.tfrecord || echo "exit status $?"
make_examples x.tfrecord 3
columnstone schema infer x.tfrecord -o nowhere/schema.pbtxt || echo "exit status $?"

# A file that is there stays, and a link that leads nowhere is not followed.
make_examples x.tfrecord 2
echo kept >kept.pbtxt
ln -s nowhere.pbtxt link.pbtxt
for output in kept.pbtxt link.pbtxt; do
  columnstone schema infer x.tfrecord -o "$output" || echo "exit status $?"
done
cat kept.pbtxt
[ ! -e nowhere.pbtxt ] || echo followed
columnstone schema infer x.tfrecord -o kept.pbtxt --force
