# Who reads artifacts holds a lease, which garbage collection heeds, until it ends.
export COLUMNSTONE_LINEAGE=lineage.db
tame() { sed "s|$PWD|FOLDER|g; s/20[0-9][0-9]-[0-9-]*[ T][0-9:]*Z*/TIME/g; s/ *[0-9]* s  [^ ]*:[0-9]*: /  LEFT  HOLDER: /; s/lease of [^ ]*/lease of HOLDER/"; }
columnstone lineage init lineage.db >out
make_examples big.tfrecord 3000 clicks
columnstone lineage add examples big.tfrecord --name big >out
make_examples small.tfrecord 2
columnstone lineage add examples small.tfrecord --name big >out

echo 'while it reads'
columnstone cat lineage:big@1 | { # more than a pipe holds
  head -c 1 >first
  columnstone lineage lease | tame
  columnstone gc --keep 1 | tame
  cat >rest
}
echo 'afterwards'
columnstone lineage lease
columnstone gc --keep 1 --dry-run | tame

echo 'one that is killed'
mkfifo pipe
columnstone cat lineage:big@1 >pipe &
exec 3<pipe
head -c 1 <&3 >first
kill -9 $!
wait $! 2>/dev/null || true
exec 3<&-
columnstone lineage lease | tame
columnstone gc --keep 1 | tail -n 1
ls big.tfrecord

echo 'what goes meanwhile'
columnstone lineage add examples small.tfrecord --name other >out
columnstone lineage add examples small.tfrecord --name other >out
columnstone gc --keep 1 --type examples >out
columnstone head lineage:other@1 || echo "exit status $?"
columnstone head lineage:other@2 -n 1 -c id
