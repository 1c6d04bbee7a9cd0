/* Splits: what the planner makes of files, and that splits have each record exactly once, whatever
 * the records hold and wherever the splits begin. */
#include <columnstone/split.h>
#include <unistd.h>

#include "findings_text.h"
#include "index_support.h"
#include "source/index/boundary.h"

/* ---- reading ---- */

static cst_source *open_for_splits(const char *const *paths, size_t count, cst_on_error on_error) {
  cst_source_options options = CST_SOURCE_OPTIONS_INIT;
  cst_source *source = NULL;
  cst_error error = CST_ERROR_INIT;
  options.format = "raw";
  options.on_error = on_error;
  CHECK_EQ(cst_source_open(paths, count, &options, &source, &error), CST_OK);
  CHECK_STR(error.message, "");
  return source;
}

static cst_status names_of_splits(cst_source *source, const cst_split *splits, size_t count,
                                  bytes *names, cst_error *error) {
  cst_source *part = NULL;
  cst_status status = cst_source_read_splits(source, splits, count, &part, error);
  if (status == CST_OK) {
    status = names_of_source(part, names, error);
  }
  cst_source_release(part);
  return status;
}

/* Reads each split by itself, and all of them as one source, and wants the same names. */
static void check_splits(cst_source *source, const cst_split *splits, size_t count,
                         const bytes *expected) {
  bytes names = {0};
  bytes together = {0};
  cst_error error = CST_ERROR_INIT;
  for (size_t i = 0; i < count; i++) {
    cst_status status = names_of_splits(source, &splits[i], 1, &names, &error);
    CHECK_STR(error.message, "");
    CHECK_EQ(status, CST_OK);
  }
  CHECK_EQ(names_of_splits(source, splits, count, &together, &error), CST_OK);
  check_same(&names, expected);
  check_same(&together, expected);
  bytes_free(&names);
  bytes_free(&together);
}

/* Splits of a file at two places, the end of the last one known or not. */
static void check_cuts(cst_source *source, const char *path, const uint64_t cuts[3],
                       const bytes *expected) {
  const cst_split splits[3] = {{path, 0, cuts[0], false, 0, 0},
                               {path, cuts[0], cuts[1], false, 0, 0},
                               {path, cuts[1], cuts[2], false, 0, 0}};
  check_splits(source, splits, 3, expected);
}

/* Records of no bytes, of TFRecords, and of text. */
static void add_nested_records(bytes *file, int records) {
  for (int i = 0; i < records; i++) {
    bytes inner = {0};
    bytes record = {0};
    text_of(&record, "r%" PRId64 "|", i);
    if (i % 3 == 1) {
      bytes_add_record(&inner, "", 0);
      bytes_add_record(&inner, "x", 1);
      bytes_add(&record, inner.data, inner.size);
    }
    bytes_add_record(file, record.data, record.size);
    bytes_free(&inner);
    bytes_free(&record);
  }
}

TEST(every_pair_of_places) {
  bytes file = {0};
  bytes expected = {0};
  add_nested_records(&file, 5);
  expect_names(&expected, 0, 5);
  const char *path = write_bytes("pairs.tfrecord", &file);
  cst_source *source = open_for_splits(&path, 1, CST_ON_ERROR_RAISE);
  for (uint64_t a = 0; a <= file.size; a += EVERY) {
    for (uint64_t b = a; b <= file.size; b += 1 + (a + b) % 3) {
      const uint64_t end = a % 2 == 0 ? file.size : CST_SPLIT_TO_END;
      check_cuts(source, path, (const uint64_t[3]){a, b, end}, &expected);
    }
  }
  cst_source_release(source);
  bytes_free(&file);
  bytes_free(&expected);
}

/* A split of each byte: with damaged records at every place, which are dropped and told of once. */
static bool count_dropped(void *ctx, const cst_dropped *dropped) {
  *(size_t *)ctx += dropped->bytes > 0;
  return true;
}

