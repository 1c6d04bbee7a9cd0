/* Calls that are told to stop: by the caller's check, on its own thread only, wherever the n-th
 * question comes; threads that work for the call stop as well, and nothing is left behind.
 */
#include "base/interrupt.h"

#include <columnstone/array.h>
#include <columnstone/index.h>
#include <columnstone/records.h>
#include <columnstone/sink.h>
#include <columnstone/tensor.h>
#include <columnstone/validate.h>
#include <pthread.h>
#include <unistd.h>

#include "source_support.h"

/* Says stop from the n-th question on. */
typedef struct patience {
  int questions;
  int most;
} patience;

static bool is_over(void *ctx) {
  patience *p = ctx;
  p->questions++;
  return p->questions > p->most;
}

static bool always(void *ctx) {
  (void)ctx;
  return true;
}

TEST(only_those_who_asked_for_it_are_interrupted) {
  cst_error error = CST_ERROR_INIT;
  patience p = {.most = 1};
  CHECK(!cst__is_interruptible());
  CHECK_EQ(cst__interrupted(&error), CST_OK);
  cst_interrupt_set(is_over, &p);
  CHECK(cst__is_interruptible());
  CHECK_EQ(cst__interrupted_now(&error), CST_OK);
  CHECK_EQ(cst__interrupted_now(&error), CST_INTERRUPTED);
  CHECK_EQ(error.code, CST_INTERRUPTED);
  CHECK_EQ(cst__interrupted(NULL), CST_INTERRUPTED); /* at once, whatever the time */
  cst_interrupt_set(NULL, NULL);
  CHECK_EQ(cst__interrupted_now(&error), CST_OK);
}

TEST(the_check_is_not_asked_all_the_time) {
  patience p = {.most = 1 << 30};
  cst_interrupt_set(is_over, &p);
  for (int i = 0; i < 100000; i++) {
    CHECK_EQ(cst__interrupted(NULL), CST_OK);
  }
  cst_interrupt_set(NULL, NULL);
  CHECK(p.questions > 0 && p.questions < 1000);
}

static void *wait_long(void *arg) {
  cst__mutex lock;
  cst__condition never;
  cst__mutex_init(&lock);
  cst__condition_init(&never);
  cst__interrupt_follow(arg);
  cst__mutex_lock(&lock);
  while (cst__interruptible_wait(&never, &lock, NULL) == CST_OK) {
  }
  cst__mutex_unlock(&lock);
  cst__condition_destroy(&never);
  cst__mutex_destroy(&lock);
  return NULL;
}

TEST(a_wait_ends) {
  atomic_bool flag = false;
  pthread_t thread;
  CHECK_EQ(pthread_create(&thread, NULL, wait_long, &flag), 0);
  atomic_store(&flag, true);
  CHECK_EQ(pthread_join(thread, NULL), 0);
}

/* ---- what can be stopped ---- */

typedef struct data {
  cst_source *source;
  cst_schema *schema;
  struct ArrowSchema arrow_schema;
  struct ArrowArray batch; /* two records */
} data;

typedef cst_status (*call)(data *d, cst_error *error);

static cst_status call_schema(data *d, cst_error *error) {
  const cst_schema *found;
  return cst_source_schema(d->source, &found, error);
}

static cst_status call_num_rows(data *d, cst_error *error) {
  uint64_t rows;
  return cst_source_num_rows(d->source, &rows, error);
}

static cst_status call_count(data *d, cst_error *error) {
  cst_findings *files;
  cst_status status = cst_source_count(d->source, NULL, NULL, &files, error);
  cst_findings_free(files);
  return status;
}

static cst_status call_verify(data *d, cst_error *error) {
  cst_findings *faults;
  cst_status status = cst_source_verify(d->source, NULL, &faults, NULL, error);
  cst_findings_free(faults);
  return status;
}

static cst_status call_infer(data *d, cst_error *error) {
  cst_schema *schema;
  cst_status status = cst_source_infer(d->source, NULL, NULL, &schema, error);
  if (status == CST_OK) {
    cst_schema_release(schema);
  }
  return status;
}

static cst_status call_validate(data *d, cst_error *error) {
  cst_validate_options options = {.size = sizeof options, .schema = d->schema};
  cst_findings *found;
  cst_status status = cst_source_validate(d->source, &options, &found, error);
  if (status == CST_OK) {
    cst_findings_free(found);
  }
  return status;
}

/* The pass says so again, and can be freed. */
static cst_status call_next(data *d, cst_error *error) {
  cst_pass *pass;
  struct ArrowArray batch;
  CST__TRY(cst_pass_new(d->source, &pass, error));
  cst_status status = cst_pass_next(pass, &batch, error);
  if (status == CST_INTERRUPTED) {
    CHECK_EQ(cst_pass_next(pass, &batch, NULL), CST_INTERRUPTED);
  } else {
    batch.release(&batch);
  }
  cst_pass_free(pass);
  return status;
}

static cst_status call_take(data *d, cst_error *error) {
  struct ArrowArray batch;
  static const uint64_t rows[] = {1, 0};
  cst_status status = cst_source_take(d->source, rows, 2, &batch, error);
  if (status == CST_OK) {
    batch.release(&batch);
  }
  return status;
}

