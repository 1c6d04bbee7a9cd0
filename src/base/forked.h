/* What a process has begun, in a child that it has forked since: the threads are the parent's, and
 * locks and data are as some thread happened to leave them. So the child does nothing with it, not
 * even free it. */
#ifndef BASE_FORKED_H
#define BASE_FORKED_H

#include <sys/types.h>
#include <unistd.h>

#include "base/error.h"

/* `owner` is who began it; 0: nobody has. */
static inline bool cst__is_forked(pid_t owner) { return owner != 0 && owner != getpid(); }

/* `what` is named in the message. */
static inline cst_status cst__check_forked(pid_t owner, const char *what, cst_error *error) {
  return cst__is_forked(owner)
             ? cst__fail(error, CST_STATE, "create a new one in the child process",
                         "this %s was created before a fork", what)
             : CST_OK;
}

#endif /* BASE_FORKED_H */
