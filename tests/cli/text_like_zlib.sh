# Text in Latin-1 that begins with the two bytes of zlib, with control characters: plain if its format is named.
printf 'x^,b\n\351t\351,2\n\033[0m,3\n' >t.csv
columnstone count t.csv 2>err || echo "exit status $?"
grep -o 'name the format' err
columnstone count t.csv --format csv
columnstone count --format csv - <t.csv
