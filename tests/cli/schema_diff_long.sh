# Long texts are cut for people, and whole for programs.
values() { for i in $(seq "$1"); do printf ' value: "v%s \\" value: \\"x"' "$i"; done; }
echo "feature { name: \"a\" type: BYTES string_domain { $(values 3) } }" >a.pbtxt
echo "feature { name: \"a\" type: BYTES domain: \"d\" }
string_domain { name: \"d\" $(values 6) }
string_domain { name: \"e\" $(values 100) }
int_domain { name: \"f\" min: 1 }
annotation { comment: \"$(printf 'ä%.0s' $(seq 300))\" }" >b.pbtxt
columnstone schema diff a.pbtxt b.pbtxt || echo "exit status $?"
columnstone schema diff a.pbtxt b.pbtxt --json | grep -o 'v100' || echo "exit status $?"
columnstone schema diff a.pbtxt b.pbtxt --json | grep -c '\.\.\.\|more values' || echo "exit status $?"
