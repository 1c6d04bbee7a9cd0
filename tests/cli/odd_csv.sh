# The ending tells the format where the bytes do not: NUL bytes, blank lines, few bytes.
printf 'a,b\n1\0,2\n3,\0\n' >nul.csv
printf '\n\n\n' >blank.csv
printf 'a\0,b\n' >name.csv
printf '{"a":"x\0y"}\n' >nul.jsonl
for file in nul.csv blank.csv name.csv nul.jsonl; do
  columnstone head $file || echo "exit status $?"
done
