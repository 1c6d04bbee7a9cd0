# Garbage: what would go, what goes, what stays and why.
export COLUMNSTONE_LINEAGE=lineage.db
tame() { sed "s|$PWD|FOLDER|g; s/20[0-9][0-9]-[0-9-]* [0-9:]*/TIME/g; s/[0-9.]* k\{0,1\}B/SIZE/g"; }
mkdir outside
cd outside
make_examples out.tfrecord 1
cd ..
mkdir store
cd store
columnstone lineage init lineage.db >out
mkdir data
for span in 1 2 3 4 5; do
  make_examples data/$span.tfrecord 2
  columnstone lineage add examples data/$span.tfrecord --name sessions --span $span >out
done
echo weights >model
columnstone lineage add model model --name ranker --from sessions@2 --by train >out
columnstone lineage add examples ../outside/out.tfrecord --name others >out
make_examples data/far.tfrecord 1
columnstone lineage add examples data/far.tfrecord --name far --external >out
columnstone gc --dry-run | tame
columnstone gc lineage.db --keep 1 --type examples --keep-ancestors-of model --dry-run | tame
ls data
columnstone lineage lease sessions@1 --for 1h --holder reader
columnstone lineage lease | tame
columnstone gc --keep 1 --type examples --keep-ancestors-of model | tame
ls data
columnstone gc --keep 1 --type examples --keep-ancestors-of model | tail -n 1
columnstone lineage ls --all | tame
columnstone head lineage:sessions@3 || echo "exit status $?"
columnstone lineage lease sessions@3 || echo "exit status $?"
columnstone gc --older-than 1h --type examples | tail -n 1
columnstone gc --keep 1 --json --dry-run | tail -n 5
