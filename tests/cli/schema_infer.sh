make_examples x.tfrecord 10
columnstone schema infer x.tfrecord
columnstone schema infer x.tfrecord -o schema.pbtxt
columnstone schema infer x.tfrecord | cmp - schema.pbtxt
columnstone schema infer x.tfrecord --json -o other.pbtxt
cmp schema.pbtxt other.pbtxt
ls
printf '1;a|b\n2;c\n' | columnstone schema infer - --format csv -d ';' --names id,tags --multivalent tags --json
