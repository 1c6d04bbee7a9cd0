# Tables of text whose first bytes are those of another format, or of a compression.
for header in 'H,Größe' 'HK,中国' '80,Zürich' 'PAR1,b' 'FEA1,b' 'ARROW1,b'; do
  printf '%s\n1,2\n' "$header" >table.csv
  columnstone head --format csv table.csv
  columnstone head <table.csv --format csv - # cannot be read twice
  columnstone head table.csv >/dev/null      # by the bytes, then the ending
done
