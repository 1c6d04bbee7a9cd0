/* Memory with many distinct names: what a batch does not hold costs next to nothing, and what an
 * earlier one held is let go. */
#include "schema/schema.h"
#include "source_support.h"
#include "verify_support.h"

enum { NAMES = 6000, MEGABYTE = 1 << 20 };

/* ---- an allocator that counts ---- */

typedef struct counted {
  size_t live;
  size_t peak;
} counted;

static void *count_allocate(void *ctx, size_t size, size_t align) {
  counted *c = ctx;
  c->live += size;
  c->peak = c->live > c->peak ? c->live : c->peak;
  return cst__default_allocator.allocate(NULL, size, align);
}

static void count_release(void *ctx, void *ptr, size_t size, size_t align) {
  counted *c = ctx;
  c->live -= size;
  cst__default_allocator.release(NULL, ptr, size, align);
}

static cst_allocator allocator_of(counted *c) {
  return (cst_allocator){sizeof(cst_allocator), count_allocate, count_release, c};
}

/* ---- data ---- */

/* NAMES records, each with one feature, whose name no other has. */
static const char *write_distinct(const char *name) {
  bytes file = {0};
  for (int i = 0; i < NAMES; i++) {
    char key[16];
    bytes features = {0};
    bytes record = {0};
    (void)snprintf(key, sizeof key, "f%d", i);
    put_int(&features, key, i);
    put_field(&record, 1, features.data, features.size);
    bytes_add_record(&file, record.data, record.size);
    bytes_free(&features);
    bytes_free(&record);
  }
  const char *path = write_bytes(name, &file);
  bytes_free(&file);
  return path;
}

static cst_source *open_counted(const char *path, const cst_allocator *allocator,
                                const cst_schema *schema) {
  cst_source_options options = CST_SOURCE_OPTIONS_INIT;
  options.allocator = allocator;
  options.schema = schema;
  cst_source *source = NULL;
  CHECK_EQ(cst_source_open(&path, 1, &options, &source, NULL), CST_OK);
  return source;
}

TEST(verify) {
  counted c = {0};
  cst_allocator allocator = allocator_of(&c);
  cst_source *source = open_counted(write_distinct("verify"), &allocator, NULL);
  CHECK_EQ(faults_of(source), 0);
  cst_source_release(source);
  CHECK(c.peak < 32 * MEGABYTE);
  CHECK_EQ(c.live, 0);
}

TEST(infer_and_read) {
  counted c = {0};
  cst_allocator allocator = allocator_of(&c);
  const char *path = write_distinct("read");
  cst_source *source = open_counted(path, &allocator, NULL);
  cst_schema *schema = NULL;
  CHECK_EQ(cst_source_infer(source, NULL, NULL, &schema, NULL), CST_OK);
  CHECK_EQ(cst_schema_num_features(schema), NAMES);
  cst_source_release(source);
  CHECK(c.peak < 40 * MEGABYTE);
  CHECK_EQ(c.live, 0);

  source = open_counted(path, &allocator, schema);
  cst_pass *pass = NULL;
  int64_t rows = 0;
  int64_t values = 0;
  c.peak = c.live;
  CHECK_EQ(cst_pass_new(source, &pass, NULL), CST_OK);
  for (;;) {
    struct ArrowArray batch;
    CHECK_EQ(cst_pass_next(pass, &batch, NULL), CST_OK);
    if (batch.release == NULL) {
      break;
    }
    for (int64_t i = 0; i < batch.n_children; i++) {
      values += batch.children[i]->children[0]->length;
      CHECK_EQ(batch.children[i]->null_count,
               batch.length - batch.children[i]->children[0]->length);
    }
    rows += batch.length;
    batch.release(&batch);
  }
  CHECK_EQ(rows, NAMES);
  CHECK_EQ(values, NAMES);
  CHECK(c.peak < 40 * MEGABYTE);
  cst_pass_free(pass);
  cst_source_release(source);
  cst_schema_release(schema);
  CHECK_EQ(c.live, 0);
}

/* Small files wait in blocks of their size until a batch is full. */
TEST(small_files) {
  enum { FILES = 400 };
  static char names[FILES][256];
  static const char *paths[FILES];
  counted c = {0};
  cst_allocator allocator = allocator_of(&c);
  for (int i = 0; i < FILES; i++) {
    char name[16];
    (void)snprintf(name, sizeof name, "small%d", i);
    (void)snprintf(names[i], sizeof names[i], "%s", write_examples(name, i, i + 1));
    paths[i] = names[i];
  }
  cst_source_options options = CST_SOURCE_OPTIONS_INIT;
  options.allocator = &allocator;
  cst_source *source = NULL;
  cst_schema *schema = NULL;
  CHECK_EQ(cst_source_open(paths, FILES, &options, &source, NULL), CST_OK);
  CHECK_EQ(cst_source_infer(source, NULL, NULL, &schema, NULL), CST_OK);
  CHECK_EQ(cst_schema_num_features(schema), 3);
  cst_schema_release(schema);
  cst_source_release(source);
  CHECK(c.peak < 4 * MEGABYTE);
  CHECK_EQ(c.live, 0);
}
