# Garbage: what would go, what goes, what stays and why.
export COLUMNSTONE_LINEAGE=lineage.db
top=$PWD
tame() { sed "s|$top|TOP|g; s/20[0-9][0-9]-[0-9-]*[ T][0-9:]*Z*/TIME/g; s/[0-9.]* k\{0,1\}B/SIZE/g; s/[0-9]* s  reader/LEFT  reader/"; }
mkdir outside store
make_examples outside/out.tfrecord 1
cd store
columnstone lineage init lineage.db --json | tame
columnstone lineage ls roots | tame
mkdir data
for span in 1 2 3 4 5; do
  make_examples data/$span.tfrecord 2
  columnstone lineage add examples data/$span.tfrecord --name sessions --span $span >out
done
echo weights >model
columnstone lineage add model model --name ranker --from sessions@2 --by train >out
for version in 1 2; do
  make_examples data/far-$version.tfrecord 1
  columnstone lineage add examples ../outside/out.tfrecord --name others >out
  columnstone lineage add examples data/far-$version.tfrecord --name far --external >out
done
make_examples data/shared.tfrecord 3
columnstone lineage add examples data/5.tfrecord data/shared.tfrecord --name both >out
columnstone lineage add examples data/5.tfrecord --name both >out

echo 'nothing is garbage without a policy'
columnstone gc --dry-run | tail -n 1
echo 'what would go'
columnstone gc lineage.db --keep 1 --type examples --keep-ancestors-of model --dry-run | tame
ls data
echo 'what goes'
columnstone lineage lease sessions@1 --for 1h --holder reader
columnstone lineage lease | tame
columnstone lineage lease --json | sed 's/"expires": [0-9]*/"expires": 0/'
columnstone gc --keep 1 --type examples --keep-ancestors-of model | tame
ls data ../outside
columnstone gc --keep 1 --type examples --keep-ancestors-of model | tail -n 1
columnstone lineage ls --all --name sessions | tame
columnstone lineage ls --name sessions | cut -d ' ' -f 1
columnstone lineage check | tame
columnstone head lineage:sessions@3 || echo "exit status $?"
columnstone lineage lease sessions@3 || echo "exit status $?"
echo 'groups, ages and roots'
columnstone gc --older-than 1h --type examples | tail -n 1
columnstone gc --keep 1 --group-by span --type examples --dry-run | grep sessions
columnstone gc --keep 1 --json --dry-run | tail -n 5
columnstone lineage lease sessions@5 sessions@2 --for 1h --json
