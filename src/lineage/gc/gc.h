/* Garbage collection: what the files of this room share.
 *
 *   gc_load.c    all of a store that matters, in arrays
 *   gc_plan.c    which artifacts stay, and why
 *   gc_files.c   which files of the others may go, and why not
 *   gc_walk.c    the file system: a file or a folder below a root goes, and links are never
 * followed gc_delete.c  writes the plan down, and deletes in short transactions gc.c         the
 * public function, and what it finds in words
 *
 * A plan is made in one transaction and in memory. What goes is MARKED there, and each file that is
 * to be deleted gets a row of `doomed`; the files are deleted afterwards, each within a transaction
 * that looks once more whether somebody needs it. So whatever adds an artifact comes before or
 * after, and a crash leaves rows that the next run takes up.
 */
#ifndef LINEAGE_GC_H
#define LINEAGE_GC_H

#include "base/hash.h"
#include "lineage/store.h"

enum { CST__GC_US = 1000000 };
#define CST__GC_NONE SIZE_MAX

/* Why an artifact stays. `because` and `role` of the artifact say more. */
typedef enum cst__gc_why {
  CST__GC_GOES,      /* it does not */
  CST__GC_NO_POLICY, /* nothing that is live goes */
  CST__GC_TYPE,      /* only others may go */
  CST__GC_NEWEST,    /* because: an artifact of its group */
  CST__GC_YOUNG,
  CST__GC_LEASE,     /* because: the lease */
  CST__GC_INPUT,     /* because: the execution */
  CST__GC_OUTPUT,    /* because: the execution */
  CST__GC_PENDING,   /* of no execution yet */
  CST__GC_REFERENCE, /* because: the artifact that refers to it; role */
  CST__GC_ANCESTOR   /* because: the artifact that came from it */
} cst__gc_why;

typedef struct cst__gc_artifact {
  int64_t id;
  int64_t version;
  int64_t created;
  const char *name; /* NULL: none */
  size_t type;      /* of plan->types */
  size_t because;
  const char *role;
  size_t origin; /* of what leads up: the artifact that came from it */
  size_t links;  /* its first one; it has as many as there are to the next artifact's */
  size_t left;   /* files that are still to be deleted */
  cst_lineage_state state;
  cst__gc_why why;
  bool is_external;
  bool was_deleted;
  bool was_marked;    /* by an earlier run */
  bool was_abandoned; /* before this run */
  bool is_lapsed;     /* its execution is ended by this run */
  bool leads_up;      /* what it came from stays */
  bool is_unfinished; /* it is going, and has rows of `doomed` from an earlier run */
} cst__gc_artifact;

typedef enum cst__gc_action { CST__GC_KEEP, CST__GC_DELETE, CST__GC_GONE } cst__gc_action;

/* A file of an artifact. */
typedef struct cst__gc_link {
  size_t path;
  bool is_file;  /* it was one when it was added */
  bool has_role; /* it is not data, but what it takes to read them */
  int64_t size;  /* of a file, as `modified`: what it was then; -1: not known */
  int64_t modified;
  bool is_doomed;     /* to be deleted: the path's action and reason hold */
  bool was_doomed;    /* by an earlier run */
  const char *reason; /* if it is not: why it is kept */
} cst__gc_link;

typedef struct cst__gc_path {
  int64_t file; /* its id */
  const char *text;
  const char *absolute; /* if it is doomed */
  const char *root;     /* and the folder of plan->roots that it is in */
  bool may_be_folder;   /* an artifact that goes did not have a file there */
  bool is_damaged;      /* no path that this library writes */
  bool is_looked_at;    /* `reason` says whether it stays, if it is not doomed */
  bool is_doomed;       /* by a link */
  bool is_stuck;        /* the system does not allow it */
  size_t needed_by;     /* an artifact */
  cst__gc_action action;
  const char *reason; /* NULL: none */
  int64_t files, bytes;
} cst__gc_path;

typedef struct cst__gc_reference {
  size_t from, to;
  const char *role;
} cst__gc_reference;

typedef struct cst__gc_execution {
  int64_t id;
  int64_t started;
  const char *type;
  bool has_lease, is_held; /* there are leases of it; one lasts */
  bool is_lapsed;
} cst__gc_execution;

typedef struct cst__gc_lease {
  int64_t id;
  int64_t expires;
  int64_t execution; /* 0: none */
  const char *holder;
  bool lasts;
} cst__gc_lease;

/* Of an execution that runs, or of any, where ancestors are looked for. */
typedef struct cst__gc_event {
  int64_t execution;
  size_t artifact;
  bool is_output;
} cst__gc_event;

typedef struct cst__gc_type {
  int64_t id;
  const char *name;
  bool may_go;
  bool keeps_ancestors;
} cst__gc_type;

/* A row of `doomed` that an earlier run has left. */
typedef struct cst__gc_doomed {
  const char *text; /* its path */
  int64_t id;       /* of its artifact */
  size_t artifact;
  size_t path;
  bool is_stray; /* nothing stands behind it any more */
} cst__gc_doomed;

/* An array that grows. */
typedef struct cst__gc_array {
  void *items;
  size_t count, capacity;
} cst__gc_array;

/* Leases and executions, each in the order of ids. */
typedef struct cst__gc_held {
  cst__gc_array leases;     /* cst__gc_lease */
  cst__gc_array leased;     /* cst__gc_event: the lease as `execution` */
  cst__gc_array executions; /* cst__gc_execution: those that run */
  cst__gc_array running;    /* cst__gc_event: theirs */
  cst__gc_array events;     /* cst__gc_event: all; empty unless ancestors are wanted */
} cst__gc_held;

