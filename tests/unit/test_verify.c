/* Counting and verifying: totals, every kind of fault with its place, and going on behind faults.
 */
#include <columnstone/index.h>
#include <limits.h>

#include "schema/schema.h"
#include "source_support.h"

typedef struct seen {
  int files;
  uint64_t records;
  uint64_t record_bytes;
  uint64_t stream_bytes;
  uint64_t file_bytes;
  size_t faults;
  char kinds[256];
  cst_error first;
  cst_error last;
} seen;

/* Frees the findings. */
static void look_at_files(seen *s, cst_findings *files) {
  CHECK_STR(cst_findings_name(files), "files");
  s->files = (int)cst_findings_num_rows(files);
  s->records = (uint64_t)cst_findings_total(files, "records");
  s->record_bytes = (uint64_t)cst_findings_total(files, "record_bytes");
  s->stream_bytes = (uint64_t)cst_findings_total(files, "stream_bytes");
  s->file_bytes = (uint64_t)cst_findings_total(files, "file_bytes");
  cst_findings_free(files);
}

/* A number that is not known is -1. */
static cst_error fault_at(const cst_findings *faults, size_t i) {
  cst_error error = CST_ERROR_INIT;
  const char *code = cst_findings_text(faults, "code", i);
  const char *path = cst_findings_text(faults, "path", i);
  for (int c = CST_OK; strcmp(cst_status_name(error.code), code) != 0; c++) {
    error.code = (cst_status)c;
  }
  error.record = cst_findings_number(faults, "record", i);
  error.offset = cst_findings_number(faults, "offset", i);
  (void)snprintf(error.path, sizeof error.path, "%s", path != NULL ? path : "");
  (void)snprintf(error.file, sizeof error.file, "%s", cst_findings_text(faults, "file", i));
  return error;
}

/* The same. */
static void look_at_faults(seen *s, cst_findings *faults) {
  size_t rows = cst_findings_num_rows(faults);
  CHECK_STR(cst_findings_name(faults), "faults");
  s->faults = (size_t)cst_findings_total(faults, "num_faults");
  CHECK_EQ(s->faults - rows, (uint64_t)cst_findings_total(faults, "left_out"));
  for (size_t i = 0; i < rows; i++) {
    cst_error error = fault_at(faults, i);
    s->first = i == 0 ? error : s->first;
    s->last = error;
    (void)snprintf(s->kinds + strlen(s->kinds), sizeof s->kinds - strlen(s->kinds),
                   "%s@%" PRId64 " ", cst_findings_text(faults, "kind", i), error.record);
  }
  cst_findings_free(faults);
}

/* Counts, or verifies by the options. */
static cst_status look(cst_source *source, bool counts, const cst_verify_options *options, seen *s,
                       cst_error *error) {
  cst_findings *faults = NULL;
  cst_findings *files = NULL;
  *s = (seen){0};
  cst_status status = counts ? cst_source_count(source, NULL, NULL, &files, error)
                             : cst_source_verify(source, options, &faults, &files, error);
  look_at_files(s, files);
  if (!counts) {
    look_at_faults(s, faults);
  }
  return status;
}

static cst_source *open_source(const char *const *paths, size_t count, const cst_schema *schema) {
  cst_source_options options = CST_SOURCE_OPTIONS_INIT;
  options.schema = schema;
  cst_source *source = NULL;
  CHECK_EQ(cst_source_open(paths, count, &options, &source, NULL), CST_OK);
  return source;
}

static seen verify(const char *path, const cst_schema *schema) {
  seen s;
  cst_source *source = open_source(&path, 1, schema);
  CHECK_EQ(look(source, false, NULL, &s, NULL), CST_OK);
  CHECK_EQ(s.files, 1);
  cst_source_release(source);
  return s;
}

static seen verify_bytes(const bytes *file) { return verify(write_bytes("verify", file), NULL); }

TEST(totals) {
  bytes plain = {0};
  bytes packed = {0};
  add_examples(&plain, 0, 1000);
  CHECK_EQ(add_compressed(&packed, CST_COMPRESSION_GZIP, plain.data, plain.size), CST_OK);
  const char *paths[] = {write_bytes("t0", &plain), write_bytes("t1", &packed),
                         write_examples("t2", 0, 0)};
  cst_source *source = open_source(paths, 3, NULL);
  for (int way = 0; way < 2; way++) {
    seen s;
    CHECK_EQ(look(source, way == 0, NULL, &s, NULL), CST_OK);
    CHECK_EQ(s.files, 3);
    CHECK_EQ(s.faults, 0);
    CHECK_EQ(s.records, 2000);
    CHECK_EQ(s.stream_bytes, 2 * plain.size);
    CHECK_EQ(s.record_bytes, 2 * plain.size - 2000 * 16);
    CHECK_EQ(s.file_bytes, plain.size + packed.size);
  }
  cst_source_release(source);
  bytes_free(&plain);
  bytes_free(&packed);
}

