# Plug-ins that cannot be used.
make_examples x.tfrecord
export COLUMNSTONE_PLUGIN_PATH="$PWD/nowhere:$PWD"
compile() { $CC -shared -fPIC -I"$SOURCE/include" -o "columnstone-$1.so" "$2"; }
echo 'no shared object' >columnstone-text.so
columnstone convert x.tfrecord x.text 2>err || echo "exit status $?"
grep -c 'x.text\|columnstone-text.so' err
echo 'int nothing;' >empty.c && compile empty empty.c
cat >old.c <<'C'
#include <columnstone/format.h>
const cst_plugin_format *cst_plugin(uint32_t version) { (void)version; return 0; }
C
compile old old.c
compile other "$SOURCE/examples/plugin_lines.c"
for name in empty old other; do
  columnstone convert x.tfrecord "x.$name" 2>err || echo "exit status $?"
  sed "s|$PWD/||" err
done
columnstone convert x.tfrecord x.y --to ../old || echo "exit status $?"