typedef struct cst__gc_plan {
  cst_lineage *store;
  const cst_lineage_gc_options *options;
  cst__arena arena; /* all texts */
  int64_t now;
  cst__gc_array types, artifacts, paths; /* in the order of ids */
  cst__gc_array links;                   /* in the order of artifacts */
  cst__gc_array references;              /* in the order of `from` */
  cst__gc_held held;
  cst__gc_array left_over; /* cst__gc_doomed */
  cst__gc_array roots;     /* const char *: absolute */
  cst__gc_array needed;    /* const char *: what stays, in the order of bytes */
  cst__gc_array going;     /* const char *: what is doomed, in the same order */
  cst__gc_array doomed;    /* size_t: the paths of `going`, but the last one first */
  cst__name_map by_text;   /* paths that stay, and that are doomed */
  size_t near;             /* while tables are read: the artifact of the row before */
} cst__gc_plan;

static inline cst__gc_artifact *cst__gc_artifact_at(const cst__gc_plan *plan, size_t i) {
  return (cst__gc_artifact *)plan->artifacts.items + i;
}
static inline cst__gc_link *cst__gc_link_at(const cst__gc_plan *plan, size_t i) {
  return (cst__gc_link *)plan->links.items + i;
}
static inline cst__gc_path *cst__gc_path_at(const cst__gc_plan *plan, size_t i) {
  return (cst__gc_path *)plan->paths.items + i;
}
/* The links of the i-th artifact end where those of the next begin. */
static inline size_t cst__gc_links_end(const cst__gc_plan *plan, size_t i) {
  return i + 1 < plan->artifacts.count ? cst__gc_artifact_at(plan, i + 1)->links
                                       : plan->links.count;
}

/* Adds an item of zeros; NULL: no memory. */
void *cst__gc_append(cst__gc_plan *plan, cst__gc_array *array, size_t item_size);
/* A text that lives as long as the plan. */
cst_status cst__gc_copy(cst__gc_plan *plan, const char *text, const char **out, cst_error *error);
cst_status cst__gc_print(cst__gc_plan *plan, const char **out, cst_error *error, const char *fmt,
                         ...) CST__PRINTF(4, 5);
/* "sessions@4", or "17". */
void cst__gc_label(const cst__gc_plan *plan, size_t artifact, char label[], size_t room);

/* ---- gc_load.c ---- */

cst_status cst__gc_load(cst__gc_plan *plan, cst_error *error);
/* The artifact of an id, or CST__GC_NONE. `near` is tried first. */
size_t cst__gc_find(const cst__gc_plan *plan, int64_t id, size_t near);
size_t cst__gc_find_execution(const cst__gc_plan *plan, int64_t id);

/* ---- gc_plan.c ---- */

/* Which leases last, which executions have lapsed, and `why` of each artifact. */
cst_status cst__gc_choose(cst__gc_plan *plan, cst_error *error);

/* ---- gc_files.c ---- */

/* Which links of those that go are doomed. */
cst_status cst__gc_choose_files(cst__gc_plan *plan, cst_error *error);
/* The parent of a stored path, in place; false: there is none. `room` is for the store's folder. */
bool cst__gc_parent(const cst_lineage *store, char *path, size_t room);

/* Some stored paths, in the order of bytes. */
typedef struct cst__gc_spared {
  const char *const *paths;
  size_t count;
} cst__gc_spared;

/* Those of an array that lie below a folder. *out is borrowed. */
cst_status cst__gc_find_below(cst__gc_plan *plan, const cst__gc_array *texts, const char *folder,
                              cst__gc_spared *out, cst_error *error);
/* The index of a path of this text, or CST__GC_NONE. */
size_t cst__gc_find_path(const cst__gc_plan *plan, const char *text);

/* ---- gc_walk.c ---- */

typedef struct cst__gc_task {
  const char *root; /* absolute */
  const char *rest; /* from there: "a/b" */
  const char *path; /* as it is stored */
  bool is_file;
  bool is_dry;            /* nothing is deleted, but counted */
  cst__gc_spared needed;  /* stays, and the folders above it */
  cst__gc_spared counted; /* is not there any more, though a dry run finds it */
  int64_t deadline;       /* monotonic ns, when it stops in the middle; 0: never */
} cst__gc_task;

typedef enum cst__gc_end {
  CST__GC_DONE,    /* it is deleted, but for what is needed */
  CST__GC_MISSING, /* there was nothing */
  CST__GC_SPARED,  /* it is not what was added: `reason` */
  CST__GC_UNABLE,  /* the system did not allow it: `reason` */
  CST__GC_OUT_OF_TIME
} cst__gc_end;

enum { CST__GC_REASON = 200 };
typedef struct cst__gc_outcome {
  cst__gc_end end;
  int64_t files, bytes; /* that are deleted; added to what is there */
  char reason[CST__GC_REASON];
} cst__gc_outcome;

/* CST_NO_MEMORY, or CST_OK. */
cst_status cst__gc_walk(const cst__gc_task *task, cst__gc_outcome *outcome, cst_error *error);
int64_t cst__gc_clock(void); /* monotonic ns */

/* ---- gc_delete.c ---- */

/* In a transaction: ends executions, marks, and writes `doomed`. */
cst_status cst__gc_write(cst__gc_plan *plan, cst_error *error);
/* Afterwards, in transactions of its own. */
cst_status cst__gc_delete(cst__gc_plan *plan, cst_error *error);
/* What cst__gc_delete would do, by the plan alone. */
cst_status cst__gc_rehearse(cst__gc_plan *plan, cst_error *error);

#endif /* LINEAGE_GC_H */
