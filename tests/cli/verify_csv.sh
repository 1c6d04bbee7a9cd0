# A CSV file that cannot be read is one fault, though the columns are found over all the files.
printf 'a;b\n1;2\n' >1.csv
printf 'a;b\n1;2;3\n' >2.csv
printf 'a;b\n1;2\n' >3.csv
columnstone verify 1.csv 3.csv -d ';'
columnstone verify 1.csv 2.csv 3.csv -d ';' || echo "exit status $?"
