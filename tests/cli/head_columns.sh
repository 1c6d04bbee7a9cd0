# A name that none of the shown records has is an error, as with a schema.
make_examples x.tfrecord 4
columnstone head x.tfrecord --columns tags,id
columnstone head x.tfrecord -c id,fere || echo "exit status $?"
columnstone head x.tfrecord -c nothing -n 1 || echo "exit status $?"
