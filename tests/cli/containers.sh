# Records in other containers than TFRecord: delimited messages, found from the bytes, and lines.
make_examples x.tfrecord 4
columnstone merge x.tfrecord x.bin --to-container delimited >out
columnstone info x.bin | sed '/^ /d'
columnstone count x.bin
columnstone verify x.bin
columnstone index x.bin
columnstone merge x.bin y.bin.gz >out       # stays as it is,
columnstone count y.bin.gz | sed "s/[0-9]*  y/so many  y/"
columnstone merge y.bin.gz y.tfrecord >out  # but where the name says otherwise
cmp x.tfrecord y.tfrecord
columnstone head x.tfrecord >1
columnstone head - --container delimited <x.bin | cmp - 1
size=$(wc -c <x.bin)
head -c $((size - 3)) x.bin >cut.bin
columnstone verify cut.bin || echo "exit status $?"
{ columnstone repair cut.bin good.bin || echo "exit status $?"; } | sed '/ s$/d'

printf 'a,b\r\n\nlast' >x.txt
columnstone head x.txt --container lines
columnstone convert x.txt lines.tfrecord --container lines >out
columnstone convert lines.tfrecord y.txt --format raw --to-container lines >out
cat y.txt
columnstone convert x.tfrecord z.txt --to-container lines || echo "exit status $?"
columnstone count x.txt --container line || echo "exit status $?"
columnstone count x.txt --container lines --format csv || echo "exit status $?"

printf '\003\032\001a\002\010\001' >messages.bin       # no Examples: {3: "a"} and {1: 1}
columnstone info messages.bin
columnstone head messages.bin
columnstone merge x.bin bad.bin >out
printf '\002\012\005' >>bad.bin                       # an Example whose length points past its end
columnstone head bad.bin >2 || echo "exit status $?"
columnstone merge x.bin x.tfrecord both.bin || echo "exit status $?"
