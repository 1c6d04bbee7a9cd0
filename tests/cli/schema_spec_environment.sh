# The tensors of one environment: the label is not there in serving.
cat >schema.pbtxt <<'TEXT'
default_environment: "TRAINING"
default_environment: "SERVING"
feature { name: "label" type: INT not_in_environment: "SERVING" }
feature { name: "x" type: FLOAT }
TEXT
columnstone schema spec schema.pbtxt
columnstone schema spec schema.pbtxt --environment SERVING
columnstone schema spec schema.pbtxt --environment SERVE || echo "exit status $?"