TEST(count_stops_at_the_first_failure) {
  bytes file = {0};
  add_examples(&file, 0, 20);
  file.size -= 1;
  const char *paths[] = {write_examples("s0", 0, 5), write_bytes("s1", &file),
                         write_examples("s2", 0, 5)};
  cst_source *source = open_source(paths, 3, NULL);
  seen s;
  cst_error error = CST_ERROR_INIT;
  CHECK_EQ(look(source, true, NULL, &s, &error), CST_CORRUPT);
  CHECK_EQ(s.files, 1);
  CHECK_STR(error.file, paths[1]);
  CHECK_EQ(error.record, 19);
  cst_source_release(source);
  bytes_free(&file);
}

TEST(large_records_are_counted_without_being_read) {
  bytes file = {0};
  bytes noise = {0};
  add_noise(&noise, 200000, 1);
  for (int i = 0; i < 30; i++) {
    bytes_add_record(&file, noise.data, (size_t)(i % 3 == 0 ? 100 : 200000));
  }
  const char *path = write_bytes("large", &file);
  cst_source *source = open_source(&path, 1, NULL);
  seen s;
  CHECK_EQ(look(source, true, NULL, &s, NULL), CST_OK);
  CHECK_EQ(s.records, 30);
  CHECK_EQ(s.stream_bytes, file.size);
  CHECK_EQ(s.file_bytes, file.size);
  cst_source_release(source);
  bytes_free(&file);
  bytes_free(&noise);
}

/* ---- faults ---- */

TEST(every_damaged_record_is_found) {
  bytes file = {0};
  add_examples(&file, 0, 100);
  int64_t offset = (int64_t)record_offset(&file, 98);
  static const int damaged[] = {0, 7, 8, 50, 98};
  for (size_t i = 0; i < 5; i++) {
    file.data[record_offset(&file, damaged[i]) + 15] ^= 16;
  }
  seen s = verify_bytes(&file);
  CHECK_STR(s.kinds, "data-crc@0 data-crc@7 data-crc@8 data-crc@50 data-crc@98 ");
  CHECK_EQ(s.records, 100);
  CHECK_EQ(s.last.offset, offset);
  CHECK_EQ(s.last.code, CST_CORRUPT);
  CHECK_CONTAINS(s.last.file, "verify");
  bytes_free(&file);
}

/* Beyond max_faults they are counted only; NULL is 1000. */
TEST(faults_are_told_up_to_a_bound) {
  bytes file = {0};
  seen s;
  cst_verify_options options = CST_VERIFY_OPTIONS_INIT;
  add_examples(&file, 0, 1100);
  for (int i = 0; i < 1100; i++) {
    file.data[record_offset(&file, i) + 15] ^= 16;
  }
  const char *path = write_bytes("bound", &file);
  cst_source *source = open_source(&path, 1, NULL);
  options.max_faults = 2;
  CHECK_EQ(look(source, false, &options, &s, NULL), CST_OK);
  CHECK_STR(s.kinds, "data-crc@0 data-crc@1 ");
  CHECK_EQ(s.faults, 1100);
  CHECK_EQ(s.records, 1100);
  CHECK_EQ(look(source, false, NULL, &s, NULL), CST_OK);
  CHECK_EQ(s.last.record, 999);
  CHECK_EQ(s.faults, 1100);
  cst_source_release(source);
  bytes_free(&file);
}

/* What was found before a failure is there. */
TEST(a_failure_keeps_what_was_found) {
  bytes file = {0};
  seen s;
  cst_error error = CST_ERROR_INIT;
  add_examples(&file, 0, 20);
  file.data[record_offset(&file, 3) + 15] ^= 16;
  const char *paths[] = {write_bytes("kept", &file), write_examples("gone", 0, 5)};
  cst_source *source = open_source(paths, 2, NULL);
  CHECK_EQ(remove(paths[1]), 0);
  CHECK_EQ(look(source, false, NULL, &s, &error), CST_NOT_FOUND);
  CHECK_CONTAINS(error.file, "gone");
  CHECK_STR(s.kinds, "data-crc@3 ");
  CHECK_EQ(s.files, 1);
  cst_source_release(source);
  bytes_free(&file);
}

