# What the records of a pipe are is seen when the first one comes.
printf '{"a":1,"##SEQUENCE##":{"s":[[1],[2,3]]}}\n' | columnstone convert - x.tfrecord --format json >out
columnstone schema infer x.tfrecord >expected
cat x.tfrecord | columnstone schema infer - | cmp - expected
cat x.tfrecord | columnstone convert - - --to json
