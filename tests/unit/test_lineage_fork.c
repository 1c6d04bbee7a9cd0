/* Forks beside open stores, whose threads the child does not have: what it writes by a store of its
 * own is not lost, whatever its parent and others do. */
#include <sys/wait.h>

#include "lineage_gc_support.h"

/* A child that does one thing after the other, each when it is told to. */
typedef struct child {
  pid_t process;
  int to, from;
} child;

static void tell(int fd) { CHECK_EQ(write(fd, "x", 1), 1); }
static bool hear(int fd) {
  char c;
  return read(fd, &c, 1) == 1;
}

static child start(void (*work)(const char *path, int from, int to), const char *path) {
  int down[2], up[2];
  CHECK_EQ(pipe(down), 0);
  CHECK_EQ(pipe(up), 0);
  const child c = {harness_fork(), down[1], up[0]};
  CHECK(c.process >= 0);
  if (c.process == 0) {
    work(path, down[0], up[1]);
    _exit(0);
  }
  (void)close(down[0]);
  (void)close(up[1]); /* so that a child that dies is heard of */
  return c;
}

static void end(const child *c) {
  int code;
  CHECK_EQ(waitpid(c->process, &code, 0), c->process);
  CHECK(WIFEXITED(code));
  CHECK_EQ(WEXITSTATUS(code), 0);
}

static int64_t try_add(cst_lineage *store) {
  int64_t id = 0;
  cst_lineage_artifact artifact = CST_LINEAGE_ARTIFACT_INIT;
  artifact.type = "m";
  artifact.name = "m";
  return cst_lineage_add(store, &artifact, &id, NULL, NULL) == CST_OK ? id : 0;
}

static void add_thrice(const char *path, int from, int to) {
  cst_lineage *store;
  if (cst_lineage_open(path, NULL, &store, NULL) != CST_OK || try_add(store) == 0) {
    _exit(2);
  }
  tell(to);
  if (!hear(from) || try_add(store) == 0 || try_add(store) == 0) {
    _exit(3);
  }
  cst_lineage_free(store);
}

static void open_late(const char *path, int from, int to) {
  cst_lineage *store;
  (void)to;
  if (!hear(from) || cst_lineage_open(path, NULL, &store, NULL) != CST_OK || try_add(store) == 0) {
    _exit(2);
  }
  cst_lineage_free(store);
}

static size_t count_artifacts(const char *path) {
  cst_lineage *store;
  cst_findings *found;
  CHECK_EQ(cst_lineage_open(path, NULL, &store, NULL), CST_OK);
  CHECK_EQ(cst_lineage_find(store, NULL, &found, NULL), CST_OK);
  const size_t count = cst_findings_num_rows(found);
  cst_findings_free(found);
  cst_lineage_free(store);
  return count;
}

TEST(a_child_writes_while_its_parent_closes) {
  char folder[512];
  char path[600];
  cst_lineage *store = gc_store(folder);
  (void)snprintf(path, sizeof path, "%s", cst_lineage_path(store));
  gc_add(store, "m", "m", NULL, (gc_more){0});
  const child c = start(add_thrice, path);
  CHECK(hear(c.from));
  gc_add(store, "m", "m", NULL, (gc_more){0}); /* the parent's is used again */
  cst_lineage_free(store);
  tell(c.to);
  end(&c);
  CHECK_EQ(count_artifacts(path), 5);
}

TEST(a_child_opens_what_its_parent_has_closed) {
  char folder[512];
  char path[600];
  cst_lineage *store = gc_store(folder);
  (void)snprintf(path, sizeof path, "%s", cst_lineage_path(store));
  gc_add(store, "m", "m", NULL, (gc_more){0});
  const int64_t id = 1;
  cst_lineage_lease *lease;
  CHECK_EQ(cst_lineage_lease_new(store, &id, 1, NULL, &lease, NULL), CST_OK);
  const child first = start(open_late, path);
  const child second = start(add_thrice, path);
  CHECK(hear(second.from));
  cst_lineage_free(store);
  cst_lineage_lease_free(lease);
  tell(first.to);
  end(&first);
  tell(second.to);
  end(&second);
  CHECK_EQ(count_artifacts(path), 5);
}

static void open_in_vain(const char *path, int from, int to) {
  cst_lineage *store;
  cst_error error = CST_ERROR_INIT;
  (void)from, (void)to;
  if (cst_lineage_open(path, NULL, &store, &error) != CST_STATE ||
      strstr(error.message, "was forked while this store was in use") == NULL) {
    _exit(2);
  }
}

TEST(a_child_of_a_transaction_cannot_open_its_store) {
  char folder[512];
  cst_lineage *store = gc_store(folder);
  CHECK_EQ(cst_lineage_begin(store, NULL), CST_OK);
  gc_add(store, "m", "m", NULL, (gc_more){0});
  const child c = start(open_in_vain, cst_lineage_path(store));
  end(&c);
  CHECK_EQ(cst_lineage_commit(store, NULL), CST_OK);
  const child after = start(open_late, cst_lineage_path(store));
  tell(after.to);
  end(&after);
  CHECK_EQ(count_artifacts(cst_lineage_path(store)), 2);
  cst_lineage_free(store);
}
