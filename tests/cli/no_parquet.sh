# Without the plug-in the message says how to get it. The program is moved away from the build.
cp "$(command -v columnstone)" program
export COLUMNSTONE_PLUGIN_PATH=none # there may be an installed one
make_examples x.tfrecord
./program convert x.tfrecord x.parquet || echo "exit status $?"
printf 'PAR1\025\004\025 and more than sixteen bytes' >y.parquet
./program head y.parquet || echo "exit status $?"
ls
