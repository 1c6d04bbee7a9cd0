# Every kind of output of a check: fine, anomalies with their places, JSON, damage.
make_examples x.tfrecord 10
make_examples y.tfrecord.gz 3
columnstone schema infer x.tfrecord y.tfrecord.gz -o inferred.pbtxt
columnstone schema check inferred.pbtxt x.tfrecord y.tfrecord.gz
cat >schema.pbtxt <<'END'
feature { name: "id" type: INT int_domain { min: 2 max: 7 } }
feature { name: "tags" type: BYTES string_domain { value: "red" } value_count { min: 1 max: 1 } }
feature { name: "fares" type: FLOAT presence { min_count: 1 } }
feature { name: "limits" type: INT }
feature { name: "blob" type: INT }
tensor_representation_group {
  key: "model"
  value {
    tensor_representation {
      key: "limits" value { dense_tensor { column_name: "limits" shape { dim { size: 4 } } } }
    }
  }
}
END
columnstone schema check schema.pbtxt x.tfrecord --no-tensors --ignore-unexpected || echo "exit status $?"
columnstone schema check schema.pbtxt x.tfrecord y.tfrecord.gz --group model --places 3 || echo "exit status $?"
columnstone schema check schema.pbtxt y.tfrecord.gz -g model --json || echo "exit status $?"
columnstone schema check schema.pbtxt x.tfrecord -g model -j 3 >3.txt || true
columnstone schema check schema.pbtxt x.tfrecord -g model -j 1 | cmp - 3.txt
make_examples j.tfrecord 5 junk
columnstone schema check inferred.pbtxt j.tfrecord || echo "exit status $?"
columnstone schema check inferred.pbtxt - <x.tfrecord
