# Tables of text are read by the schema's types; what they have beside it is unexpected.
cat >schema.pbtxt <<'END'
feature { name: "id" type: INT int_domain { min: 1 } presence { min_fraction: 1 } }
feature { name: "name" type: BYTES string_domain { value: "7" value: "x" } }
feature { name: "share" type: FLOAT float_domain { min: 0 max: 1 disallow_nan: true } }
END
printf 'id,name,share\n1,7,0.5\n0,x,1\nsix,7,2\n4,y,\n' >x.csv
columnstone schema check schema.pbtxt x.csv || echo "exit status $?"
printf 'id,more\n1,2\n' >y.csv
columnstone schema check schema.pbtxt y.csv || echo "exit status $?"
printf '{"id": 1, "name": "7", "more": [1.5]}\n{"name": "x"}\n{"id": 2,\n{"id": "six"}\n' >x.json
columnstone schema check schema.pbtxt x.json || echo "exit status $?"
columnstone convert x.csv x.arrow --to arrow
columnstone schema check schema.pbtxt x.arrow || echo "exit status $?"