TEST(a_damaged_length_is_one_fault) {
  bytes file = {0};
  add_examples(&file, 0, 100);
  file.data[record_offset(&file, 3) + 15] ^= 1;
  file.data[record_offset(&file, 40) + 2] ^= 1;
  seen s = verify_bytes(&file);
  CHECK_STR(s.kinds, "data-crc@3 length-crc@40 ");
  CHECK_EQ(s.records, 99);
  CHECK_EQ(s.stream_bytes, file.size);
  bytes_free(&file);
}

TEST(a_cut_at_any_byte_is_a_fault) {
  bytes file = {0};
  add_examples(&file, 0, 3);
  size_t ends[] = {0, record_offset(&file, 1), record_offset(&file, 2), file.size};
  size_t size = file.size;
  for (file.size = 0; file.size <= size; file.size++) {
    seen s = verify_bytes(&file);
    bool whole = false;
    for (int i = 0; i < 4; i++) {
      whole = whole || file.size == ends[i];
    }
    CHECK_EQ(s.faults, whole ? 0 : 1);
    if (!whole) {
      CHECK(file.size < 12 || strncmp(s.kinds, "truncated@", 10) == 0);
    }
  }
  bytes_free(&file);
}

TEST(records_that_do_not_parse) {
  bytes file = {0};
  add_examples(&file, 0, 10);
  bytes_add_record(&file, "\x0a\x7f", 2);
  add_examples(&file, 11, 20);
  bytes_add_record(&file, "\xff\xff\xff", 3);
  bytes_add_record(&file, "\xff\xff\xff", 3);
  add_examples(&file, 22, 30);
  seen s = verify_bytes(&file);
  CHECK_STR(s.kinds, "record@10 record@20 record@21 ");
  CHECK_EQ(s.records, 30);
  CHECK_EQ(s.first.offset, record_offset(&file, 10));
  bytes_free(&file);
}

static void add_text_id(bytes *file) {
  bytes features = {0};
  bytes record = {0};
  put_text(&features, "id", "text");
  put_field(&record, 1, features.data, features.size);
  bytes_add_record(file, record.data, record.size);
  bytes_free(&features);
  bytes_free(&record);
}

TEST(types_count_only_against_a_schema) {
  static const char text[] = "feature { name: 'id' type: INT }";
  bytes file = {0};
  for (int i = 0; i < 30; i++) {
    add_examples(&file, i, i + 1);
    add_text_id(&file);
  }
  seen s = verify_bytes(&file);
  CHECK_STR(s.kinds, "");
  CHECK_EQ(s.records, 60);
  cst_schema *schema;
  CHECK_EQ(cst_schema_from_text(text, sizeof text - 1, &schema, NULL), CST_OK);
  s = verify(write_bytes("verify", &file), schema);
  CHECK_EQ(s.faults, 30);
  CHECK_STR(s.first.path, "id");
  CHECK_EQ(s.first.record, 1);
  CHECK_EQ(s.last.record, 59);
  cst_schema_release(schema);
  bytes_free(&file);
}

TEST(damaged_compression) {
  bytes plain = {0};
  bytes packed = {0};
  add_examples(&plain, 0, 10000);
  CHECK_EQ(add_compressed(&packed, CST_COMPRESSION_GZIP, plain.data, plain.size), CST_OK);
  packed.data[packed.size - 6] ^= 1; /* the member's CRC */
  seen s = verify_bytes(&packed);
  CHECK_CONTAINS(s.kinds, "compression@10000");
  packed.size /= 2;
  s = verify_bytes(&packed);
  CHECK_CONTAINS(s.kinds, "compression@");
  bytes_free(&plain);
  bytes_free(&packed);
}

TEST(other_formats) {
  bytes file = {0};
  bytes_add(&file, "<!DOCTYPE html><html></html>", 28);
  seen s = verify_bytes(&file);
  CHECK_STR(s.kinds, "format@0 ");
  CHECK_EQ(s.first.code, CST_FORMAT);
  bytes_free(&file);
}

/* ---- Arrow streams without their end marker ---- */

/* A stream of Arrow, and the same without the eight bytes of its marker. */
static void write_streams(char names[2][PATH_MAX]) {
  enum { MARKER = 8 };
  uint8_t data[4096];
  FILE *stream = fopen("fuzz/corpus/ipc/good_simple_stream_lz4", "rb");
  CHECK(stream != NULL);
  size_t size = fread(data, 1, sizeof data, stream);
  CHECK(fclose(stream) == 0 && size > MARKER && size < sizeof data);
  bytes file = {0};
  bytes_add(&file, data, size);
  (void)snprintf(names[0], PATH_MAX, "%s", write_bytes("marked", &file));
  file.size -= MARKER;
  (void)snprintf(names[1], PATH_MAX, "%s", write_bytes("unmarked", &file));
  bytes_free(&file);
}

