cat >schema.pbtxt <<'S'
feature { name: "fare" type: FLOAT shape {} presence { min_fraction: 1 } }
feature { name: "tags" type: BYTES }
feature { name: "stops" type: STRUCT struct_domain { feature { name: "at" type: INT } } }
tensor_representation_group {
  key: ""
  value {
    tensor_representation {
      key: "trip"
      value { structured_tensor { column_names: "stops" column_names: "fare" } }
    }
  }
}
S
columnstone schema spec schema.pbtxt
columnstone schema spec schema.pbtxt --json
columnstone schema spec schema.pbtxt --python
