/* Closing stores before a fork. */
#include "lineage/store_forks.h"

#include <sys/stat.h>
#include <time.h>

#include "base/forked.h"
#include "base/thread.h"
#include "lineage/store_open.h"

static cst__mutex lock = CST__MUTEX_INIT;
static struct cst__lineage_presence *all; /* in a child also those of its parent */

/* The lock is not held over the fork: whoever the fork waits for may need it. */
static void before_fork(void) {
  cst__mutex_lock(&lock);
  for (struct cst__lineage_presence *p = all; p != NULL; p = p->next) {
    int rests = CST__LINEAGE_RESTS;
    if (p->owner == getpid() &&
        atomic_compare_exchange_strong(&p->use, &rests, CST__LINEAGE_FORKS)) {
      cst__lineage_disconnect(p->store);
    }
  }
  cst__mutex_unlock(&lock);
}

static void after_fork(void) {
  cst__mutex_lock(&lock);
  for (struct cst__lineage_presence *p = all; p != NULL; p = p->next) {
    int forks = CST__LINEAGE_FORKS;
    (void)atomic_compare_exchange_strong(&p->use, &forks, CST__LINEAGE_RESTS);
  }
  cst__mutex_unlock(&lock);
}

/* Some other thread of the parent may have held it. */
static void after_fork_in_child(void) { cst__mutex_init(&lock); }

static void watch_forks(void) { pthread_atfork(before_fork, after_fork, after_fork_in_child); }

cst_status cst__lineage_appear(cst_lineage *store, cst_error *error) {
  static cst__once once = CST__ONCE_INIT;
  cst__call_once(&once, watch_forks);
  struct cst__lineage_presence *p = cst__new_zero(&store->allocator, sizeof *p);
  if (p == NULL) {
    return cst__fail_memory(error, sizeof *p);
  }
  p->store = store;
  p->owner = getpid();
  atomic_init(&p->use, CST__LINEAGE_OPENS);
  store->presence = p;
  cst__mutex_lock(&lock);
  p->next = all;
  all = p;
  cst__mutex_unlock(&lock);
  return CST_OK;
}

cst_status cst__lineage_check_parent(cst_lineage *store, cst_error *error) {
  struct stat info;
  bool is_parents = false;
  if (stat(store->path, &info) != 0) {
    return CST_OK; /* it is new */
  }
  cst__mutex_lock(&lock);
  store->presence->device = info.st_dev;
  store->presence->inode = info.st_ino;
  for (const struct cst__lineage_presence *p = all; p != NULL; p = p->next) {
    is_parents |= cst__is_forked(p->owner) && p->store->db != NULL && p->device == info.st_dev &&
                  p->inode == info.st_ino;
  }
  cst__mutex_unlock(&lock);
  return is_parents ? cst__fail(error, CST_STATE, "fork before or after the transaction or call",
                                "the process was forked while this store was in use")
                    : CST_OK;
}

void cst__lineage_vanish(cst_lineage *store) {
  cst__mutex_lock(&lock);
  cst__lineage_disconnect(store);
  struct cst__lineage_presence **at = &all;
  while (*at != NULL && *at != store->presence) {
    at = &(*at)->next;
  }
  if (*at != NULL) {
    *at = store->presence->next;
  }
  cst__mutex_unlock(&lock);
  cst__delete(store->presence);
  store->presence = NULL;
}

cst_status cst__lineage_begin_use(cst_lineage *store, cst_error *error) {
  int use = CST__LINEAGE_RESTS;
  while (!atomic_compare_exchange_strong(&store->presence->use, &use, CST__LINEAGE_WORKS)) {
    if (use != CST__LINEAGE_FORKS) {
      return CST_OK; /* part of something larger */
    }
    const struct timespec pause = {0, 100 * 1000};
    (void)nanosleep(&pause, NULL);
    use = CST__LINEAGE_RESTS;
  }
  if (store->db != NULL) {
    return CST_OK;
  }
  atomic_store(&store->presence->use, CST__LINEAGE_OPENS);
  const cst_status status = cst__lineage_reconnect(store, error);
  atomic_store(&store->presence->use, status == CST_OK ? CST__LINEAGE_WORKS : CST__LINEAGE_RESTS);
  return status;
}

void cst__lineage_end_use(cst_lineage *store) {
  int works = CST__LINEAGE_WORKS;
  (void)atomic_compare_exchange_strong(&store->presence->use, &works, CST__LINEAGE_RESTS);
}