TEST(damaged_records_are_dropped_once) {
  enum { RECORDS = 12 };
  for (int place = 0; place < RECORDS; place++) {
    bytes file = {0};
    bytes expected = {0};
    add_nested_records(&file, RECORDS);
    file.data[record_offset(&file, place) + (place % 2 == 0 ? 3 : 13)] ^= 64;
    expect_names(&expected, 0, place);
    expect_names(&expected, place + 1, RECORDS);
    const char *path = write_bytes("damaged.tfrecord", &file);
    size_t dropped = 0;
    cst_source_options options = CST_SOURCE_OPTIONS_INIT;
    cst_source *source = NULL;
    options.format = "raw";
    options.on_error = CST_ON_ERROR_SKIP;
    options.on_dropped = count_dropped;
    options.dropped_ctx = &dropped;
    CHECK_EQ(cst_source_open(&path, 1, &options, &source, NULL), CST_OK);
    for (uint64_t a = (uint64_t)place % 4; a <= file.size; a += 4 * EVERY) {
      const uint64_t b = (a + file.size) / 2;
      dropped = 0;
      check_cuts(source, path, (const uint64_t[3]){a, b, file.size}, &expected);
      CHECK_EQ(dropped, 2);
    }
    cst_source_release(source);
    bytes_free(&file);
    bytes_free(&expected);
  }
}

/* A reader, whose size nobody knows. */
typedef struct file_reader {
  const bytes *file;
  size_t calls;
} file_reader;

static cst_status read_of_file(void *ctx, uint64_t offset, void *buffer, size_t size, size_t *got,
                               cst_error *error) {
  file_reader *m = ctx;
  (void)error;
  m->calls++;
  *got = 0;
  if (offset < m->file->size) {
    *got = size < m->file->size - offset ? size : m->file->size - (size_t)offset;
    memcpy(buffer, m->file->data + offset, *got);
  }
  return CST_OK;
}

static cst_source *open_reader(file_reader *m, uint32_t flags) {
  const cst_reader reader = {sizeof reader, "memory", read_of_file, NULL, m, true};
  cst_source_options options = CST_SOURCE_OPTIONS_INIT;
  cst_source *source = NULL;
  options.format = "raw";
  options.flags = flags;
  CHECK_EQ(cst_source_open_readers(&reader, 1, &options, &source, NULL), CST_OK);
  return source;
}

TEST(splits_of_a_reader) {
  bytes file = {0};
  bytes expected = {0};
  add_nested_records(&file, 8);
  add_raw(&file, 8, 700 << 10); /* more than a window of the search */
  expect_names(&expected, 0, 9);
  for (uint32_t flags = 0; flags <= CST_SOURCE_SKIP_CRC; flags += CST_SOURCE_SKIP_CRC) {
    file_reader m = {&file, 0};
    cst_source *source = open_reader(&m, flags);
    for (uint64_t a = 0; a <= 330; a += EVERY * (1 + a / 20)) {
      const uint64_t end = a % 2 == 0 ? file.size : CST_SPLIT_TO_END;
      check_cuts(source, "memory", (const uint64_t[3]){a, 330, end}, &expected);
    }
    cst_source_release(source);
  }
  file_reader m = {&file, 0};
  cst_source *source = open_reader(&m, CST_SOURCE_SKIP_CRC);
  file.size -= 100; /* the last record is cut: it begins no split */
  const cst_split last = {"memory", record_offset(&file, 8), file.size, false, 0, 0};
  bytes names = {0};
  CHECK_EQ(names_of_splits(source, &last, 1, &names, NULL), CST_OK);
  CHECK_EQ(names.size, 0);
  cst_source_release(source);
  bytes_free(&names);
  bytes_free(&file);
  bytes_free(&expected);
}

