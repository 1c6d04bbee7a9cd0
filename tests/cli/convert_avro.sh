# Avro container files: what is written is read again, by paths and by another schema.
cat >sessions.jsonl <<'END'
{"id": 1, "event": [{"query": "tea", "price": 4.5}, {"query": "tea pot", "price": null}]}
{"id": 2, "event": []}
END
columnstone convert sessions.jsonl sessions.avro --avro-codec null >out
columnstone head sessions.avro
columnstone head sessions.avro --columns event.query
columnstone info sessions.avro | head -n 1
columnstone count sessions.avro
columnstone verify sessions.avro
columnstone convert sessions.avro small.avro --avro-codec zstandard >out
columnstone convert small.avro - --to json | cmp - sessions.jsonl
cat >reader.avsc <<'END'
{"type": "record", "name": "Row", "fields": [{"name": "number", "aliases": ["id"], "type": ["null", "double"]}, {"name": "of", "type": "string", "default": "shop"}]}
END
columnstone convert sessions.avro - --to json --avro-schema reader.avsc
columnstone head sessions.avro --columns event.qury || :
columnstone convert sessions.avro x.avro --avro-codec lzo || :
printf 'Obj\001\004\024avro.codec\006lzo\026avro.schema\012"int"\0000123456789abcdef' >codec.avro
columnstone head codec.avro || :
head -c 470 sessions.avro >cut.avro
columnstone head cut.avro || :