typedef struct warned {
  size_t count;
  bool goes_on;
} warned;

static bool on_warning(void *ctx, const cst_error *warning) {
  warned *w = ctx;
  w->count++;
  CHECK_EQ(warning->code, CST_CORRUPT);
  CHECK_CONTAINS(warning->file, "unmarked");
  CHECK_CONTAINS(warning->message, "end marker");
  return w->goes_on;
}

static cst_source *open_streams(warned *w) {
  char names[2][PATH_MAX];
  write_streams(names);
  const char *const paths[] = {names[0], names[1], names[0]};
  cst_source_options options = CST_SOURCE_OPTIONS_INIT;
  cst_source *source = NULL;
  options.on_warning = on_warning;
  options.warning_ctx = w;
  CHECK_EQ(cst_source_open(paths, 3, &options, &source, NULL), CST_OK);
  return source;
}

static cst_status run_pass(cst_source *source, cst_error *error) {
  struct ArrowArray batch = {.release = NULL};
  cst_pass *pass;
  CST__TRY(cst_pass_new(source, &pass, error));
  cst_status status;
  do {
    if (batch.release != NULL) {
      batch.release(&batch);
    }
    status = cst_pass_next(pass, &batch, error);
  } while (batch.release != NULL);
  cst_pass_free(pass);
  return status;
}

TEST(a_stream_without_its_end_marker_is_a_fault) {
  warned w = {.goes_on = true};
  seen s;
  cst_source *source = open_streams(&w);
  CHECK_EQ(look(source, false, NULL, &s, NULL), CST_OK);
  CHECK_EQ(s.faults, 1);
  CHECK_STR(s.kinds, "truncated@-1 ");
  CHECK_CONTAINS(s.first.file, "unmarked");
  CHECK_EQ(s.records, 15);
  CHECK_EQ(w.count, 0);
  cst_source_release(source);
}

TEST(a_stream_without_its_end_marker_is_told_of_once) {
  warned w = {.goes_on = true};
  seen s;
  cst_source *source = open_streams(&w);
  cst_source *part = NULL;
  CHECK_EQ(run_pass(source, NULL), CST_OK);
  CHECK_EQ(w.count, 1);
  CHECK_EQ(run_pass(source, NULL), CST_OK);
  CHECK_EQ(look(source, true, NULL, &s, NULL), CST_OK);
  CHECK_EQ(cst_source_split(source, 1, 3, &part, NULL), CST_OK);
  CHECK_EQ(run_pass(part, NULL), CST_OK);
  CHECK_EQ(w.count, 1);
  cst_source_release(part);
  cst_source_release(source);
}

TEST(a_warning_can_stop_a_pass) {
  warned w = {.goes_on = false};
  cst_error error = CST_ERROR_INIT;
  cst_source *source = open_streams(&w);
  CHECK_EQ(run_pass(source, &error), CST_CALLBACK);
  CHECK_CONTAINS(error.file, "unmarked");
  CHECK_EQ(w.count, 1);
  cst_source_release(source);
}

static bool stop(void *ctx, uint64_t bytes_read, uint64_t records) {
  (void)ctx;
  return bytes_read == 0 || records == 0;
}

static const cst_verify_options stopping = {sizeof(cst_verify_options), 0, stop, NULL};

TEST(progress_can_stop_it) {
  bytes file = {0};
  bytes noise = {0};
  bytes features = {0};
  bytes record = {0};
  add_noise(&noise, 500000, 1);
  for (size_t i = 0; i < noise.size; i++) {
    noise.data[i] = (uint8_t)('a' + noise.data[i]);
  }
  bytes_add(&noise, "", 1);
  put_text(&features, "s", (const char *)noise.data);
  put_field(&record, 1, features.data, features.size);
  for (int i = 0; i < 40; i++) {
    bytes_add_record(&file, record.data, record.size);
  }
  const char *path = write_bytes("stop", &file);
  cst_source *source = open_source(&path, 1, NULL);
  seen s;
  CHECK_EQ(look(source, false, &stopping, &s, NULL), CST_CALLBACK);
  cst_source_release(source);
  bytes_free(&file);
  bytes_free(&noise);
  bytes_free(&features);
  bytes_free(&record);
}

