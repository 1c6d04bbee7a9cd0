/* Folds: every row once, in order and with its place, for every number of threads; what a lenient
 * one gets past, and what ends a strict one. The accumulators are the test's own.
 */
#include "source/scan/fold.h"

#include "source_support.h"

/* How a run goes, and what it saw. */
typedef struct seen {
  bytes rows;         /* "file record" of each row */
  bytes dropped;      /* "kind record" of each */
  int64_t stop_after; /* rows of a file; 0: never */
  bool refuse;        /* what is dropped */
} seen;

/* An accumulator that writes down where the rows are. Its plan is a `seen`, and so is its state. */
static cst_status places_create(const void *plan, const cst_allocator *allocator, void **out,
                                cst_error *error) {
  const seen *how = plan;
  seen *s = cst__new_zero(allocator, sizeof *s);
  if (s == NULL) {
    return cst__fail_memory(error, sizeof *s);
  }
  s->stop_after = how->stop_after;
  s->refuse = how->refuse;
  *out = s;
  return CST_OK;
}

static void places_free(void *state) {
  seen *s = state;
  if (s != NULL) {
    bytes_free(&s->rows);
    bytes_free(&s->dropped);
    cst__delete(s);
  }
}

static cst_status places_add(void *state, const cst__view *batch, const cst__origin *origin,
                             cst_error *error) {
  seen *s = state;
  for (int64_t row = 0; row < batch->length; row++) {
    cst__place place = cst__origin_place(origin, row);
    CHECK(place.offset >= 0);
    bytes_add(&s->rows, &place.file[strlen(place.file) - 1], 1);
    text_of(&s->rows, "%" PRId64 " ", place.record);
    if (s->stop_after > 0 && place.record == s->stop_after) {
      return cst__fail(error, CST_STATE, NULL, "enough");
    }
  }
  return CST_OK;
}

static cst_status places_add_lost(void *state, const cst__lost *lost, cst_error *error) {
  seen *s = state;
  bytes_add(&s->dropped, lost->kind, strlen(lost->kind));
  text_of(&s->dropped, " %" PRId64 "; ", lost->error->record);
  return s->refuse ? cst__fail(error, CST_CALLBACK, NULL, "refused") : CST_OK;
}

static cst_status places_merge(void *into, const void *from, cst_error *error) {
  seen *s = into;
  const seen *next = from;
  (void)error;
  bytes_add(&s->rows, next->rows.data, next->rows.size);
  bytes_add(&s->dropped, next->dropped.data, next->dropped.size);
  return CST_OK;
}

static const cst__accumulator places = {.name = "places",
                                        .version = 1,
                                        .purpose = "look at",
                                        .create = places_create,
                                        .free = places_free,
                                        .add = places_add,
                                        .add_lost = places_add_lost,
                                        .merge = places_merge};

/* Another one, in the same pass: it counts rows, and does not care for what is lost. */
static cst_status count_create(const void *plan, const cst_allocator *allocator, void **out,
                               cst_error *error) {
  (void)plan;
  *out = cst__new_zero(allocator, sizeof(int64_t));
  return *out != NULL ? CST_OK : cst__fail_memory(error, sizeof(int64_t));
}

static cst_status count_add(void *state, const cst__view *batch, const cst__origin *origin,
                            cst_error *error) {
  (void)origin;
  (void)error;
  *(int64_t *)state += batch->length;
  return CST_OK;
}

static cst_status count_merge(void *into, const void *from, cst_error *error) {
  (void)error;
  *(int64_t *)into += *(const int64_t *)from;
  return CST_OK;
}

static const cst__accumulator row_count = {.name = "row-count",
                                           .version = 1,
                                           .purpose = "count",
                                           .create = count_create,
                                           .free = cst__delete,
                                           .add = count_add,
                                           .merge = count_merge};

static int64_t count_rows(const bytes *rows) {
  int64_t count = 0;
  for (size_t i = 0; i < rows->size; i++) {
    count += rows->data[i] == ' ';
  }
  return count;
}

static cst_status run(const char *const *paths, size_t count, int threads, bool lenient, seen *s,
                      cst_error *error) {
  cst_source_options source_options = CST_SOURCE_OPTIONS_INIT;
  cst__fold_options options = {.lenient = lenient, .work = "the test"};
  cst__accumulation both[] = {{&places, s, NULL}, {&row_count, NULL, NULL}};
  cst_source *source;
  source_options.threads = threads;
  CST__TRY(cst_source_open(paths, count, &source_options, &source, error));
  for (size_t i = 0; i < 2; i++) {
    CHECK_EQ(both[i].accumulator->create(both[i].plan, NULL, &both[i].state, NULL), CST_OK);
  }
  cst_status status = cst__source_fold(source, &options, both, 2, error);
  cst_source_release(source);
  const seen *found = both[0].state;
  if (status == CST_OK) {
    CHECK_EQ(*(int64_t *)both[1].state, count_rows(&found->rows));
  }
  bytes_add(&s->rows, found->rows.data, found->rows.size);
  bytes_add(&s->dropped, found->dropped.data, found->dropped.size);
  bytes_add(&s->rows, "", 1);
  bytes_add(&s->dropped, "", 1);
  places_free(both[0].state);
  cst__delete(both[1].state);
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
    seen s = {.stop_after = 0};
    CHECK_EQ(run(paths, 2, i % 2 == 0 ? 1 : 7, i / 2 == 1, &s, NULL), CST_OK);
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

TEST(a_lenient_fold_gets_past_damage_and_types) {
  const char *path = write_damaged();
  for (int threads = 1; threads <= 3; threads += 2) {
    seen s = {.stop_after = 0};
    CHECK_EQ(run(&path, 1, threads, true, &s, NULL), CST_OK);
    CHECK_STR((const char *)s.rows.data, "c0 c1 c2 c3 c4 c6 c7 c9 c10 c11 ");
    CHECK_STR((const char *)s.dropped.data, "record 5; data-crc 8; ");
    reset(&s);
    seen refusing = {.refuse = true};
    CHECK_EQ(run(&path, 1, threads, true, &refusing, NULL), CST_CALLBACK);
    reset(&refusing);
  }
}

TEST(a_strict_fold_ends_at_a_failure) {
  const char *path = write_damaged();
  cst_error error = CST_ERROR_INIT;
  seen s = {.stop_after = 0};
  CHECK_EQ(run(&path, 1, 1, false, &s, &error), CST_CORRUPT);
  CHECK_STR(error.file, path);
  CHECK_STR((const char *)s.rows.data, "");
  reset(&s);
}

TEST(an_accumulator_can_end_it) {
  const char *path = write_examples("file_d", 0, 20000);
  for (int i = 0; i < 4; i++) {
    cst_error error = CST_ERROR_INIT;
    seen s = {.stop_after = 2000};
    CHECK_EQ(run(&path, 1, i % 2 == 0 ? 1 : 3, i / 2 == 1, &s, &error), CST_STATE);
    CHECK_STR(error.message, "enough");
    reset(&s);
  }
}
