# Options of formats that are plug-ins: a shared object, which tells what it has, and a program.
export COLUMNSTONE_PLUGIN_PATH="$PWD"
cat >told.c <<'C'
#include <columnstone/format.h>
#include <stdio.h>
#include <string.h>
static const cst_option_info options[] = {
    {.name = "mode", .kind = CST_OPTION_WORD, .words = {"slow", "fast"}, .usual = "slow",
     .help = "how", .reads = true, .writes = true},
    {.name = "depth", .kind = CST_OPTION_NUMBER, .least = 1, .most = 9, .help = "how deep",
     .writes = true},
    {.name = "share", .kind = CST_OPTION_REAL, .most = 1, .help = "how much", .writes = true},
    {.name = "title", .kind = CST_OPTION_TEXT, .help = "what", .writes = true}};
static cst_status create(const char *path, const struct ArrowSchema *schema,
                         const cst_plugin_write_options *given, void **out, cst_error *error) {
  (void)schema, (void)error;
  FILE *file = fopen(path, "w");
  for (size_t i = 0; i < given->num_options; i++) {
    fprintf(file, "%s is %s\n", given->options[i].name, given->options[i].value);
  }
  *out = file;
  return CST_OK;
}
static cst_status write(void *file, struct ArrowArray *batch, cst_error *error) {
  (void)file, (void)error;
  batch->release(batch);
  return CST_OK;
}
static cst_status finish(void *file, cst_error *error) {
  (void)error;
  return fflush(file) == 0 ? CST_OK : CST_IO;
}
static void end(void *file) { fclose(file); }
static cst_status open_none(const char *path, const cst_plugin_read_options *given,
                            struct ArrowArrayStream *out, cst_error *error) {
  (void)path, (void)out;
  error->code = CST_UNSUPPORTED;
  snprintf(error->message, sizeof error->message, "read with %d: %s", (int)given->num_options,
           given->options[0].value);
  return CST_UNSUPPORTED;
}
static const cst_plugin_format told = {
    .size = sizeof told, .abi_version = CST_PLUGIN_ABI_VERSION, .name = "told",
    .description = "what it is told", .open = open_none, .create = create, .write = write,
    .finish = finish, .free = end, .options = options, .num_options = 4};
CST_PLUGIN_EXPORT const cst_plugin_format *cst_plugin(uint32_t version) {
  return version == CST_PLUGIN_ABI_VERSION ? &told : 0;
}
C
$CC -shared -fPIC -I"$SOURCE/include" -o columnstone-told.so told.c
printf 'a,b\n1,2\n' >x.csv
option() {
  name=$1
  shift
  columnstone convert x.csv "$name" --to told "$@"
}
option usual >out
option given --format-option depth=3 --format-option mode=fast --format-option title=a=b \
  --format-option share=.5 >out
cat usual given
columnstone head given --format told --format-option mode=fast || echo "status $?"
option none --format-option dept=3 || echo "status $?"
option none --format-option depth=10 || echo "status $?"
option none --format-option share=1,5 || echo "status $?"
option none --format-option depth || echo "status $?"
columnstone head given --format told --format-option depth=3 || echo "status $?"
columnstone head given --format told --format-option mod=fast || echo "status $?"

cat >columnstone-format-shout <<'P'
#!/bin/sh
case $1 in
  options) printf 'mark\twhat is put behind each line\nunused\n' ;;
  read)
    mark=
    for argument; do
      case $argument in --option=mark=*) mark=${argument#--option=mark=} ;; esac
    done
    for file; do :; done
    sed "s/\$/$mark/" "$file" | columnstone convert - - --format csv --to arrows
    ;;
  write)
    for file; do :; done
    for argument; do
      case $argument in --option=*) echo "${argument#--option=}" ;; esac
    done >"$file"
    cat >/dev/null
    ;;
esac
P
chmod +x columnstone-format-shout
printf 'word\nhello\n' >x.shout
columnstone head x.shout --format-option mark=!
columnstone head x.shout --format-option marks=! || echo "status $?"
# The output alone has it; both have it.
columnstone convert x.csv out.shout --format-option mark=! --delimiter , >out
columnstone convert x.shout both.shout --format-option mark=! >out
cat out.shout both.shout
