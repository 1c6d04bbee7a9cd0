/* Asking, in the midst of long work, whether it should stop: cst_interrupt_set of
 * <columnstone/status.h> for the caller's thread, a flag for threads of the library.
 *
 * Ask once per block, batch or file, and in loops that may be longer once per stretch of work.
 * Never ask with a lock held, nor while something is freed.
 */
#ifndef BASE_INTERRUPT_H
#define BASE_INTERRUPT_H

#include "base/error.h"
#include "base/thread.h"

/* CST_INTERRUPTED if this thread has been told to stop, CST_TIMEOUT after its deadline; else
 * CST_OK. Cheap: the caller's check runs about every 50 ms, and the clock is one that ticks some
 * 250 times a second. */
cst_status cst__interrupted(cst_error *error);
/* The same without regard to the time: after a system call that a signal has ended. */
cst_status cst__interrupted_now(cst_error *error);

/* Calls of this thread are CST_TIMEOUT after this time of CLOCK_MONOTONIC, in ns, too; 0: they have
 * none of their own. Returns what cst__deadline_end takes at the end of the call. */
int64_t cst__deadline_begin(int64_t deadline);
void cst__deadline_end(int64_t before);

/* True if this thread can be told to stop. */
bool cst__is_interruptible(void);

/* A thread of the library: it is told to stop by the flag, which outlives it. */
void cst__interrupt_follow(const atomic_bool *flag);

/* Waits, holding the lock, for the condition or a while; CST_INTERRUPTED when told to stop. */
cst_status cst__interruptible_wait(cst__condition *condition, cst__mutex *lock, cst_error *error);

/* Adds up work (bytes, or rows times what they cost); true each time that it has become a
 * millisecond's, or so: time to ask. */
enum { CST__STRETCH = 1 << 20 };
static inline bool cst__stretch_is_over(size_t *done, size_t work) {
  *done += work;
  if (__builtin_expect(*done < CST__STRETCH, 1)) {
    return false;
  }
  *done = 0;
  return true;
}

/* A loop of many short steps: moves *end on by a stretch of them, at most to `last`, and asks
 * unless that is the end.
 *
 *   for (int64_t i = begin, end = begin; i < last;) {
 *     CST__TRY(cst__next_stretch(&end, last, error));
 *     for (; i < end; i++) {
 *       ...
 */
enum { CST__STRETCH_STEPS = 1 << 16 };
static inline cst_status cst__next_stretch(int64_t *end, int64_t last, cst_error *error) {
  if (__builtin_expect(last - *end <= CST__STRETCH_STEPS, 1)) {
    *end = last;
    return CST_OK;
  }
  *end += CST__STRETCH_STEPS;
  return cst__interrupted(error);
}

#endif /* BASE_INTERRUPT_H */