TEST(files_that_change) {
  bytes file = {0};
  bytes names = {0};
  bytes expected = {0};
  cst_error error = CST_ERROR_INIT;
  add_nested_records(&file, 10);
  expect_names(&expected, 0, 8);
  const size_t planned = record_offset(&file, 8);
  const char *path = write_bytes("grown.tfrecord", &file);
  cst_source *source = open_for_splits(&path, 1, CST_ON_ERROR_RAISE);
  check_cuts(source, path, (const uint64_t[3]){40, 90, planned}, &expected);
  const cst_split longer = {path, 0, file.size + 1, false, 0, 0};
  CHECK_EQ(names_of_splits(source, &longer, 1, &names, &error), CST_STATE);
  CHECK_CONTAINS(error.message, "changed since it was planned");
  CHECK_STR(error.file, path);
  const cst_split after = {path, file.size + 1, CST_SPLIT_TO_END, false, 0, 0};
  CHECK_EQ(names_of_splits(source, &after, 1, &names, NULL), CST_STATE);
  cst_source_release(source);
  file_reader m = {&file, 0};
  source = open_reader(&m, 0);
  const cst_split of_reader = {"memory", 3, file.size + 1, false, 0, 0};
  CHECK_EQ(names_of_splits(source, &of_reader, 1, &names, &error), CST_STATE);
  CHECK_CONTAINS(error.message, "changed since it was planned");
  cst_source_release(source);
  bytes_free(&file);
  bytes_free(&names);
  bytes_free(&expected);
}

/* What is looked at and what is read are one opening: a file that gets the name meanwhile is
 * another, in which the ends of the split are nowhere. A second pass opens it anew. */
TEST(splits_are_read_of_the_file_that_was_searched) {
  bytes file = {0};
  bytes other = {0};
  bytes names = {0};
  bytes expected = {0};
  cst_source *part = NULL;
  const char *compression = "unknown";
  add_nested_records(&file, 50);
  expect_names(&expected, 0, 50);
  const char *path = write_bytes("searched.tfrecord", &file);
  bytes_add(&other, file.data, file.size);
  memset(other.data, 0, other.size);
  const char *beside = write_bytes("beside.tfrecord", &other);
  cst_source *source = open_for_splits(&path, 1, CST_ON_ERROR_RAISE);
  const cst_split split = {path, 1, file.size - 1, false, 0, 0};
  CHECK_EQ(cst_source_read_splits(source, &split, 1, &part, NULL), CST_OK);
  CHECK_EQ(rename(beside, path), 0);
  CHECK_EQ(cst_source_compression(part, 0, &compression, NULL), CST_OK);
  CHECK(compression == NULL);
  expect_names(&names, 0, 1);
  CHECK_EQ(names_of_source(part, &names, NULL), CST_OK);
  check_same(&names, &expected);
  names.size = 0;
  CHECK(names_of_source(part, &names, NULL) != CST_OK);
  cst_source_release(part);
  cst_source_release(source);
  bytes_free(&file);
  bytes_free(&other);
  bytes_free(&names);
  bytes_free(&expected);
}

/* More records in a record than the search looks at are taken for the file's: that is an error of
 * the split before, and never rows, whatever happens with damaged records. */
TEST(records_that_fool_the_search) {
  bytes inner = {0};
  bytes file = {0};
  bytes names = {0};
  for (int i = 0; i < 300; i++) {
    add_raw(&inner, i, 64 << 10);
  }
  bytes_add_record(&file, inner.data, inner.size);
  add_raw(&file, 1, 10);
  const char *path = write_bytes("fooled-split.tfrecord", &file);
  const cst_split first = {path, 0, 1 << 20, false, 0, 0};
  cst_error error = CST_ERROR_INIT;
  for (int damaged = 0; damaged < 2; damaged++) {
    for (cst_on_error on_error = CST_ON_ERROR_RAISE; on_error <= CST_ON_ERROR_SKIP; on_error++) {
      cst_source *source = open_for_splits(&path, 1, on_error);
      names.size = 0;
      CHECK_EQ(names_of_splits(source, &first, 1, &names, &error), CST_CORRUPT);
      CHECK_CONTAINS(error.hint, "columnstone index");
      CHECK_EQ(names.size, 0);
      cst_source_release(source);
    }
    file.data[file.size / 2] ^= 1; /* the payload of the large record, and the file's header not */
    path = write_bytes("fooled-split.tfrecord", &file);
  }
  bytes_free(&inner);
  bytes_free(&file);
  bytes_free(&names);
}

