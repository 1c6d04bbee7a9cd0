# A plug-in that is compiled against the installed headers only, outside of the build.
mkdir root && meson install -C "$BUILD" --no-rebuild --quiet --skip-subprojects --tags devel \
  --destdir "$PWD/root" >log 2>&1 || { cat log; exit 3; }
headers=$(dirname "$(dirname "$(find root -name format.h)")")
mkdir plugins
$CC -std=c11 -Wall -Wextra -Werror -shared -fPIC -I"$headers" \
  -o plugins/columnstone-lines.so "$SOURCE/examples/plugin_lines.c"
export COLUMNSTONE_PLUGIN_PATH="$PWD/plugins"
printf 'one\ntwo and "more"\n\nthe last' >notes.lines
columnstone head notes.lines -n 2
columnstone head notes.lines --format lines --columns line -n 4
columnstone convert notes.lines copy.lines -b 2 >out
cat copy.lines
columnstone convert notes.lines - --to json --format lines
columnstone head notes.lines --columns word || echo "exit status $?"
make_examples x.tfrecord
columnstone convert x.tfrecord x.lines || echo "exit status $?"
columnstone convert notes.lines - --to lines || echo "exit status $?"
ls
# Files of plug-ins are read for their rows.
columnstone verify notes.lines || echo "exit status $?"
columnstone schema infer notes.lines
columnstone head - --format lines <notes.lines || echo "exit status $?"
