# What is no TFRecord is named for what it seems to be.
printf 'version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 12345\n' >pointer.tfrecord
printf '<!DOCTYPE html>\n<html><body>Not found</body></html>\n' >page.tfrecord
printf 'a,b\n1,2\n3,4\n5,6\n7,8\n' >table.tfrecord
printf '{"a": 1}\n{"a": 2}\n' >lines.tfrecord
for file in pointer page table lines; do
  for verb in head count verify 'schema infer'; do
    # shellcheck disable=SC2086
    columnstone $verb "$file.tfrecord" >out 2>&1 && echo "$verb took $file" || echo "$verb $file: exit status $?"
  done
  columnstone head "$file.tfrecord" || :
done
