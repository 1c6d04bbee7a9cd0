make_examples a.tfrecord 2
make_examples b.tfrecord.gz 2
make_examples c.tfrecord.zst 2
make_examples d.tfrecord.zz 2
: >empty.tfrecord
columnstone head -c id a.tfrecord empty.tfrecord b.tfrecord.gz c.tfrecord.zst d.tfrecord.zz -n 7
echo ---
columnstone head -c id '[ab].tfrecord*' -n 3
echo --- # tables may have other columns
printf 'a\n1\n' >1.csv
printf 'b,a\n2,x\n3,y\n' >2.csv
columnstone head 1.csv 2.csv -n 2
