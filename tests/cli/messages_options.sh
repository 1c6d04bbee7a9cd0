# What the options on messages say of what they do not know.
try() { columnstone "$@" || echo "exit status $?"; }
cp "$SOURCE/tests/data/messages/shop.desc" shop.desc
try head x --message shop.Session
try head x --message-option enums=text
try head x --message-column value
try head x --proto-set nix.desc
printf '\003\022\001\377' >bad.bin # a name that is not UTF-8
try head bad.bin --container delimited --proto-set shop.desc --message shop.Session
try head bad.bin --container delimited --proto-set shop.desc --message shop.Session --message-option binary_strings=true --columns user
mkdir folder
try head x --proto-set folder
echo 'no descriptors' >text
try head x --proto-set text
try head x --proto-set shop.desc --message-option enum=text
try head x --proto-set shop.desc --message-option no_such_thing=1
try head x --proto-set shop.desc --message-option enums
try head x --proto-set shop.desc --message-option enums=upper
try head x --proto-set shop.desc --message-option defaults=yes
try head x --proto-set shop.desc --message-option recursion=deep
try head x --proto-set shop.desc --message-option recursion=101
try convert x y.jsonl --on-error nothing
columnstone head --help | tr -s " \n" " " | grep -o "may be repeated: form, enums[a-z_]*\(, [a-z_]*\)*"

# A .proto file goes through protoc, here one that knows one file.
cp "$SOURCE/tests/data/messages/shop.proto" shop.proto
(PATH=/nowhere:$(dirname "$(command -v columnstone)") && try head x --proto-set shop.proto) 2>&1 | sed 's/[.]$//'
mkdir bin
cat >bin/protoc <<'SCRIPT'
#!/bin/sh
for argument; do
  case $argument in
    --descriptor_set_out=*) output=${argument#*=} ;;
    *) echo "protoc: $argument" | sed "s#$PWD#HERE#" >>called ;;
  esac
done
case $argument in
  */shop.proto) cat shop.desc >"$output" ;;
  *) echo "${argument##*/}: no such thing" >&2; exit 1 ;;
esac
SCRIPT
chmod +x bin/protoc
mkdir protos
mv shop.proto protos/
cp protos/shop.proto other.proto
export PATH="$PWD/bin:$PATH" TMPDIR="$PWD/folder"
try info x.tfrecord --proto-set protos/shop.proto
try info x.tfrecord --proto-set other.proto
cat called
ls folder
