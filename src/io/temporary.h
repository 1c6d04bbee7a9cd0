/* The temporary files of this process that have not got their names yet: a list that a signal
 * handler can walk, so that a killed program leaves none. See cst_temporaries_remove.
 */
#ifndef IO_TEMPORARY_H
#define IO_TEMPORARY_H

#include <stdbool.h>
#include <sys/types.h>

typedef struct cst__temporary {
  const char *path; /* borrowed, from create to forget */
  pid_t owner;      /* 0: not in the list */
  struct cst__temporary *next;
  struct cst__temporary **link; /* the pointer to this one */
} cst__temporary;

/* Creates the file, which must not exist, with this mode (but for what umask takes away), and
 * remembers it, with all signals of this thread blocked. Returns a descriptor for writing, or -1
 * with errno. */
int cst__temporary_create(cst__temporary *temporary, const char *path, mode_t mode);
/* The file has got its name, or is gone. Without a create before: nothing. */
void cst__temporary_forget(cst__temporary *temporary);
/* True in the process that created it: a forked child leaves it to its parent. */
bool cst__temporary_is_ours(const cst__temporary *temporary);

#endif /* IO_TEMPORARY_H */
