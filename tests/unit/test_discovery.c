/* What is found out about a source by reading it holds up nobody who does not need it; and an input
 * that asks its own source gets an answer or an error, never silence.
 */
#include <columnstone/index.h>
#include <pthread.h>

#include "source_support.h"

/* A reader that does something before it reads. */
typedef struct curious {
  memory memory;
  void (*before)(struct curious *reader);
  cst_source *source;
  pthread_mutex_t lock; /* guards all below */
  pthread_cond_t change;
  bool is_reading;
  bool may_read;
  int refused; /* answers of CST_STATE */
  int other;   /* others */
} curious;

static cst_status read_curious(void *ctx, uint64_t offset, void *buffer, size_t size, size_t *got,
                               cst_error *error) {
  curious *c = ctx;
  if (c->before != NULL) {
    c->before(c);
  }
  return memory_read(&c->memory, offset, buffer, size, got, error);
}

static void open_curious(curious *c, const bytes *file, const char *format, int32_t threads) {
  *c = (curious){.memory = {.data = file->data, .size = file->size}};
  pthread_mutex_init(&c->lock, NULL);
  pthread_cond_init(&c->change, NULL);
  cst_reader reader = {.size = sizeof reader,
                       .name = "curious",
                       .read_at = read_curious,
                       .ctx = c,
                       .can_seek = true};
  cst_source_options options = CST_SOURCE_OPTIONS_INIT;
  options.format = format;
  options.threads = threads;
  CHECK_EQ(cst_source_open_readers(&reader, 1, &options, &c->source, NULL), CST_OK);
}

static void close_curious(curious *c) {
  cst_source_release(c->source);
  pthread_cond_destroy(&c->change);
  pthread_mutex_destroy(&c->lock);
}

/* ---- questions from inside ---- */

static void ask_everything(curious *c) {
  const cst_schema *schema;
  struct ArrowSchema arrow;
  uint64_t rows;
  cst_status answers[3] = {cst_source_schema(c->source, &schema, NULL),
                           cst_source_num_rows(c->source, &rows, NULL),
                           cst_source_arrow_schema(c->source, &arrow, NULL)};
  if (answers[2] == CST_OK) {
    arrow.release(&arrow);
  }
  pthread_mutex_lock(&c->lock);
  for (size_t i = 0; i < 3; i++) {
    c->refused += answers[i] == CST_STATE;
    c->other += answers[i] != CST_STATE && answers[i] != CST_OK;
  }
  pthread_mutex_unlock(&c->lock);
}

static void check_questions(const char *format, int32_t threads) {
  bytes file = {0};
  curious c;
  struct ArrowSchema schema;
  uint64_t rows;
  if (strcmp(format, "csv") == 0) {
    bytes_add(&file, "a,b\n1,2\n3,4\n", 12);
  } else {
    add_examples(&file, 0, 2);
  }
  open_curious(&c, &file, format, threads);
  c.before = ask_everything;
  CHECK_EQ(cst_source_arrow_schema(c.source, &schema, NULL), CST_OK);
  schema.release(&schema);
  CHECK(c.refused > 0);
  CHECK_EQ(cst_source_num_rows(c.source, &rows, NULL), CST_OK);
  CHECK_EQ(rows, 2);
  CHECK_EQ(c.other, 0);
  close_curious(&c);
  bytes_free(&file);
}

TEST(a_reader_may_ask_its_own_source) {
  check_questions("example", 1);
  check_questions("example", 2);
  check_questions("csv", 1);
}

/* ---- others meanwhile ---- */

static void hold(curious *c) {
  pthread_mutex_lock(&c->lock);
  c->is_reading = true;
  pthread_cond_broadcast(&c->change);
  while (!c->may_read) {
    pthread_cond_wait(&c->change, &c->lock);
  }
  pthread_mutex_unlock(&c->lock);
}

static void *ask_schema(void *arg) {
  const cst_schema *schema = NULL;
  CHECK_EQ(cst_source_schema(arg, &schema, NULL), CST_OK);
  CHECK(schema != NULL);
  return NULL;
}

static void *ask_rows(void *arg) {
  uint64_t rows = 0;
  CHECK_EQ(cst_source_num_rows(arg, &rows, NULL), CST_OK);
  CHECK_EQ(rows, 9);
  return NULL;
}

/* Two threads find something out, whose reader holds still, while this one asks what is known. */
static void check_others(void *(*ask)(void *), void *(*ask_meanwhile)(void *)) {
  bytes file = {0};
  curious c;
  pthread_t threads[2];
  add_examples(&file, 0, 9);
  open_curious(&c, &file, "example", 1);
  ask_meanwhile(c.source);
  c.before = hold;
  for (size_t i = 0; i < 2; i++) {
    CHECK_EQ(pthread_create(&threads[i], NULL, ask, c.source), 0);
  }
  pthread_mutex_lock(&c.lock);
  while (!c.is_reading) {
    pthread_cond_wait(&c.change, &c.lock);
  }
  pthread_mutex_unlock(&c.lock);
  ask_meanwhile(c.source);
  pthread_mutex_lock(&c.lock);
  c.may_read = true;
  pthread_cond_broadcast(&c.change);
  pthread_mutex_unlock(&c.lock);
  for (size_t i = 0; i < 2; i++) {
    CHECK_EQ(pthread_join(threads[i], NULL), 0);
  }
  close_curious(&c);
  bytes_free(&file);
}

TEST(an_inference_holds_up_nobody) { check_others(ask_schema, ask_rows); }

TEST(a_walk_holds_up_nobody) { check_others(ask_rows, ask_schema); }

/* ---- inputs that can be read once ---- */

TEST(a_pipe_that_has_been_counted_has_no_schema) {
  bytes file = {0};
  const cst_schema *schema;
  cst_source *source = NULL;
  cst_error error = CST_ERROR_INIT;
  add_examples(&file, 0, 3);
  memory m = {.data = file.data, .size = file.size};
  cst_reader reader = memory_reader(&m, false);
  CHECK_EQ(cst_source_open_readers(&reader, 1, NULL, &source, NULL), CST_OK);
  cst_schema *inferred;
  m.fail_at = file.size;
  CHECK_EQ(cst_source_infer(source, NULL, NULL, &inferred, NULL), CST_IO);
  CHECK_EQ(cst_source_schema(source, &schema, &error), CST_STATE);
  CHECK_CONTAINS(error.message, "already read");
  cst_source_release(source);
  bytes_free(&file);
}
