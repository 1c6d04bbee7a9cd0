# What a plug-in hands over is not trusted, and its failures keep their kind and the file.
$CC -std=c11 -Wall -Wextra -Werror -shared -fPIC -I"$SOURCE/include" -o columnstone-bad.so \
  "$SOURCE/tests/cli/bad_plugin.c"
export COLUMNSTONE_PLUGIN_PATH="$PWD"
for way in x s i n m d o u l; do
  echo "$way" >"$way.awful"
  columnstone convert "$way.awful" out.jsonl 2>err || echo "$way: exit status $?"
  cat err
done
columnstone convert x.awful out.awful 2>&1 || echo "exit status $?"
make_examples x.tfrecord
columnstone convert x.tfrecord y.parquet.gz 2>&1 || echo "exit status $?"
ls ./*.jsonl 2>/dev/null || echo "no output"
