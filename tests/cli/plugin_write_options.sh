# What a plug-in's writer is told.
make_examples x.tfrecord
export COLUMNSTONE_PLUGIN_PATH="$PWD"
cat >told.c <<'C'
#include <columnstone/format.h>
#include <stdio.h>
static cst_status create(const char *path, const struct ArrowSchema *schema,
                         const cst_plugin_write_options *options, void **out, cst_error *error) {
  (void)schema, (void)error;
  FILE *file = fopen(path, "w");
  fprintf(file, "level %d, lossy %d, threads %d\n", (int)options->level, options->lossy,
          (int)options->threads);
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
static const cst_plugin_format told = {
    .size = sizeof told, .abi_version = CST_PLUGIN_ABI_VERSION, .name = "told",
    .description = "what the writer is told", .create = create, .write = write,
    .finish = finish, .free = end};
CST_PLUGIN_EXPORT const cst_plugin_format *cst_plugin(uint32_t version) {
  return version == CST_PLUGIN_ABI_VERSION ? &told : 0;
}
C
$CC -shared -fPIC -I"$SOURCE/include" -o columnstone-told.so told.c
columnstone convert x.tfrecord one --to told --threads 1 >out
columnstone convert x.tfrecord three --to told --threads 3 --level 5 --lossy >out
cat one three
