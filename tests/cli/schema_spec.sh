cat >schema.pbtxt <<'S'
feature { name: "fare" type: FLOAT shape {} presence { min_fraction: 1 } }
feature { name: "grid" type: INT shape { dim { size: 2 } dim { size: 3 } } presence { min_fraction: 1 } }
feature { name: "tags" type: BYTES }
feature { name: "index" type: INT }
feature { name: "value" type: FLOAT }
feature { name: "tokens" type: INT }
feature { name: "lengths" type: INT }
sparse_feature {
  name: "sparse"
  index_feature { name: "index" }
  value_feature { name: "value" }
}
tensor_representation_group {
  key: ""
  value {
    tensor_representation {
      key: "ragged"
      value { ragged_tensor {
        feature_path { step: "tokens" }
        partition { row_length: "lengths" }
        partition { uniform_row_length: 2 }
      } }
    }
    tensor_representation {
      key: "fare_or_zero"
      value { dense_tensor { column_name: "fare" shape {} default_value { float_value: 0.5 } } }
    }
  }
}
S
columnstone schema spec schema.pbtxt
columnstone schema spec schema.pbtxt --json
columnstone schema spec schema.pbtxt --python