TEST(what_cannot_be_divided_belongs_to_byte_0) {
  static const char table[] = "a,b\n1,2\n3,4\n";
  bytes file = {0};
  bytes packed = {0};
  bytes expected = {0};
  add_nested_records(&file, 10);
  expect_names(&expected, 0, 10);
  CHECK_EQ(add_compressed(&packed, CST_COMPRESSION_GZIP, file.data, file.size), CST_OK);
  const char *path = write_bytes("unknown.tfrecord", &packed);
  cst_source *source = open_for_splits(&path, 1, CST_ON_ERROR_RAISE);
  for (uint64_t a = 1; a < packed.size; a++) {
    check_cuts(source, path, (const uint64_t[3]){a, packed.size - 1, packed.size}, &expected);
  }
  cst_source_release(source);
  const char *csv = harness_temp_path("table.csv");
  harness_write_file(csv, table, sizeof table - 1);
  CHECK_EQ(cst_source_open(&csv, 1, NULL, &source, NULL), CST_OK);
  for (uint64_t begin = 0; begin <= 5; begin += 5) {
    const cst_split split = {csv, begin, begin + 5, false, 0, 0};
    struct ArrowSchema schema;
    cst_source *part = NULL;
    uint64_t rows;
    CHECK_EQ(cst_source_read_splits(source, &split, 1, &part, NULL), CST_OK);
    CHECK_EQ(cst_source_num_rows(part, &rows, NULL), CST_OK);
    CHECK_EQ(rows, begin == 0 ? 2 : 0);
    CHECK_EQ(cst_source_arrow_schema(part, &schema, NULL), CST_OK);
    CHECK_EQ(schema.n_children, 2);
    schema.release(&schema);
    cst_source_release(part);
  }
  cst_source_release(source);
  bytes_free(&file);
  bytes_free(&packed);
  bytes_free(&expected);
}

TEST(splits_that_are_none) {
  const char *path = write_raw("asked.tfrecord", 0, 5);
  cst_source *source = open_for_splits(&path, 1, CST_ON_ERROR_RAISE);
  cst_source *part = NULL;
  cst_source *of_part = NULL;
  cst_error error = CST_ERROR_INIT;
  const cst_split unknown = {"askd.tfrecord", 0, 10, false, 0, 0};
  CHECK_EQ(cst_source_read_splits(source, &unknown, 1, &part, &error), CST_INVALID_ARGUMENT);
  CHECK_STR(error.file, "askd.tfrecord");
  const cst_split reversed = {path, 10, 9, false, 0, 0};
  CHECK_EQ(cst_source_read_splits(source, &reversed, 1, &part, NULL), CST_INVALID_ARGUMENT);
  const cst_split beyond = {path, 0, CST_SPLIT_TO_END + 1, false, 0, 0};
  CHECK_EQ(cst_source_read_splits(source, &beyond, 1, &part, NULL), CST_INVALID_ARGUMENT);
  const cst_split nameless = {NULL, 0, 10, false, 0, 0};
  CHECK_EQ(cst_source_read_splits(source, &nameless, 1, &part, NULL), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_source_read_splits(source, NULL, 1, &part, NULL), CST_INVALID_ARGUMENT);
  const cst_split some = {path, 1, CST_SPLIT_TO_END, false, 0, 0};
  CHECK_EQ(cst_source_read_splits(source, &some, 1, &part, NULL), CST_OK);
  CHECK_EQ(cst_source_read_splits(part, &some, 1, &of_part, &error), CST_INVALID_ARGUMENT);
  CHECK_CONTAINS(error.message, "part of another one");
  cst_source_release(part);
  CHECK_EQ(cst_source_read_splits(source, NULL, 0, &part, NULL), CST_OK);
  uint64_t rows;
  CHECK_EQ(cst_source_num_rows(part, &rows, NULL), CST_OK);
  CHECK_EQ(rows, 0);
  cst_source_release(part);
  cst_source_release(source);
}