static cst_status call_convert(data *d, cst_error *error) {
  cst_sink_options options = CST_SINK_OPTIONS_INIT;
  uint64_t rows;
  const char *path = harness_temp_path("out.csv");
  (void)unlink(path);
  cst_status status = cst_convert(d->source, path, &options, NULL, NULL, &rows, error);
  CHECK_EQ(access(path, F_OK) == 0, status == CST_OK);
  return status;
}

static cst_status call_encode(data *d, cst_error *error) {
  cst_encoder *encoder;
  struct ArrowArray records;
  CST__TRY(cst_encoder_new("example", NULL, &encoder, error));
  cst_status status =
      cst_encoder_encode(encoder, &d->arrow_schema, &d->batch, NULL, &records, error);
  if (status == CST_OK) {
    records.release(&records);
  }
  cst_encoder_free(encoder);
  return status;
}

static const struct {
  const char *name;
  call run;
} calls[] = {
    {"schema", call_schema}, {"num_rows", call_num_rows}, {"count", call_count},
    {"verify", call_verify}, {"infer", call_infer},       {"validate", call_validate},
    {"next", call_next},     {"take", call_take},         {"convert", call_convert},
};

static void open_data(data *d, int32_t threads) {
  const char *path = write_examples("data.tfrecord", 0, 200);
  cst_source_options options = CST_SOURCE_OPTIONS_INIT;
  options.threads = threads;
  CHECK_EQ(cst_source_open(&path, 1, &options, &d->source, NULL), CST_OK);
  CHECK_EQ(cst_schema_from_text("feature { name: \"id\" type: INT }", 32, &d->schema, NULL),
           CST_OK);
}

static void close_data(data *d) {
  cst_source_release(d->source);
  cst_schema_release(d->schema);
}

/* The object goes on as if nothing had been. */
static void check_call(call run, const char *name, int32_t threads) {
  data d;
  cst_error error = CST_ERROR_INIT;
  open_data(&d, threads);
  cst_interrupt_set(always, NULL);
  cst_status status = run(&d, &error);
  cst_interrupt_set(NULL, NULL);
  CHECK_STR(status == CST_INTERRUPTED ? name : "not interrupted", name);
  CHECK_EQ(error.code, CST_INTERRUPTED);
  CHECK_EQ(run(&d, &error), CST_OK);
  close_data(&d);
}

TEST(every_long_call_can_be_interrupted) {
  for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
    check_call(calls[i].run, calls[i].name, 1);
    check_call(calls[i].run, calls[i].name, 2);
  }
}

static void *run_beside(void *arg) {
  data d;
  (void)arg;
  open_data(&d, 2);
  for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
    CHECK_EQ(calls[i].run(&d, NULL), CST_OK);
  }
  close_data(&d);
  return NULL;
}

TEST(other_threads_are_not_interrupted) {
  pthread_t thread;
  cst_interrupt_set(always, NULL);
  CHECK_EQ(pthread_create(&thread, NULL, run_beside, NULL), 0);
  CHECK_EQ(pthread_join(thread, NULL), 0);
  cst_interrupt_set(NULL, NULL);
}

/* ---- a pipe that nobody writes to ---- */

TEST(a_read_that_waits_is_left) {
  int ends[2];
  char path[32];
  const char *paths[] = {path};
  CHECK_EQ(pipe(ends), 0);
  (void)snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
  for (int32_t threads = 1; threads <= 2; threads++) {
    patience p = {.most = 2};
    cst_source *source = NULL;
    cst_pass *pass = NULL;
    struct ArrowArray batch;
    cst_source_options options = CST_SOURCE_OPTIONS_INIT;
    options.format = "raw";
    options.threads = threads;
    CHECK_EQ(cst_source_open(paths, 1, &options, &source, NULL), CST_OK);
    CHECK_EQ(cst_pass_new(source, &pass, NULL), CST_OK);
    cst_interrupt_set(is_over, &p);
    CHECK_EQ(cst_pass_next(pass, &batch, NULL), CST_INTERRUPTED);
    cst_interrupt_set(NULL, NULL);
    cst_pass_free(pass);
    cst_source_release(source);
  }
  close(ends[0]);
  close(ends[1]);
}

/* ---- encoding, which has no file ---- */

TEST(encoding_is_interrupted) {
  data d;
  cst_pass *pass = NULL;
  open_data(&d, 1);
  CHECK_EQ(cst_source_arrow_schema(d.source, &d.arrow_schema, NULL), CST_OK);
  CHECK_EQ(cst_pass_new(d.source, &pass, NULL), CST_OK);
  CHECK_EQ(cst_pass_next(pass, &d.batch, NULL), CST_OK);
  cst_interrupt_set(always, NULL);
  CHECK_EQ(call_encode(&d, NULL), CST_INTERRUPTED);
  cst_interrupt_set(NULL, NULL);
  CHECK_EQ(call_encode(&d, NULL), CST_OK);
  d.batch.release(&d.batch);
  d.arrow_schema.release(&d.arrow_schema);
  cst_pass_free(pass);
  close_data(&d);
}
