/* Temporary files, remembered for the handler of a signal that ends the process. */
#include "io/temporary.h"

#include <columnstone/sink.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

static struct {
  atomic_int holder; /* the process whose thread changes the list; 0: none */
  pid_t owner;       /* of the list */
  cst__temporary *first;
} list;

/* Whoever holds the list has all signals blocked, so that no handler waits for its own thread. What
 * a fork has copied is not this process's: the hold of another thread, and the parent's list. */
static void hold_list(sigset_t *before) {
  const int self = (int)getpid();
  int seen = 0;
  sigset_t all;
  (void)sigfillset(&all);
  (void)pthread_sigmask(SIG_SETMASK, &all, before);
  while (!atomic_compare_exchange_weak_explicit(&list.holder, &seen, self, memory_order_acquire,
                                                memory_order_relaxed)) {
    if (seen == self) {
      seen = 0;
      (void)sched_yield();
    }
  }
  if (list.owner != self) {
    list.owner = self;
    list.first = NULL;
  }
}

static void let_list_go(const sigset_t *before) {
  atomic_store_explicit(&list.holder, 0, memory_order_release);
  (void)pthread_sigmask(SIG_SETMASK, before, NULL);
}

int cst__temporary_create(cst__temporary *temporary, const char *path, mode_t mode) {
  sigset_t before;
  hold_list(&before);
  int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
  int code = errno;
  if (fd >= 0) {
    temporary->path = path;
    temporary->owner = list.owner;
    temporary->next = list.first;
    temporary->link = &list.first;
    if (list.first != NULL) {
      list.first->link = &temporary->next;
    }
    list.first = temporary;
  }
  let_list_go(&before);
  errno = code;
  return fd;
}

void cst__temporary_forget(cst__temporary *temporary) {
  if (!cst__temporary_is_ours(temporary)) {
    return;
  }
  sigset_t before;
  hold_list(&before);
  *temporary->link = temporary->next;
  if (temporary->next != NULL) {
    temporary->next->link = temporary->link;
  }
  temporary->owner = 0;
  let_list_go(&before);
}

bool cst__temporary_is_ours(const cst__temporary *temporary) {
  return temporary->owner == getpid();
}

void cst_temporaries_remove(void) {
  int code = errno;
  sigset_t before;
  hold_list(&before);
  for (const cst__temporary *t = list.first; t != NULL; t = t->next) {
    (void)unlink(t->path);
  }
  let_list_go(&before);
  errno = code;
}