TEST(parts_of_splits) {
  bytes names = {0};
  bytes expected = {0};
  const char *path = write_raw("parts-of-splits.tfrecord", 0, 60);
  bytes file = {0};
  read_file(path, &file);
  const cst_split split = {path, record_offset(&file, 10) - 1, record_offset(&file, 50), false, 0,
                           0};
  for (int indexed = 0; indexed < 2; indexed++) {
    if (indexed != 0) {
      save_index(path);
    }
    cst_source *source = open_for_splits(&path, 1, CST_ON_ERROR_RAISE);
    cst_source *part = NULL;
    CHECK_EQ(cst_source_read_splits(source, &split, 1, &part, NULL), CST_OK);
    names.size = 0;
    for (uint32_t i = 0; i < 3; i++) {
      cst_source *third = NULL;
      CHECK_EQ(cst_source_split(part, i, 3, &third, NULL), CST_OK);
      CHECK_EQ(names_of_source(third, &names, NULL), CST_OK);
      cst_source_release(third);
    }
    expected.size = 0;
    expect_names(&expected, 10, 50);
    check_same(&names, &expected);
    cst_source_release(part);
    cst_source_release(source);
  }
  bytes_free(&names);
  bytes_free(&expected);
  bytes_free(&file);
}

/* ---- planning ---- */

static cst_splits *plan(const char *const *paths, size_t count, const cst_split_options *options) {
  cst_splits *splits = NULL;
  cst_error error = CST_ERROR_INIT;
  CHECK_EQ(cst_splits_plan(paths, count, options, &splits, &error), CST_OK);
  CHECK_STR(error.message, "");
  return splits;
}

/* Every file from byte 0 to its end, without gaps; the tasks grow. */
static void check_cover(const cst_splits *splits, const uint64_t *sizes) {
  const cst_split *before = NULL;
  size_t file = 0;
  for (size_t i = 0; i < cst_splits_num_splits(splits); i++) {
    const cst_split *split = cst_splits_get(splits, i);
    bool begins = before == NULL || strcmp(before->file, split->file) != 0;
    CHECK_EQ(split->begin, begins ? 0 : before->end);
    CHECK(!begins || before == NULL || before->end == sizes[file - 1]);
    file += begins;
    CHECK(before == NULL || split->task == before->task || split->task == before->task + 1);
    before = split;
  }
  CHECK(before == NULL || before->end == sizes[file - 1]);
}

/* The same as findings: an end that is not known, and a record that is not known, are null. */
static void check_findings(const cst_splits *splits) {
  cst_findings *found;
  size_t count = cst_splits_num_splits(splits);
  CHECK_EQ(cst_splits_findings(splits, &found, NULL), CST_OK);
  CHECK_STR(cst_findings_name(found), "splits");
  CHECK_EQ(cst_findings_num_rows(found), count);
  CHECK_EQ(cst_findings_total(found, "tasks"),
           count > 0 ? (int64_t)cst_splits_get(splits, count - 1)->task + 1 : 0);
  for (size_t i = 0; i < count; i++) {
    const cst_split *split = cst_splits_get(splits, i);
    bool is_known = split->record > 0 || split->begin == 0;
    CHECK_STR(cst_findings_text(found, "file", i), split->file);
    CHECK_EQ(cst_findings_number(found, "begin", i), split->begin);
    CHECK_EQ(cst_findings_number(found, "end", i),
             split->end == CST_SPLIT_TO_END ? -1 : (int64_t)split->end);
    CHECK_EQ(cst_findings_number(found, "exact", i), split->exact);
    CHECK_EQ(cst_findings_number(found, "task", i), split->task);
    CHECK_EQ(cst_findings_number(found, "record", i), is_known ? (int64_t)split->record : -1);
  }
  char *text = findings_text(found);
  CHECK_CONTAINS(text, "tasks ");
  cst_free(text);
  cst_findings_free(found);
}

