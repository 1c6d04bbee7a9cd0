/* A thread that takes one piece of data after the other from its owner, and works on it beside.
 */
#ifndef IO_BESIDE_H
#define IO_BESIDE_H

#include "base/alloc.h"

typedef struct cst__beside cst__beside;

typedef cst_status (*cst__beside_work)(void *ctx, const void *data, size_t size, cst_error *error);

/* *out is NULL (with CST_OK) if the system gives no thread. */
cst_status cst__beside_start(cst__beside_work work, void *ctx, const cst_allocator *allocator,
                             cst__beside **out, cst_error *error);

/* Waits until the thread has nothing to do; then a failure of its work comes, and again with every
 * later call. */
cst_status cst__beside_wait(cst__beside *beside, cst_error *error);

/* Gives it data, which stays untouched until the next wait returns. Only when it has nothing to do
 * and has not failed. */
void cst__beside_give(cst__beside *beside, const void *data, size_t size);

/* What it does is of no use any more: its work may fail with CST_INTERRUPTED. */
void cst__beside_cancel(cst__beside *beside);

/* Ends the thread when it has done what it has. */
void cst__beside_stop(cst__beside *beside);

#endif /* IO_BESIDE_H */
