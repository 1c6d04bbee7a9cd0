# The copy in the tree, which man pages and references are made of, is what the program tells.
columnstone __describe >told.json
if ! cmp -s told.json "$SOURCE/cli/program.json"; then
  echo "cli/program.json is not what the program tells: tools/make_man --renew $BUILD/cli/columnstone"
  diff "$SOURCE/cli/program.json" told.json | head -20
fi
python3 "$SOURCE/tools/make_man" man
python3 "$SOURCE/tools/make_man" --markdown pages
[ "$(python3 "$SOURCE/tools/make_man" --names | sort)" = "$(ls man | sort)" ]
# every page has all sections, and every option of --help
for section in NAME SYNOPSIS DESCRIPTION OPTIONS EXAMPLES 'EXIT STATUS' 'SEE ALSO'; do
  echo "$section: $(grep -lx ".SH $section" man/columnstone-*.1 | wc -l) of $(ls man/columnstone-*.1 | wc -l)"
done
for verb in convert 'stats diff' gc; do
  # shellcheck disable=SC2086
  columnstone $verb --help | grep -o -- '^ \{2,6\}\(-., \)\{0,1\}--[a-z][a-z-]*' | tr -d ' ' | sed 's/.*,//' >options
  name=$(echo "$verb" | tr ' ' -)
  sed 's/\\f[BIR]//g; s/\\//g' "man/columnstone-$name.1" |
    sed -n '/^.SH OPTIONS/,/^.SH EXIT/{/^.TP/{n;s/^\(-., \)\{0,1\}\(--[a-z-]*\).*/\2/p;};}' | cmp - options
  sed -n 's/^| \(`-.`, \)\{0,1\}`\(--[a-z-]*\).*/\2/p' "pages/$name.md" | cmp - options
done
if command -v mandoc >/dev/null; then
  SOURCE_DATE_EPOCH=1796000000 python3 "$SOURCE/tools/make_man" man
  mandoc -T lint man/*.1
fi
if command -v groff >/dev/null; then
  for page in man/*.1; do groff -man -ww -Tutf8 "$page" 2>&1 >/dev/null; done
fi
# help of a verb, with one word or two, and of the first of two words
columnstone help convert >one
columnstone convert --help | cmp - one
columnstone help schema infer >two
columnstone schema infer --help | cmp - two
columnstone help lineage | head -n 1
columnstone help convrt || echo "exit status $?"
# help that is wrapped is never wider than 100 columns
for verb in convert query 'stats diff' 'lineage add'; do
  # shellcheck disable=SC2086
  columnstone $verb --help | awk 'length($0) > 100'
done