TEST(planning_by_sizes_looks_at_no_file) {
  const char *const paths[] = {
      "a.tfrecord", "b.tfrecord.gz", "c.tfrecord", "d.tfrecord.zst", "s3://e", "f", "g"};
  const uint64_t sizes[] = {10 << 20, 500 << 20, (100 << 20) + 1, 200 << 20, 0, 5, UINT64_MAX};
  cst_split_options options = CST_SPLIT_OPTIONS_INIT;
  options.target_bytes = 50 << 20;
  options.file_sizes = sizes;
  options.cut = CST_SPLIT_CUT_BY_NAME;
  cst_splits *splits = plan(paths, 7, &options);
  static const struct {
    uint64_t end;
    uint64_t task;
  } expected[] = {{10 << 20, 0}, {500 << 20, 1}, {34952533, 2},
                  {69905067, 3}, {104857601, 4}, {200 << 20, 5},
                  {0, 6},        {5, 6},         {CST_SPLIT_TO_END, 7}};
  CHECK_EQ(cst_splits_num_splits(splits), 9);
  for (size_t i = 0; i < 9; i++) {
    CHECK_EQ(cst_splits_get(splits, i)->end, expected[i].end);
    CHECK_EQ(cst_splits_get(splits, i)->task, expected[i].task);
  }
  CHECK(cst_splits_get(splits, 9) == NULL);
  check_findings(splits);
  cst_splits_free(splits);
  options.cut = CST_SPLIT_CUT_NONE;
  splits = plan(paths, 7, &options);
  CHECK_EQ(cst_splits_num_splits(splits), 7);
  cst_splits_free(splits);
  static const struct {
    const char *path;
    const char *format;
    const char *container;
    size_t splits;
  } named[] = {
      {"a.csv", NULL, NULL, 1},     {"a.parquet", NULL, NULL, 2}, {"a", "json", NULL, 1},
      {"a", "parquet", NULL, 2},    {"a.csv", "raw", NULL, 2},    {"a.csv", NULL, "lines", 2},
      {"a", "raw", "delimited", 1}, {"a", NULL, "nobody's", 2},   {"a", "nobody's", NULL, 2}};
  const uint64_t large = 80 << 20;
  options.cut = CST_SPLIT_CUT_BY_NAME;
  options.file_sizes = &large;
  for (size_t i = 0; i < sizeof named / sizeof named[0]; i++) {
    options.format = named[i].format;
    options.container = named[i].container;
    splits = plan(&named[i].path, 1, &options);
    CHECK_EQ(cst_splits_num_splits(splits), named[i].splits);
    cst_splits_free(splits);
  }
  options = (cst_split_options)CST_SPLIT_OPTIONS_INIT;
  splits = plan(NULL, 0, &options);
  cst_splits_free(splits);
}

