/* Closing stores before a fork. */
#include "lineage/store_forks.h"

#include <sys/stat.h>
#include <time.h>

#include "base/forked.h"
#include "base/thread.h"

static cst__mutex lock = CST__MUTEX_INIT;
static cst__lineage_presence *all; /* in a child also those of its parent */

/* The lock is not held over the fork: whoever the fork waits for may need it. */
static void before_fork(void) {
  cst__mutex_lock(&lock);
  for (cst__lineage_presence *p = all; p != NULL; p = p->next) {
    int rests = CST__LINEAGE_RESTS;
    if (p->owner == getpid() &&
        atomic_compare_exchange_strong(&p->use, &rests, CST__LINEAGE_FORKS)) {
      p->actions->disconnect(p->store);
      p->is_open = false;
    }
  }
  cst__mutex_unlock(&lock);
}

static void after_fork(void) {
  cst__mutex_lock(&lock);
  for (cst__lineage_presence *p = all; p != NULL; p = p->next) {
    int forks = CST__LINEAGE_FORKS;
    (void)atomic_compare_exchange_strong(&p->use, &forks, CST__LINEAGE_RESTS);
  }
  cst__mutex_unlock(&lock);
}

/* Some other thread of the parent may have held it. */
static void after_fork_in_child(void) { cst__mutex_init(&lock); }

static void watch_forks(void) { pthread_atfork(before_fork, after_fork, after_fork_in_child); }

cst__lineage_presence *cst__lineage_appear(void *store, const cst__lineage_file_actions *actions,
                                           const cst_allocator *allocator) {
  static cst__once once = CST__ONCE_INIT;
  cst__call_once(&once, watch_forks);
  cst__lineage_presence *p = cst__new_zero(allocator, sizeof *p);
  if (p != NULL) {
    p->store = store;
    p->actions = actions;
    p->owner = getpid();
    p->is_open = true;
    atomic_init(&p->use, CST__LINEAGE_OPENS);
    cst__mutex_lock(&lock);
    p->next = all;
    all = p;
    cst__mutex_unlock(&lock);
  }
  return p;
}

cst_status cst__lineage_check_parent(cst__lineage_presence *presence, const char *path,
                                     cst_error *error) {
  struct stat info;
  bool is_parents = false;
  if (stat(path, &info) != 0) {
    return CST_OK; /* it is new */
  }
  cst__mutex_lock(&lock);
  presence->device = info.st_dev;
  presence->inode = info.st_ino;
  for (const cst__lineage_presence *p = all; p != NULL; p = p->next) {
    is_parents |= cst__is_forked(p->owner) && p->is_open && p->device == info.st_dev &&
                  p->inode == info.st_ino;
  }
  cst__mutex_unlock(&lock);
  return is_parents ? cst__fail(error, CST_STATE, "fork before or after the transaction or call",
                                "the process was forked while this store was in use")
                    : CST_OK;
}

void cst__lineage_settle(cst__lineage_presence *presence) {
  atomic_store(&presence->use, CST__LINEAGE_RESTS);
}

void cst__lineage_vanish(cst__lineage_presence *presence) {
  cst__mutex_lock(&lock);
  presence->actions->disconnect(presence->store);
  cst__lineage_presence **at = &all;
  while (*at != NULL && *at != presence) {
    at = &(*at)->next;
  }
  if (*at != NULL) {
    *at = presence->next;
  }
  cst__mutex_unlock(&lock);
  cst__delete(presence);
}

cst_status cst__lineage_begin_use(cst__lineage_presence *presence, cst_error *error) {
  int use = CST__LINEAGE_RESTS;
  while (!atomic_compare_exchange_strong(&presence->use, &use, CST__LINEAGE_WORKS)) {
    if (use != CST__LINEAGE_FORKS) {
      return CST_OK; /* part of something larger */
    }
    const struct timespec pause = {0, 100 * 1000};
    (void)nanosleep(&pause, NULL);
    use = CST__LINEAGE_RESTS;
  }
  if (presence->is_open) {
    return CST_OK;
  }
  atomic_store(&presence->use, CST__LINEAGE_OPENS);
  const cst_status status = presence->actions->reconnect(presence->store, error);
  presence->is_open = status == CST_OK;
  atomic_store(&presence->use, status == CST_OK ? CST__LINEAGE_WORKS : CST__LINEAGE_RESTS);
  return status;
}

void cst__lineage_end_use(cst__lineage_presence *presence) {
  int works = CST__LINEAGE_WORKS;
  (void)atomic_compare_exchange_strong(&presence->use, &works, CST__LINEAGE_RESTS);
}
