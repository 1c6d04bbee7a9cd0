cat >a.pbtxt <<'S'
feature { name: "age" type: INT presence { min_fraction: 1 } int_domain { min: 0 max: 99 } }
feature { name: "city" type: BYTES string_domain { value: "oslo" value: "rome" } }
feature { name: "fare" type: FLOAT }
feature { name: "gone" type: INT shape { dim { size: 3 } } presence { min_fraction: 1 } }
S
cat >b.pbtxt <<'S'
feature { name: "age" type: INT presence { min_count: 1 } int_domain { min: 0 max: 120 } }
feature { name: "city" type: BYTES string_domain { value: "rome" value: "lima" } in_environment: "TRAINING" }
feature { name: "fare" type: INT }
feature { name: "new\u001b" type: BYTES }
tensor_representation_group {
  key: "g"
  value { tensor_representation {
    key: "t"
    value { varlen_sparse_tensor { column_name: "fare" } }
  } }
}
S
columnstone schema diff a.pbtxt a.pbtxt
columnstone schema diff a.pbtxt a.pbtxt --json
columnstone schema diff a.pbtxt b.pbtxt || echo "exit status $?"
columnstone schema diff a.pbtxt b.pbtxt --json || echo "exit status $?"