TEST(planned_splits_of_plain_files) {
  const char *paths[3];
  paths[0] = write_raw("plan-0.tfrecord", 0, 100);
  paths[1] = write_raw("plan-1.tfrecord", 100, 105);
  paths[2] = write_raw("plan-2.tfrecord", 105, 300);
  bytes file = {0};
  bytes expected = {0};
  uint64_t sizes[3];
  for (int i = 0; i < 3; i++) {
    file.size = 0;
    read_file(paths[i], &file);
    sizes[i] = file.size;
  }
  expect_names(&expected, 0, 300);
  cst_source *source = open_for_splits(paths, 3, CST_ON_ERROR_RAISE);
  for (int indexed = 0; indexed < 2; indexed++) {
    for (uint64_t target = 1; target < 20000; target = EVERY * (target * 3 + 200)) {
      cst_split_options options = CST_SPLIT_OPTIONS_INIT;
      options.target_bytes = target;
      options.format = target % 2 == 0 ? "example" : NULL;
      cst_splits *splits = plan(paths, 3, &options);
      check_cover(splits, sizes);
      check_splits(source, cst_splits_get(splits, 0), cst_splits_num_splits(splits), &expected);
      bool exact = indexed != 0 && sizes[0] > target;
      CHECK_EQ(cst_splits_get(splits, 0)->exact, exact);
      cst_splits_free(splits);
    }
    for (int i = 0; i < 3; i++) {
      save_index(paths[i]);
    }
  }
  cst_source_release(source);
  bytes_free(&file);
  bytes_free(&expected);
}

/* Nothing in the bytes says where a record of a delimited file begins: an index does. */
TEST(planned_splits_of_a_delimited_file) {
  bytes file = {0};
  bytes expected = {0};
  for (int i = 0; i < 300; i++) {
    bytes record = {0};
    text_of(&record, "r%" PRId64 "|", i);
    add_noise(&record, (size_t)(i * 37 % 200), (uint32_t)i + 1);
    put_varint(&file, record.size);
    bytes_add(&file, record.data, record.size);
    bytes_free(&record);
  }
  const char *path = write_bytes("plan.delimited", &file);
  expect_names(&expected, 0, 300);
  cst_source_options options = CST_SOURCE_OPTIONS_INIT;
  cst_index_options index_options = CST_INDEX_OPTIONS_INIT;
  cst_split_options split_options = CST_SPLIT_OPTIONS_INIT;
  options.format = "raw";
  options.container = index_options.container = split_options.container = "delimited";
  split_options.target_bytes = 1000;
  cst_source *source;
  cst_index *index;
  CHECK_EQ(cst_source_open(&path, 1, &options, &source, NULL), CST_OK);
  cst_splits *splits = plan(&path, 1, &split_options);
  CHECK_EQ(cst_splits_num_splits(splits), 1);
  cst_splits_free(splits);
  CHECK_EQ(cst_index_build(path, &index_options, &index, NULL), CST_OK);
  CHECK_EQ(cst_index_save(index, path, NULL), CST_OK);
  cst_index_free(index);
  splits = plan(&path, 1, &split_options);
  CHECK_EQ(cst_splits_num_splits(splits), (file.size + 999) / 1000);
  CHECK(cst_splits_get(splits, 1)->exact && cst_splits_get(splits, 1)->record > 0);
  check_findings(splits);
  check_cover(splits, &(uint64_t){file.size});
  check_splits(source, cst_splits_get(splits, 0), cst_splits_num_splits(splits), &expected);
  cst_splits_free(splits);
  check_cuts(source, path, (const uint64_t[3]){10, 20, CST_SPLIT_TO_END}, &expected);
  cst_source_release(source);
  bytes_free(&file);
  bytes_free(&expected);
}

/* The index of other data is none. */
TEST(planning_with_an_index_that_is_stale) {
  const char *path = write_raw("stale.tfrecord", 0, 100);
  save_index(path);
  path = write_raw("stale.tfrecord", 1, 90);
  cst_split_options options = CST_SPLIT_OPTIONS_INIT;
  options.target_bytes = 1000;
  cst_splits *splits = plan(&path, 1, &options);
  CHECK(cst_splits_num_splits(splits) > 1);
  CHECK(!cst_splits_get(splits, 0)->exact);
  cst_splits_free(splits);
}

