# Lines are copied with the ends that they have; the last one gets one.
printf 'one\r\ntwo\n\r\nthree\r\nlast' >in.txt
for verb in "merge in.txt in.txt" "repair in.txt" "shuffle in.txt" "sample in.txt -n 5"; do
  columnstone $verb out.txt --container lines >log
  sort out.txt | od -An -c
  rm out.txt
done
columnstone cat in.txt --container lines | od -An -c
columnstone split in.txt parts.txt --shards 2 --container lines >log
columnstone cat parts* --container lines | od -An -c
columnstone merge in.txt records.tfrecord --container lines >log
columnstone cat records.tfrecord --to-container lines | od -An -c
printf '{"record": "with\\r"}\n' | columnstone convert - out.txt --format json --to raw --to-container lines
