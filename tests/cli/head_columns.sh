make_examples x.tfrecord 4
columnstone head x.tfrecord --columns tags,id
columnstone head x.tfrecord -c id,nothing