TEST(files_that_are_not_divided) {
  static const char table[] = "a,b\n1,2\n3,4\n5,6\n7,8\n9,10\n";
  bytes file = {0};
  bytes packed = {0};
  add_nested_records(&file, 10);
  CHECK_EQ(add_compressed(&packed, CST_COMPRESSION_GZIP, file.data, file.size), CST_OK);
  const char *paths[3] = {write_bytes("not-0", &packed)};
  paths[1] = harness_temp_path("not-1.csv");
  harness_write_file(paths[1], table, sizeof table - 1);
  paths[2] = write_raw("not-2.gz", 0, 10); /* the name is believed: it is slower, and right */
  cst_split_options options = CST_SPLIT_OPTIONS_INIT;
  options.target_bytes = 10;
  cst_splits *splits = plan(paths, 3, &options);
  CHECK_EQ(cst_splits_num_splits(splits), 3);
  cst_splits_free(splits);
  options.container = "lines";
  splits = plan(&paths[1], 1, &options);
  CHECK_EQ(cst_splits_num_splits(splits), 3);
  cst_splits_free(splits);
  bytes_free(&file);
  bytes_free(&packed);
}

TEST(planning_that_fails) {
  const char *path = write_raw("fails.tfrecord", 0, 5);
  const char *missing = "there-is-none.tfrecord";
  const char *input = "-";
  const char *device = "/dev/null";
  cst_split_options options = CST_SPLIT_OPTIONS_INIT;
  cst_splits *splits = NULL;
  cst_error error = CST_ERROR_INIT;
  CHECK_EQ(cst_splits_plan(&missing, 1, NULL, &splits, &error), CST_NOT_FOUND);
  CHECK_EQ(cst_splits_plan(&input, 1, NULL, &splits, &error), CST_UNSUPPORTED);
  CHECK_EQ(cst_splits_plan(&device, 1, NULL, &splits, &error), CST_UNSUPPORTED);
  CHECK_EQ(cst_splits_plan(NULL, 1, NULL, &splits, &error), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_splits_plan(&path, 1, NULL, NULL, &error), CST_INVALID_ARGUMENT);
  options.target_bytes = 1;
  options.container = "tfrecords";
  CHECK_EQ(cst_splits_plan(&path, 1, &options, &splits, &error), CST_NOT_FOUND);
  options.container = NULL;
  options.format = "exmple";
  CHECK_EQ(cst_splits_plan(&path, 1, &options, &splits, &error), CST_NOT_FOUND);
  options.cut = (cst_split_cut)7;
  CHECK_EQ(cst_splits_plan(&path, 1, &options, &splits, &error), CST_INVALID_ARGUMENT);
  CHECK(splits == NULL);
  CHECK_EQ(cst_splits_plan(NULL, 0, NULL, &splits, &error), CST_OK);
  CHECK_EQ(cst_splits_num_splits(splits), 0);
  check_findings(splits);
  cst_splits_free(splits);
}

/* ---- memory ---- */

static int plan_and_read(void *context) {
  const char *path = context;
  cst_split_options options = CST_SPLIT_OPTIONS_INIT;
  cst_splits *splits = NULL;
  cst_source *source = NULL;
  cst_source *part = NULL;
  cst_error error = CST_ERROR_INIT;
  cst_source_options from = CST_SOURCE_OPTIONS_INIT;
  from.format = "raw";
  options.target_bytes = 2000;
  cst_status status = cst_splits_plan((const char *const *)&path, 1, &options, &splits, &error);
  if (status == CST_OK) {
    status = cst_source_open((const char *const *)&path, 1, &from, &source, &error);
  }
  if (status == CST_OK) {
    status = cst_source_read_splits(source, cst_splits_get(splits, 1), 1, &part, &error);
  }
  cst_source_release(part);
  cst_source_release(source);
  cst_splits_free(splits);
  return status;
}

TEST(without_memory) {
  const char *path = write_raw("memory.tfrecord", 0, 100);
  FOR_EACH_ALLOCATION_FAILURE(plan_and_read, (void *)(uintptr_t)path, CST_NO_MEMORY);
  save_index(path);
  FOR_EACH_ALLOCATION_FAILURE(plan_and_read, (void *)(uintptr_t)path, CST_NO_MEMORY);
}
