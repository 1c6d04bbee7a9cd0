/* Surveys: every row once, in order and with its place; what a lenient one gets past, and what ends
 * a strict one.
 */
#include "source/scan/survey.h"

#include "source_support.h"

typedef struct seen {
  bytes rows;    /* "file record" of each row */
  bytes dropped; /* "kind record" of each */
  int64_t visits;
  int64_t stop_after; /* visits; 0: never */
  bool refuse;        /* what is dropped */
} seen;

static cst_status on_batch(void *ctx, const cst__survey *survey, const struct ArrowSchema *schema,
                           const struct ArrowArray *batch, cst_error *error) {
  seen *s = ctx;
  CHECK_EQ(schema->n_children, batch->n_children);
  for (int64_t row = 0; row < batch->length; row++) {
    cst_error place = CST_ERROR_INIT;
    cst__survey_locate(survey, (size_t)row, &place);
    CHECK(place.offset >= 0);
    bytes_add(&s->rows, &place.file[strlen(place.file) - 1], 1);
    text_of(&s->rows, "%" PRId64 " ", place.record);
  }
  s->visits++;
  return s->visits == s->stop_after ? cst__fail(error, CST_STATE, NULL, "enough") : CST_OK;
}

static bool on_dropped(void *ctx, const cst_dropped *dropped) {
  seen *s = ctx;
  bytes_add(&s->dropped, dropped->kind, strlen(dropped->kind));
  text_of(&s->dropped, " %" PRId64 "; ", dropped->record);
  CHECK_STR(dropped->file, dropped->error->file);
  return !s->refuse;
}

static cst_status run(const char *const *paths, size_t count, int threads, bool lenient, seen *s,
                      cst_error *error) {
  cst_source_options source_options = CST_SOURCE_OPTIONS_INIT;
  cst__survey_options options = {.lenient = lenient,
                                 .on_batch = on_batch,
                                 .on_dropped = on_dropped,
                                 .ctx = s,
                                 .work = "the test"};
  cst_source *source;
  source_options.threads = threads;
  CST__TRY(cst_source_open(paths, count, &source_options, &source, error));
  cst_status status = cst__source_survey(source, &options, error);
  cst_source_release(source);
  bytes_add(&s->rows, "", 1);
  bytes_add(&s->dropped, "", 1);
  return status;
}

static void reset(seen *s) {
  bytes_free(&s->rows);
  bytes_free(&s->dropped);
}

TEST(every_row_has_its_place) {
  const char *paths[] = {write_examples("file_a", 0, 5000), write_examples("file_b", 0, 3000)};
  bytes expected = {0};
  for (int i = 0; i < 8000; i++) {
    bytes_add(&expected, i < 5000 ? "a" : "b", 1);
    text_of(&expected, "%" PRId64 " ", i % 5000);
  }
  bytes_add(&expected, "", 1);
  for (int i = 0; i < 4; i++) {
    seen s = {.visits = 0};
    CHECK_EQ(run(paths, 2, i % 2 == 0 ? 1 : 3, i / 2 == 1, &s, NULL), CST_OK);
    CHECK_STR((const char *)s.rows.data, (const char *)expected.data);
    CHECK_STR((const char *)s.dropped.data, "");
    reset(&s);
  }
  bytes_free(&expected);
}

/* Twelve records: 3 has another type, 5 does not parse, the bytes of 8 are damaged. */
static const char *write_damaged(void) {
  bytes file = {0};
  bytes features = {0};
  bytes record = {0};
  put_float(&features, "id", 1);
  put_field(&record, 1, features.data, features.size);
  add_examples(&file, 0, 3);
  bytes_add_record(&file, record.data, record.size);
  add_examples(&file, 4, 5);
  bytes_add_record(&file, "\x0a\xff", 2);
  add_examples(&file, 6, 12);
  file.data[record_offset(&file, 8) + 20] ^= 1;
  const char *path = write_bytes("file_c", &file);
  bytes_free(&file);
  bytes_free(&features);
  bytes_free(&record);
  return path;
}

TEST(a_lenient_survey_gets_past_damage_and_types) {
  const char *path = write_damaged();
  for (int threads = 1; threads <= 3; threads += 2) {
    seen s = {.visits = 0};
    CHECK_EQ(run(&path, 1, threads, true, &s, NULL), CST_OK);
    CHECK_STR((const char *)s.rows.data, "c0 c1 c2 c3 c4 c6 c7 c9 c10 c11 ");
    CHECK_STR((const char *)s.dropped.data, "record 5; data-crc 8; ");
    reset(&s);
    seen refusing = {.refuse = true};
    CHECK_EQ(run(&path, 1, threads, true, &refusing, NULL), CST_CALLBACK);
    reset(&refusing);
  }
}

TEST(a_strict_survey_ends_at_a_failure) {
  const char *path = write_damaged();
  cst_error error = CST_ERROR_INIT;
  seen s = {.visits = 0};
  CHECK_EQ(run(&path, 1, 1, false, &s, &error), CST_CORRUPT);
  CHECK_STR(error.file, path);
  CHECK_EQ(s.visits, 0);
  reset(&s);
}

TEST(the_visitor_can_end_it) {
  const char *path = write_examples("file_d", 0, 20000);
  for (int i = 0; i < 4; i++) {
    cst_error error = CST_ERROR_INIT;
    seen s = {.stop_after = 2};
    CHECK_EQ(run(&path, 1, i % 2 == 0 ? 1 : 3, i / 2 == 1, &s, &error), CST_STATE);
    CHECK_STR(error.message, "enough");
    CHECK_EQ(s.visits, 2);
    reset(&s);
  }
}
