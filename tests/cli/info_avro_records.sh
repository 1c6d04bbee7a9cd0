# Records of Avro have no schema with them: info reads them by the one that is given, as head does.
printf '{"id": 1}\n{"id": 2}\n' >a.jsonl
echo '{"type": "record", "name": "E", "fields": [{"name": "id", "type": "long"}]}' >e.avsc
columnstone convert a.jsonl k.tfrecord --to avro --to-container tfrecord --avro-schema e.avsc >out
columnstone info k.tfrecord -f avro --avro-schema e.avsc
columnstone info k.tfrecord -f avro || echo "status $?"
