echo 'feature { name: "x" type: INT value_count { min: 1 max: 1 } presence { min_fraction: 1 } }' >schema.pbtxt
columnstone schema spec schema.pbtxt
columnstone schema spec schema.pbtxt --legacy
columnstone schema spec schema.pbtxt --group serving || echo "exit status $?"
