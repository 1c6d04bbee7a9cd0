# Of two that make one output at the same time, and do not overwrite, the first wins.
mkfifo rows
columnstone convert rows out.jsonl --format json || echo "exit status $?" >status &
exec 3>rows # the check of the output was before the input is opened
echo '{"a": 1}' >out.jsonl
echo '{"a": 2}' >&3
exec 3>&-
wait $!
cat status out.jsonl
ls
# A link that leads nowhere is not followed.
ln -s elsewhere.jsonl link.jsonl
columnstone convert out.jsonl link.jsonl || echo "exit status $?"
