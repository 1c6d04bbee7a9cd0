/* Crews: numbered jobs on several threads, whose results come in order. */
#include <columnstone/status.h>

#include "base/alloc.h"
#include "base/crew.h"
#include "harness.h"

enum { ROOM = 5, ENDLESS = 1 << 30 };

typedef struct squares {
  cst__crew crew;
  uint64_t count;
  uint64_t head;
  uint64_t next;
  uint64_t results[ROOM];
  bool done[ROOM];
  uint64_t bad[2]; /* numbers that fail; UINT64_MAX: none */
  bool waits;      /* jobs end when the crew is cancelled */
  cst__first_failure failure;
  cst_status status; /* of the last wait */
} squares;

static cst_status square(const squares *s, uint64_t number, uint64_t *out, cst_error *error) {
  cst_status status = CST_OK;
  while (s->waits && status == CST_OK) status = cst__interrupted(error);
  *out = number * number;
  return number == s->bad[0] || number == s->bad[1]
             ? cst__fail(error, CST_CORRUPT, "", "number %d", (int)number)
             : status;
}

static bool is_ready(const void *owner) {
  const squares *s = owner;
  return s->head == s->count || s->head == s->failure.at || s->done[s->head % ROOM];
}

static bool work(void *owner, int32_t thread) {
  squares *s = owner;
  cst_error error = CST_ERROR_INIT;
  if (s->next == s->count || s->next >= s->failure.at || s->next - s->head == ROOM ||
      (thread == 0 && s->waits)) {
    return false;
  }
  uint64_t number = s->next++;
  cst__mutex_unlock(&s->crew.lock);
  cst_status status = square(s, number, &s->results[number % ROOM], &error);
  cst__mutex_lock(&s->crew.lock);
  if (status != CST_OK) cst__first_failure_note(&s->failure, number, status, &error);
  s->done[number % ROOM] = status == CST_OK;
  if (is_ready(s)) cst__crew_call_caller(&s->crew);
  return true;
}

static const cst__crew_calls calls = {work, is_ready};

static void start(squares *s, int32_t threads) {
  CHECK_EQ(cst__crew_reserve(&s->crew, threads, NULL, NULL), CST_OK);
  cst__crew_start(&s->crew);
  CHECK_EQ(s->crew.started, threads);
}

static void begin(squares *s, uint64_t count, int32_t threads) {
  *s = (squares){.count = count, .bad = {UINT64_MAX, UINT64_MAX}, .failure = CST__NO_FAILURE};
  cst__crew_init(&s->crew, &calls, s);
  start(s, threads);
}

/* False at the end, and where it fails. */
static bool take(squares *s, uint64_t *out, cst_error *error) {
  cst__mutex_lock(&s->crew.lock);
  s->status = cst__crew_wait(&s->crew, error);
  bool there = s->status == CST_OK && s->head < s->count && s->head != s->failure.at;
  if (there) {
    *out = s->results[s->head % ROOM];
    s->done[s->head++ % ROOM] = false;
    cst__crew_call_thread(&s->crew);
  }
  cst__mutex_unlock(&s->crew.lock);
  return there;
}

TEST(results_come_in_order_with_any_number_of_threads) {
  for (int32_t threads = 0; threads < 5; threads++) {
    squares s;
    uint64_t got = 0;
    uint64_t value = 0;
    begin(&s, 2000, threads);
    for (; take(&s, &value, NULL); got++) CHECK_EQ(value, got * got);
    CHECK_EQ(got, 2000);
    cst__crew_reset(&s.crew);
  }
}

TEST(the_first_failure_in_order_counts) {
  for (int32_t threads = 0; threads < 5; threads++) {
    squares s;
    uint64_t got = 0;
    uint64_t value = 0;
    begin(&s, 0, 0);
    s.count = 100;
    s.bad[0] = 43;
    s.bad[1] = 40;
    start(&s, threads);
    while (take(&s, &value, NULL)) got++;
    CHECK_EQ(got, 40);
    CHECK_EQ(s.failure.at, 40);
    CHECK_EQ(s.failure.status, CST_CORRUPT);
    CHECK_STR(s.failure.error.message, "number 40");
    cst__crew_reset(&s.crew);
  }
}

TEST(a_crew_ends_early) {
  squares s;
  uint64_t value = 0;
  begin(&s, ENDLESS, 3);
  CHECK(take(&s, &value, NULL) && take(&s, &value, NULL));
  cst__crew_stop(&s.crew);
  CHECK_EQ(s.crew.started, 0);
  CHECK(s.next - s.head <= ROOM);
  cst__crew_stop(&s.crew);
  cst__crew_reset(&s.crew);
  begin(&s, ENDLESS, 3); /* nobody has taken anything */
  cst__crew_reset(&s.crew);
}

static bool always(void *ctx) {
  (void)ctx;
  return true;
}

TEST(a_caller_is_interrupted_and_jobs_are_cancelled) {
  squares s;
  uint64_t value = 0;
  cst_error error = CST_ERROR_INIT;
  begin(&s, 0, 0);
  s.count = ENDLESS;
  s.waits = true;
  start(&s, 2);
  cst_interrupt_set(always, NULL);
  CHECK(!take(&s, &value, &error));
  cst_interrupt_set(NULL, NULL);
  CHECK_EQ(s.status, CST_INTERRUPTED);
  cst__crew_reset(&s.crew);
  CHECK(s.next == 0 || s.failure.status == CST_INTERRUPTED);
}

TEST(without_threads_the_caller_works) {
  squares s;
  uint64_t value = 0;
  begin(&s, 3, 0);
  harness_fail_allocation_after(1);
  CHECK_EQ(cst__crew_reserve(&s.crew, 2, NULL, NULL), CST_NO_MEMORY);
  harness_fail_allocation_after(0);
  cst__crew_start(&s.crew);
  CHECK_EQ(s.crew.started, 0);
  CHECK(take(&s, &value, NULL) && take(&s, &value, NULL) && take(&s, &value, NULL));
  CHECK_EQ(value, 4);
  CHECK(!take(&s, &value, NULL));
  cst__crew_reset(&s.crew);
}