/* ---- threads ---- */

/* Verifies with so many threads, with or without a callback that stops it. */
static cst_status verify_with(const char *const *paths, size_t count, int32_t threads,
                              const cst_verify_options *verifying, seen *s) {
  cst_source_options options = CST_SOURCE_OPTIONS_INIT;
  cst_source *source;
  options.threads = threads;
  CHECK_EQ(cst_source_open(paths, count, &options, &source, NULL), CST_OK);
  cst_status status = look(source, false, verifying, s, NULL);
  cst_source_release(source);
  return status;
}

static void check_same_verdict(const char *const *paths, size_t count) {
  seen one;
  CHECK_EQ(verify_with(paths, count, 1, NULL, &one), CST_OK);
  for (int32_t threads = 2; threads <= 5; threads++) {
    seen many;
    CHECK_EQ(verify_with(paths, count, threads, NULL, &many), CST_OK);
    CHECK_EQ(many.files, one.files);
    CHECK_EQ(many.records, one.records);
    CHECK_EQ(many.record_bytes, one.record_bytes);
    CHECK_EQ(many.stream_bytes, one.stream_bytes);
    CHECK_EQ(many.file_bytes, one.file_bytes);
    CHECK_STR(many.kinds, one.kinds);
  }
}

TEST(threads_find_what_one_finds) {
  bytes file = {0};
  bytes packed = {0};
  add_examples(&file, 0, 100000);
  CHECK(file.size > 5 << 20);
  CHECK_EQ(add_compressed(&packed, CST_COMPRESSION_GZIP, file.data, file.size), CST_OK);
  const char *paths[] = {write_bytes("big", &file), write_examples("none", 0, 0),
                         write_examples("small", 0, 10), write_bytes("packed", &packed)};
  check_same_verdict(paths, 3);
  check_same_verdict(paths, 4);
  file.data[record_offset(&file, 70000) + 3] ^= 1;
  file.data[record_offset(&file, 20000) + 30] ^= 1;
  paths[0] = write_bytes("big", &file);
  check_same_verdict(paths, 3);
  file.data[record_offset(&file, 20000) + 30] ^= 1;
  file.size -= 2;
  paths[0] = write_bytes("big", &file);
  check_same_verdict(paths, 4);
  bytes_free(&file);
  bytes_free(&packed);
}

/* Files within records: what looks like the begin of a part may lie in one. */
TEST(threads_are_not_led_astray_by_records_within_records) {
  bytes inner = {0};
  bytes file = {0};
  bytes features = {0};
  bytes record = {0};
  bytes list = {0};
  add_examples(&inner, 0, 60000);
  put_field(&list, 1, inner.data, inner.size);
  put_feature(&features, "file", 1, &list);
  put_field(&record, 1, features.data, features.size);
  for (int i = 0; i < 3; i++) {
    bytes_add_record(&file, record.data, record.size);
  }
  const char *path = write_bytes("within", &file);
  check_same_verdict(&path, 1);
  bytes_free(&inner);
  bytes_free(&file);
  bytes_free(&features);
  bytes_free(&record);
  bytes_free(&list);
}

TEST(progress_stops_threads_too) {
  bytes some = {0};
  bytes file = {0};
  add_examples(&some, 0, 10000);
  while (file.size < 48 << 20) {
    bytes_add(&file, some.data, some.size);
  }
  const char *path = write_bytes("stop", &file);
  seen s;
  CHECK_EQ(verify_with(&path, 1, 2, &stopping, &s), CST_CALLBACK);
  CHECK_EQ(s.files, 0);
  bytes_free(&some);
  bytes_free(&file);
}

/* ---- memory ---- */

static int verify_scenario(void *ctx) {
  const char *const *paths = ctx;
  cst_source *source;
  cst_findings *faults;
  cst_findings *files;
  CST__TRY(cst_source_open(paths, 2, NULL, &source, NULL));
  cst_status status = cst_source_verify(source, NULL, &faults, &files, NULL);
  cst_findings_free(faults);
  cst_findings_free(files);
  cst_source_release(source);
  return (int)status;
}

TEST(every_allocation_failure_is_reported) {
  bytes file = {0};
  add_examples(&file, 0, 20);
  add_text_id(&file);
  file.data[record_offset(&file, 7) + 15] ^= 1;
  const char *paths[] = {write_bytes("oom0", &file), write_examples("oom1", 0, 5)};
  FOR_EACH_ALLOCATION_FAILURE(verify_scenario, (void *)paths, CST_NO_MEMORY);
  bytes_free(&file);
}
