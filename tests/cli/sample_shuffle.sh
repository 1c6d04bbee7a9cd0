# The same seed gives the same records; a shuffled file has all of them.
make_examples x.tfrecord 50
columnstone sample x.tfrecord a.tfrecord -n 5 --seed 7 >out
columnstone sample x.tfrecord b.tfrecord -n 5 --seed 7 >out
columnstone sample x.tfrecord c.tfrecord -n 5 --seed 8 >out
cmp a.tfrecord b.tfrecord
cmp -s a.tfrecord c.tfrecord || echo 'another seed, other records'
columnstone count a.tfrecord | awk 'NR == 2 {print $1}'
columnstone shuffle x.tfrecord d.tfrecord >out
columnstone head x.tfrecord -n 50 -c id | sort >sorted
columnstone head d.tfrecord -n 50 -c id | sort | cmp - sorted
cmp -s x.tfrecord d.tfrecord || echo 'another order'
columnstone sample x.tfrecord all.tfrecord -n 1000 >out
cmp x.tfrecord all.tfrecord
make_examples y.tfrecord.gz 5
columnstone shuffle y.tfrecord.gz z.tfrecord || echo "exit status $?"
