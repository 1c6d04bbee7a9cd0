# A mistyped name of anything: the error has the nearest one.
try() { columnstone "$@" >out || echo "exit status $?" >&2; }
printf 'fare,miles,company\n3.5,1.25,Blue\n' >trips.csv
columnstone convert trips.csv trips.tfrecord --lossy >out
columnstone convert trips.csv trips.arrow >out
columnstone convert trips.csv trips.avro >out
columnstone stats trips.csv -o a.cststats >out
# verbs
try convrt trips.csv x.arrow
try schema inferr trips.csv
try stats dif a.cststats a.cststats
try stats dif
try lineage sho
# options and their values
try head trips.csv --raws 3
try head trips.csv --delimeter ';'
try head trips.csv --format-option delimter=x
try head trips.csv --format cvs
try head trips.csv --container tfrecrd
try convert trips.csv - --to parket
try convert trips.csv y.arrow --on-error skp
try stats diff a.cststats a.cststats --kind drft
try stats diff a.cststats a.cststats --threshold psy=1
try accumulate statistcs trips.csv
try accumulate lengths trips.csv -O column=a
# files and columns
try head trips.cvs
for file in trips.csv trips.tfrecord trips.arrow trips.avro; do try head $file -c fair; done
try stats trips.csv -c fair
try stats trips.tfrecord --by compny
try stats trips.csv --weight fair
try stats diff trips.csv trips.csv -c mile
try accumulate lengths trips.csv -O columns=mile
# no name is near: none is named
try stats trips.csv -c nothing_like_it
try frobnicate
# a file may be called as a verb nearly is
cp trips.csv dif
columnstone stats dif --format csv | head -n 1
