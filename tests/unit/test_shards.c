/* cst_sink over several files, over a caller's writer, and with a thread beside. */
#include <columnstone/sink.h>
#include <dirent.h>
#include <unistd.h>

#include "arrow_text.h"
#include "io_support.h"

typedef struct fixture {
  struct ArrowSchema schema;
  struct ArrowArray array;
  const char *path;
  cst_sink_options options;
  int batches;
} fixture;

static const char columns[] = "struct{a: large_list<int64>}";

static void make(fixture *f, const char *name) {
  *f = (fixture){.options = CST_SINK_OPTIONS_INIT, .batches = 5};
  arrow_text(columns, "{[1]} {[2]}", &f->schema, &f->array);
  f->path = harness_temp_path(name);
}

static void drop(fixture *f) {
  ArrowSchemaRelease(&f->schema);
  ArrowArrayRelease(&f->array);
}

static int write_batches(void *ctx) {
  const fixture *f = ctx;
  cst_sink *sink;
  cst_error error = CST_ERROR_INIT;
  cst_status status = cst_sink_open(f->path, &f->schema, &f->options, &sink, &error);
  if (status != CST_OK) {
    return (int)status;
  }
  for (int i = 0; i < f->batches && status == CST_OK; i++) {
    status = cst_sink_write(sink, &f->array, &error);
  }
  if (status == CST_OK) {
    status = cst_sink_finish(sink, &error);
  }
  cst_sink_free(sink);
  return (int)status;
}

/* Lines of the file; -1: there is none. */
static int lines_of(const char *path) {
  FILE *file = fopen(path, "rb");
  int lines = 0;
  if (file == NULL) {
    return -1;
  }
  for (int c = fgetc(file); c != EOF; c = fgetc(file)) {
    lines += c == '\n';
  }
  fclose(file);
  return lines;
}

static int count_files(void) {
  DIR *folder = opendir(harness_temp_dir());
  int count = 0;
  CHECK(folder != NULL);
  for (struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
    count += entry->d_name[0] != '.';
  }
  closedir(folder);
  return count;
}

static void remove_all(void) {
  DIR *folder = opendir(harness_temp_dir());
  for (struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
    (void)unlink(harness_temp_path(entry->d_name));
  }
  closedir(folder);
}

TEST(batches_go_to_shards_in_turn) {
  fixture f;
  make(&f, "x.jsonl");
  f.options.num_shards = 3;
  CHECK_EQ(write_batches(&f), CST_OK);
  CHECK_EQ(lines_of(harness_temp_path("x-00000-of-00003.jsonl")), 4);
  CHECK_EQ(lines_of(harness_temp_path("x-00001-of-00003.jsonl")), 4);
  CHECK_EQ(lines_of(harness_temp_path("x-00002-of-00003.jsonl")), 2);
  CHECK_EQ(count_files(), 3);
  remove_all();
  drop(&f);
}

TEST(fewer_batches_than_shards_leave_empty_files) {
  fixture f;
  make(&f, "x.jsonl");
  f.options.num_shards = 3;
  f.batches = 1;
  CHECK_EQ(write_batches(&f), CST_OK);
  CHECK_EQ(lines_of(harness_temp_path("x-00002-of-00003.jsonl")), 0);
  remove_all();
  drop(&f);
}

TEST(shards_of_a_size_keep_the_order) {
  fixture f;
  make(&f, "x.tfrecord");
  f.options.shard_bytes = 1;
  f.options.threads = 2;
  f.batches = 3;
  CHECK_EQ(write_batches(&f), CST_OK);
  CHECK(count_files() >= 1);
  CHECK_EQ(access(f.path, F_OK), -1);
  remove_all();
  drop(&f);
}

/* Data larger than all buffers reaches the limit. */
TEST(a_large_shard_is_followed_by_another) {
  fixture f;
  struct ArrowSchema schema;
  struct ArrowArray array;
  enum { SIZE = 600 << 10 };
  make(&f, "big.tfrecord");
  char *text = malloc(SIZE + 16);
  text[0] = '{';
  text[1] = '\'';
  memset(text + 2, 'x', SIZE);
  memcpy(text + 2 + SIZE, "'}", 3);
  arrow_text("struct{record: large_binary}", text, &schema, &array);
  free(text);
  f.options.shard_bytes = 300 << 10;
  f.batches = 4;
  for (int threads = 1; threads < 3; threads++) {
    fixture g = f;
    g.schema = schema;
    g.array = array;
    g.options.threads = threads;
    CHECK_EQ(write_batches(&g), CST_OK);
    CHECK_EQ(access(harness_temp_path("big-00003-of-00004.tfrecord"), F_OK), 0);
    CHECK_EQ(count_files(), 4);
    remove_all();
  }
  ArrowSchemaRelease(&schema);
  ArrowArrayRelease(&array);
  drop(&f);
}

