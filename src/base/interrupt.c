/* Whether the work of a thread should stop. */
#include "base/interrupt.h"

#include <time.h>

static const int64_t interval = 50000000; /* ns between two calls of the caller's check */
static const int64_t patience = 20000000; /* ns that a wait lasts at most before it asks */

typedef struct interruption {
  cst_interrupt_check check; /* the caller's; NULL: none */
  void *ctx;
  const atomic_bool *flag; /* of a thread of the library, or NULL */
  int64_t next;            /* when the check is due */
  int64_t deadline;        /* of the call; 0: none */
} interruption;

static _Thread_local interruption own;

#if defined(CLOCK_MONOTONIC_COARSE)
static const clockid_t coarse_clock = CLOCK_MONOTONIC_COARSE;
#else
static const clockid_t coarse_clock = CLOCK_MONOTONIC;
#endif

void cst_interrupt_set(cst_interrupt_check check, void *ctx) {
  own.check = check;
  own.ctx = ctx;
  own.next = 0;
}

void cst__interrupt_follow(const atomic_bool *flag) { own.flag = flag; }

int64_t cst__deadline_begin(int64_t deadline) {
  int64_t before = own.deadline;
  if (deadline != 0 && (before == 0 || deadline < before)) {
    own.deadline = deadline;
  }
  return before;
}

void cst__deadline_end(int64_t before) { own.deadline = before; }

bool cst__is_interruptible(void) {
  return own.flag != NULL || own.check != NULL || own.deadline != 0;
}

static cst_status fail_interrupted(cst_error *error) {
  return cst__fail(error, CST_INTERRUPTED, NULL, "interrupted");
}

static cst_status ask_caller(cst_error *error) {
  if (!own.check(own.ctx)) {
    return CST_OK;
  }
  own.next = 0; /* whoever asks next hears of it too */
  return fail_interrupted(error);
}

static cst_status fail_late(cst_error *error) {
  return cst__fail(error, CST_TIMEOUT, "allow the call more time, or give it less to do",
                   "the deadline has passed");
}

cst_status cst__interrupted(cst_error *error) {
  struct timespec t;
  if (own.flag != NULL && atomic_load_explicit(own.flag, memory_order_relaxed)) {
    return fail_interrupted(error);
  }
  bool has_check = own.check != NULL && own.flag == NULL;
  if (!has_check && own.deadline == 0) {
    return CST_OK;
  }
  /* The coarse clock lags by milliseconds: a deadline would be missed that has passed before the
   * call. */
  clock_gettime(own.deadline != 0 ? CLOCK_MONOTONIC : coarse_clock, &t);
  int64_t now = (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
  if (own.deadline != 0 && now >= own.deadline) {
    return fail_late(error);
  }
  if (!has_check || now < own.next) {
    return CST_OK;
  }
  own.next = now + interval;
  return ask_caller(error);
}

cst_status cst__interrupted_now(cst_error *error) {
  own.next = 0;
  return cst__interrupted(error);
}

cst_status cst__interruptible_wait(cst__condition *condition, cst__mutex *lock, cst_error *error) {
  if (!cst__is_interruptible()) {
    cst__condition_wait(condition, lock);
    return CST_OK;
  }
  if (cst__condition_wait_for(condition, lock, patience)) {
    return CST_OK;
  }
  cst__mutex_unlock(lock);
  cst_status status = cst__interrupted(error);
  cst__mutex_lock(lock);
  return status;
}
