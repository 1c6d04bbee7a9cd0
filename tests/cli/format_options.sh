# Options of formats are those that the library tells: named, refused and shared by their tables.
columnstone head --help | grep -E -- '--(delimiter|keep-blank-lines|skip-lines|sequence-column|no-header)'
columnstone convert --help | grep -E -- '--no-header'
printf '{"a": 1, "b": "x"}\n' >rows.jsonl
printf 'a;b\n1;x\n\n' >rows.csv
columnstone convert rows.jsonl - --to csv -d ';' --no-header
columnstone convert rows.csv - --to json -d ';' --keep-blank-lines
columnstone convert rows.csv - --to csv -d ';'
columnstone head rows.jsonl -d ';' || echo "exit $?"
columnstone convert rows.jsonl - --to csv --skip-lines 1 || echo "exit $?"
columnstone convert rows.csv - --to json --sequence-column s || echo "exit $?"
columnstone head rows.csv --no-header || echo "exit $?"
columnstone head rows.csv -d ab || echo "exit $?"
columnstone head rows.csv --skip-lines x || echo "exit $?"
columnstone head rows.csv --delimitr ';' || echo "exit $?"
columnstone head rows.csv --keep-blank-lines=yes || echo "exit $?"
columnstone head rows.csv -d || echo "exit $?"

echo 'views of other dialects'
printf 'a;b\n1;2\n3;4\n' >semi.csv
printf 'output n = dense(a)\n' >n.cstq
columnstone view build n.cstq --like semi.csv -d ';' -o n.cstv --force | sed 's/digest .*/digest/'
columnstone view check n.cstv semi.csv -d ';' | sed 's/digest .*/digest/'
