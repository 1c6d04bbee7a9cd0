# The life of artifacts: from files over a bound view to what came from what.
cli() { columnstone "$@" || echo "exit status $?"; }
# Times, ids of executions and the folder differ from run to run.
tame() { sed "/^changed /d; s|$PWD|FOLDER|g; s/20[0-9][0-9]-[0-9-]* [0-9:]*/TIME/g; s/\(created\|updated\|started\|ended\)\": [0-9]*/\1\": 0/g; s/\"[0-9]\{13\}\"/MILLISECONDS/g"; }
cp "$SOURCE/tests/data/messages/shop.desc" shop.desc
cat >ranking.cstq <<'Q'
from message shop.Session
output searches = dense(size(event))
output queries = ragged(event.query)
Q
columnstone view build ranking.cstq --proto-set shop.desc -o ranking.cstv >out
mkdir data
for day in 1 2; do
  printf '{"id": %s, "event": [{"query": "tea"}, {"query": "pot"}]}\n' $day >day.jsonl
  columnstone convert day.jsonl data/day-$day.tfrecord --to message --proto-set shop.desc --message shop.Session >out
done

cli lineage ls
cli lineage init lineage.db | tame
cli lineage init lineage.db 2>&1 | tame
export COLUMNSTONE_LINEAGE=lineage.db
cli lineage ls
cli lineage add examples 'data/day-*.tfrecord' --message shop.Session --proto-set shop.desc --name sessions --split train --span 12 --property city=Oslo --property 'text="7"' --property share=0.5 --property good=true
cli lineage add view ranking.cstv --name ranking
cli lineage add view ranking.cstv --name ranking
cli lineage bind sessions@1 ranking@1
cli lineage bind sessions@1 ranking@1
cli lineage bind sessions@1 ranking
cli lineage ls | tame
cli lineage show sessions@1 ranking | tame
cli lineage show sessions | tame
mkdir model
echo weights >model/7
cli lineage add model model --name ranker --from sessions@2 --by train --context pipeline=weekly
cli lineage trace ranker --up
cli lineage trace sessions@1 --down --ascii
cli lineage trace ranker | tail -n 3
cli lineage show ranker | tame
cli lineage ls executions | tame
cli lineage ls contexts
cli lineage ls --json | tame
cli lineage trace ranker --json | tame
cli lineage check | tame

echo 'inputs of other verbs'
cli head lineage:sessions@2
cli head lineage:sessions@2 --view none
cli head lineage:sessions@1
cli head lineage:sessions@1#train --view lineage:ranking@1 -n 1
cli count lineage:sessions | tame
cli verify lineage:sessions
cli convert lineage:sessions@2 out.jsonl
cat out.jsonl
cli view show lineage:ranking | head -n 1
cli schema tree lineage:sessions@2

echo 'filters'
cli lineage ls --type view | tame | cut -c 1-30
cli lineage ls --property span=12 --name 'sess*' --since 1d | cut -d ' ' -f 1
cli lineage ls --path data/day-1.tfrecord | cut -d ' ' -f 1
cli lineage ls --path model | cut -d ' ' -f 1
cli lineage ls --field event.query | cut -d ' ' -f 1
cli lineage ls --context pipeline=weekly | cut -d ' ' -f 1
cli lineage ls --until 2020-01-01
cli lineage ls -n 1 | cut -d ' ' -f 1