TEST(names) {
  static const char *const names[][2] = {{"a.tfrecord.gz", "a-00000-of-00001.tfrecord.gz"},
                                         {"a", "a-00000-of-00001"},
                                         {"a.b.arrow", "a.b-00000-of-00001.arrow"},
                                         {".hidden", ".hidden-00000-of-00001"},
                                         {"a.gz", "a-00000-of-00001.gz"}};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    fixture f;
    make(&f, names[i][0]);
    f.options.num_shards = 1;
    f.options.format = "example";
    CHECK_EQ(write_batches(&f), CST_OK);
    CHECK_EQ(access(harness_temp_path(names[i][1]), F_OK), 0);
    remove_all();
    drop(&f);
  }
}

/* Until finish there is nothing that looks like output, and without it nothing stays. */
TEST(nothing_appears_before_the_end) {
  fixture f;
  make(&f, "x.jsonl");
  f.options.num_shards = 2;
  cst_sink *sink;
  CHECK_EQ(cst_sink_open(f.path, &f.schema, &f.options, &sink, NULL), CST_OK);
  CHECK_EQ(cst_sink_write(sink, &f.array, NULL), CST_OK);
  CHECK_EQ(lines_of(harness_temp_path("x-00000-of-00002.jsonl")), -1);
  cst_sink_free(sink);
  CHECK_EQ(count_files(), 0);
  drop(&f);
}

TEST(wrong_wishes) {
  fixture f;
  cst_sink *sink;
  cst_error error = CST_ERROR_INIT;
  make(&f, "x.jsonl");
  f.options.num_shards = 2;
  f.options.shard_bytes = 5;
  CHECK_EQ(cst_sink_open(f.path, &f.schema, &f.options, &sink, &error), CST_INVALID_ARGUMENT);
  f.options.shard_bytes = 0;
  f.options.format = "json";
  CHECK_EQ(cst_sink_open("-", &f.schema, &f.options, &sink, &error), CST_UNSUPPORTED);
  f.options.num_shards = 1000000;
  CHECK_EQ(cst_sink_open(f.path, &f.schema, &f.options, &sink, &error), CST_INVALID_ARGUMENT);
  CHECK_EQ(count_files(), 0);
  drop(&f);
}

TEST(allocation_failures) {
  fixture f;
  make(&f, "x.jsonl");
  f.options.num_shards = 2;
  FOR_EACH_ALLOCATION_FAILURE(write_batches, &f, CST_NO_MEMORY);
  remove_all();
  f.options.num_shards = 0;
  f.options.threads = 2;
  FOR_EACH_ALLOCATION_FAILURE(write_batches, &f, CST_NO_MEMORY);
  remove_all();
  drop(&f);
}

/* ---- a caller's writer ---- */

typedef struct taken {
  bytes data;
  int closed;
  bool committed;
  bool fails;
} taken;

static cst_status take(void *ctx, const void *data, size_t size, cst_error *error) {
  taken *t = ctx;
  if (t->fails) {
    return cst__fail(error, CST_IO, NULL, "the pipe is broken");
  }
  bytes_add(&t->data, data, size);
  return CST_OK;
}

static cst_status close_taken(void *ctx, bool commit, cst_error *error) {
  taken *t = ctx;
  (void)error;
  t->closed++;
  t->committed = commit;
  return CST_OK;
}

static cst_status write_to(taken *t, const fixture *f, cst_error *error) {
  cst_writer writer = {sizeof writer, "memory", take, close_taken, t};
  cst_sink *sink;
  CST__TRY(cst_sink_open_writer(&writer, &f->schema, &f->options, &sink, error));
  cst_status status = cst_sink_write(sink, &f->array, error);
  if (status == CST_OK) {
    status = cst_sink_finish(sink, error);
  }
  cst_sink_free(sink);
  return status;
}

TEST(a_writer_gets_the_bytes) {
  for (int threads = 1; threads < 3; threads++) {
    fixture f;
    taken t = {0};
    make(&f, "unused");
    f.options.format = "json";
    f.options.threads = threads;
    CHECK_EQ(write_to(&t, &f, NULL), CST_OK);
    CHECK_EQ(t.closed, 1);
    CHECK(t.committed);
    CHECK_EQ(t.data.size, 22);
    CHECK_MEM(t.data.data, "{\"a\": [1]}\n{\"a\": [2]}\n", 22);
    bytes_free(&t.data);
    drop(&f);
  }
}

TEST(a_writer_is_closed_once_whatever_fails) {
  fixture f;
  cst_error error = CST_ERROR_INIT;
  make(&f, "unused");
  taken t = {.fails = true};
  f.options.format = "json";
  CHECK_EQ(write_to(&t, &f, &error), CST_IO);
  CHECK_EQ(t.closed, 1);
  CHECK(!t.committed);
  t = (taken){0};
  f.options.format = NULL;
  CHECK_EQ(write_to(&t, &f, &error), CST_INVALID_ARGUMENT);
  CHECK_EQ(t.closed, 1);
  t = (taken){0};
  f.options.format = "json";
  f.options.num_shards = 2;
  CHECK_EQ(write_to(&t, &f, &error), CST_UNSUPPORTED);
  CHECK_EQ(t.closed, 1);
  t = (taken){0};
  f.options.num_shards = 0;
  f.options.format = "no such";
  CHECK_EQ(write_to(&t, &f, &error), CST_NOT_FOUND);
  CHECK_EQ(t.closed, 1);
  drop(&f);
}
