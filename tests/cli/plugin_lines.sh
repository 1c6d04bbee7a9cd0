# Plug-ins that are compiled against the installed headers only, outside of the build.
mkdir root && meson install -C "$BUILD" --no-rebuild --quiet --skip-subprojects --tags devel \
  --destdir "$PWD/root" >log 2>&1 || { cat log; exit 3; }
headers=$(dirname "$(dirname "$(find root -name format.h)")")
compile() {
  mkdir "$2" && $CC -std=c11 -Wall -Wextra -Werror -shared -fPIC -I"$headers" \
    -o "$2/columnstone-lines.so" "$SOURCE/examples/$1"
}
compile plugin_lines.c reads
compile plugin_lines_write.c plugins
export COLUMNSTONE_PLUGIN_PATH="$PWD/reads"
printf 'one\ntwo and "more"\n\nthe last' >notes.lines
columnstone head notes.lines -n 2
columnstone head notes.lines --format lines --columns line -n 4
columnstone convert notes.lines copy.lines || echo "exit status $?"
columnstone convert notes.lines - --to json --format lines
columnstone head notes.lines --columns word || echo "exit status $?"
# More rows and bytes than the plug-in takes at once, and no rows at all.
awk 'BEGIN { for (i = 0; i < 10000; i++) printf "%d%0*d\n", i, i % 97, 0 }' >many.lines
awk 'BEGIN { printf "%0300000d\n\n%065536d", 1, 2 }' >long.lines
: >no.lines
for name in many long no; do
  columnstone convert $name.lines $name.csv --format lines -b 1000 >>out
  columnstone count $name.lines --format lines
done
tail -n +2 many.csv | cmp - many.lines
# With a writer.
export COLUMNSTONE_PLUGIN_PATH="$PWD/plugins"
columnstone convert notes.lines copy.lines -b 2 >>out
cat copy.lines
columnstone convert many.lines many.copy.lines >>out && cmp many.lines many.copy.lines
make_examples x.tfrecord
columnstone convert x.tfrecord x.lines || echo "exit status $?"
printf '{"line": "a"}\n{"line": null}\n' >null.jsonl
columnstone convert null.jsonl null.lines || echo "exit status $?"
printf '{"line": "a"}\n{"line": "b\\nc"}\n' >break.jsonl
columnstone convert break.jsonl break.lines || echo "exit status $?"
columnstone convert notes.lines - --to lines || echo "exit status $?"
ls
# Files of plug-ins are read for their rows.
columnstone verify notes.lines || echo "exit status $?"
columnstone schema infer notes.lines
columnstone head - --format lines <notes.lines || echo "exit status $?"
