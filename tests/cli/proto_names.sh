# A .proto file is compiled whatever it is called, and nothing that lies in the current folder runs.
cp "$SOURCE/tests/data/messages/shop.proto" "$SOURCE/tests/data/messages/shop.desc" .
mkdir bin grpc_tools
cp shop.proto @x.proto
cp shop.proto ./--plugin.proto
cat >bin/protoc <<'SCRIPT'
#!/bin/sh
for argument; do
  echo "$argument" | sed "s#$PWD#HERE#" >>calls
  case $argument in --descriptor_set_out=*) output=${argument#*=} ;; esac
done
cat shop.desc >"$output"
SCRIPT
chmod +x bin/protoc
for name in @x.proto --plugin.proto ./shop.proto "$PWD/shop.proto"; do
  PATH="$PWD/bin:$PATH" columnstone info none.tfrecord --proto-set "$name" || echo "exit status $?"
done
cat calls

# Neither a program of the current folder is run nor a module imported.
own=$(dirname "$(command -v columnstone)")
cp bin/protoc protoc
ran='open("ran", "w").write("it ran")'
for module in grpc_tools/__init__ grpc_tools/protoc runpy importlib sys site; do echo "$ran" >"$module.py"; done
rm calls
mkdir python
ln -s "$(command -v python3)" python/python3
for path in "$own::." "$own:.:bin" ".:$PWD/python:$own"; do
  PATH="$path" PYTHONPATH=. columnstone info none.tfrecord --proto-set shop.proto 2>said || echo "exit status $?"
done
ls calls ran 2>/dev/null || echo 'nothing ran'
