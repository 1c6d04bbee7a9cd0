/* Many processes at one store, and kill -9 at random moments: what was acknowledged is there and
 * whole, what is live has its files, and a run of garbage collection that was stopped goes on.
 *
 * 200 kills; COLUMNSTONE_LONG: 10,000. The parent never has a store open when it forks. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/wait.h>
#include <time.h>

#include "lineage_gc_support.h"

enum { KEEP = 3, CHILDREN = 2, ROUNDS_OF_STORE = 50 };

static char folder[512];
static char store_path[600];

/* ---- chance ---- */

static uint64_t chance_state;
static int chance(int n) {
  chance_state ^= chance_state << 13;
  chance_state ^= chance_state >> 7;
  chance_state ^= chance_state << 17;
  return (int)((chance_state >> 11) % (uint64_t)n);
}

/* ---- what a child does, until it is killed ---- */

/* Failures end a child with a code of its own; what it says goes to the standard error. */
static void fail_child(const char *what, const cst_error *error) {
  fprintf(stderr, "%s: %s (%s): %s\n", what, error->message, error->hint, error->file);
  _exit(3);
}

/* What others may bring about: the artifact or its file has gone meanwhile. */
static bool is_race(cst_status status) { return status == CST_STATE || status == CST_NOT_FOUND; }

static void acknowledge(int64_t id) {
  char line[32];
  const int size = snprintf(line, sizeof line, "%lld\n", (long long)id);
  if (write(STDOUT_FILENO, line, (size_t)size) != size) {
    _exit(4);
  }
}

static void write_new(const char *path, const char *text) {
  FILE *file = fopen(path, "wb");
  if (file == NULL || fputs(text, file) < 0 || fclose(file) != 0) {
    perror(path);
    _exit(5);
  }
}

static const char *const names[] = {"x", "it's", "a \"b\""};

/* Adds a file, or a folder of two, of a new name; its content is a property. */
static int64_t add_new(cst_lineage *store, int number, cst_lineage_state state) {
  char path[700];
  char text[64];
  char inner[800];
  int64_t id = 0;
  cst_error error = CST_ERROR_INIT;
  const bool is_folder = chance(3) == 0;
  (void)snprintf(text, sizeof text, "%ld-%d", (long)getpid(), number);
  (void)snprintf(path, sizeof path, "%s/f%s", folder, text);
  if (is_folder) {
    (void)mkdir(path, 0777);
    (void)snprintf(inner, sizeof inner, "%s/one", path);
    write_new(inner, text);
    (void)snprintf(inner, sizeof inner, "%s/two", path);
    write_new(inner, text);
  } else {
    write_new(path, text);
  }
  const cst_lineage_property properties[] = {
      {.name = "content", .kind = CST_LINEAGE_TEXT, .bytes = {(const uint8_t *)text, strlen(text)}},
      {.name = "files", .kind = CST_LINEAGE_INT, .number = is_folder ? 2 : 1}};
  const cst_lineage_file file = {path, NULL, NULL};
  cst_lineage_artifact artifact = CST_LINEAGE_ARTIFACT_INIT;
  artifact.type = "Examples";
  artifact.name = names[chance(3)];
  artifact.files = &file;
  artifact.num_files = 1;
  artifact.properties = properties;
  artifact.num_properties = 2;
  artifact.state = state;
  if (cst_lineage_add(store, &artifact, &id, NULL, &error) != CST_OK) {
    fail_child("add", &error);
  }
  return id;
}

/* An artifact that is live, of a type; 0: there is none. */
static int64_t pick(cst_lineage *store, const char *type) {
  cst_findings *found;
  cst_error error = CST_ERROR_INIT;
  cst_lineage_query query = CST_LINEAGE_QUERY_INIT;
  query.type = type;
  query.limit = 8;
  if (cst_lineage_find(store, &query, &found, &error) != CST_OK) {
    fail_child("find", &error);
  }
  const size_t count = cst_findings_num_rows(found);
  const size_t row = count > 0 ? (size_t)chance((int)count) : 0;
  const int64_t id = count > 0 && strcmp(cst_findings_text(found, "state", row), "live") == 0
                         ? cst_findings_number(found, "id", row)
                         : 0;
  cst_findings_free(found);
  return id;
}

static void bind_one(cst_lineage *store) {
  cst_error error = CST_ERROR_INIT;
  int64_t bound;
  const int64_t examples = pick(store, "Examples");
  const int64_t view = pick(store, "DataView");
  if (examples == 0 || view == 0) {
    return;
  }
  const cst_status status = cst_lineage_bind(store, examples, view, "bound", &bound, &error);
  if (status != CST_OK && !is_race(status)) {
    fail_child("bind", &error);
  }
  if (status == CST_OK) {
    acknowledge(bound);
  }
}

/* While it is held it has its file, whoever collects garbage. */
static void lease_one(cst_lineage *store) {
  cst_error error = CST_ERROR_INIT;
  cst_findings *found;
  cst_lineage_lease *lease;
  const int64_t id = pick(store, "Examples");
  if (id == 0) {
    return;
  }
  const cst_status status = cst_lineage_lease_new(store, &id, 1, NULL, &lease, &error);
  if (status != CST_OK) {
    if (!is_race(status)) {
      fail_child("lease", &error);
    }
    return;
  }
  cst_lineage_query query = CST_LINEAGE_QUERY_INIT;
  query.ids = &id;
  query.num_ids = 1;
  (void)usleep((useconds_t)chance(3000));
  if (cst_lineage_find(store, &query, &found, &error) != CST_OK) {
    fail_child("find", &error);
  }
  if (cst_findings_num_rows(found) != 1 ||
      access(cst_findings_text(found, "files.path", 0), F_OK) != 0) {
    fprintf(stderr, "a lease did not hold the files of artifact %d\n", (int)id);
    _exit(6);
  }
  cst_findings_free(found);
  cst_lineage_lease_free(lease);
}

static void execute(cst_lineage *store, int number) {
  cst_error error = CST_ERROR_INIT;
  int64_t execution;
  const int64_t in = pick(store, "Examples");
  const cst_lineage_event input = {in, "in"};
  cst_lineage_execution run = CST_LINEAGE_EXECUTION_INIT;
  run.type = "copy";
  run.inputs = &input;
  run.num_inputs = in != 0;
  cst_status status = cst_lineage_start(store, &run, &execution, &error);
  if (status != CST_OK) {
    if (!is_race(status)) {
      fail_child("start", &error);
    }
    return;
  }
  const int64_t out = add_new(store, number, CST_LINEAGE_PENDING);
  if (cst_lineage_output(store, execution, out, "out", &error) != CST_OK) {
    fail_child("output", &error);
  }
  const bool is_good = chance(4) != 0;
  if (cst_lineage_end(store, execution, is_good ? CST_LINEAGE_COMPLETE : CST_LINEAGE_FAILED,
                      &error) != CST_OK) {
    fail_child("end", &error);
  }
  acknowledge(out);
}

/* Two that belong together. */
static void add_both(cst_lineage *store, int number) {
  cst_error error = CST_ERROR_INIT;
  if (cst_lineage_begin(store, &error) != CST_OK) {
    fail_child("begin", &error);
  }
  const int64_t one = add_new(store, number, CST_LINEAGE_LIVE);
  const int64_t two = add_new(store, number + 1, CST_LINEAGE_LIVE);
  const cst_lineage_property other = {.name = "other", .kind = CST_LINEAGE_INT, .number = two};
  if (cst_lineage_set(store, CST_LINEAGE_OF_ARTIFACTS, one, &other, 1, &error) != CST_OK ||
      cst_lineage_commit(store, &error) != CST_OK) {
    fail_child("commit", &error);
  }
  acknowledge(one);
  acknowledge(two);
}

/* The same file again, by another artifact. */
static void add_shared(cst_lineage *store) {
  cst_error error = CST_ERROR_INIT;
  cst_findings *found;
  cst_lineage_query query = CST_LINEAGE_QUERY_INIT;
  const int64_t id = pick(store, "Examples");
  int64_t added;
  query.ids = &id;
  query.num_ids = 1;
  if (id == 0 || cst_lineage_find(store, &query, &found, &error) != CST_OK) {
    return;
  }
  const char *path =
      cst_findings_num_rows(found) > 0 ? cst_findings_text(found, "files.path", 0) : NULL;
  const char *name = path != NULL ? strrchr(path, '/') + 2 : NULL;
  if (name != NULL) {
    size_t begin, end;
    bool is_folder = false;
    (void)cst_findings_items(found, "properties", 0, &begin, &end);
    for (size_t i = begin; i < end; i++) {
      is_folder |= strcmp(cst_findings_text(found, "properties.name", i), "files") == 0 &&
                   cst_findings_number(found, "properties.number", i) == 2;
    }
    const cst_lineage_property properties[] = {
        {.name = "content",
         .kind = CST_LINEAGE_TEXT,
         .bytes = {(const uint8_t *)name, strlen(name)}},
        {.name = "files", .kind = CST_LINEAGE_INT, .number = is_folder ? 2 : 1}};
    const cst_lineage_file file = {path, NULL, NULL};
    cst_lineage_artifact artifact = CST_LINEAGE_ARTIFACT_INIT;
    artifact.type = "Examples";
    artifact.name = "shared";
    artifact.files = &file;
    artifact.num_files = 1;
    artifact.properties = properties;
    artifact.num_properties = 2;
    const cst_status status = cst_lineage_add(store, &artifact, &added, NULL, &error);
    if (status == CST_OK) {
      acknowledge(added);
    } else if (!is_race(status) && status != CST_IO) { /* a file goes while it is read */
      fail_child("add shared", &error);
    }
  }
  cst_findings_free(found);
}

static void collect(cst_lineage *store) {
  cst_findings *found;
  cst_error error = CST_ERROR_INIT;
  cst_lineage_gc_options options = CST_LINEAGE_GC_OPTIONS_INIT;
  options.keep = KEEP;
  if (cst_lineage_gc(store, &options, &found, &error) != CST_OK) {
    fail_child("gc", &error);
  }
  cst_findings_free(found);
}

static void work(uint64_t seed, int steps) {
  cst_lineage *store;
  cst_error error = CST_ERROR_INIT;
  chance_state = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
  if (cst_lineage_open(store_path, NULL, &store, &error) != CST_OK) {
    fail_child("open", &error);
  }
  for (int i = 0; i < steps; i++) {
    switch (chance(8)) {
      case 0:
        collect(store);
        break;
      case 1:
        bind_one(store);
        break;
      case 2:
        lease_one(store);
        break;
      case 3:
        execute(store, 2 * i);
        break;
      case 4:
        add_both(store, 2 * i);
        break;
      case 5:
        add_shared(store);
        break;
      default:
        acknowledge(add_new(store, 2 * i, CST_LINEAGE_LIVE));
    }
  }
  cst_lineage_free(store);
  _exit(0);
}

/* ---- what holds at any time ---- */

/* All that this says of the artifacts, for SQL: an id, state, file, content, its number of files.
 */
static const char all_files[] =
    "SELECT a.id, a.state, f.path, p.value, n.value, (SELECT count(*) FROM artifact_file c WHERE"
    " c.artifact = a.id) FROM artifact a JOIN type t ON t.id = a.type LEFT JOIN artifact_file l ON"
    " l.artifact = a.id LEFT JOIN file f ON f.id = l.file LEFT JOIN property p ON p.kind = 0 AND"
    " p.owner = a.id AND p.name = 'content' LEFT JOIN property n ON n.kind = 0 AND n.owner = a.id"
    " AND n.name = 'files' WHERE t.name = 'Examples'";

static bool has_text(const char *path, const char *text) {
  char found[64] = "";
  const int fd = open(path, O_RDONLY);
  const ssize_t size = fd >= 0 ? read(fd, found, sizeof found - 1) : -1;
  if (fd >= 0) {
    (void)close(fd);
  }
  return size == (ssize_t)strlen(text) && strcmp(found, text) == 0;
}

static void check_artifact(sqlite3_stmt *row) {
  char path[1200];
  char inner[1300];
  const int id = sqlite3_column_int(row, 0);
  const int state = sqlite3_column_int(row, 1);
  const char *content = (const char *)sqlite3_column_text(row, 3);
  const int files = sqlite3_column_int(row, 4);
  if (content == NULL || files < 1 || sqlite3_column_int(row, 5) != 1) {
    printf("artifact %d is not whole\n", id);
    CHECK(false);
    return;
  }
  (void)snprintf(path, sizeof path, "%s/%s", folder, (const char *)sqlite3_column_text(row, 2));
  bool is_good = true;
  if (state == CST_LINEAGE_LIVE || state == CST_LINEAGE_PENDING) {
    if (files == 1) {
      is_good = has_text(path, content);
    } else {
      (void)snprintf(inner, sizeof inner, "%s/one", path);
      is_good = has_text(inner, content);
      (void)snprintf(inner, sizeof inner, "%s/two", path);
      is_good = is_good && has_text(inner, content);
    }
  }
  if (!is_good) {
    printf("artifact %d is in state %d, and its file %s (%d files, %s) is lost\n", id, state, path,
           files, content);
    CHECK(false);
  }
}

static int64_t count_of(sqlite3 *db, const char *sql) {
  sqlite3_stmt *row;
  CHECK_EQ(sqlite3_prepare_v2(db, sql, -1, &row, NULL), SQLITE_OK);
  CHECK_EQ(sqlite3_step(row), SQLITE_ROW);
  const int64_t count = sqlite3_column_int64(row, 0);
  sqlite3_finalize(row);
  return count;
}

/* `is_collected`: a run has come to its end, and nobody has done anything since. */
static void check_store(const char *acknowledged, bool is_collected) {
  sqlite3 *db;
  sqlite3_stmt *row;
  CHECK_EQ(sqlite3_open(store_path, &db), SQLITE_OK);
  CHECK_EQ(sqlite3_prepare_v2(db, all_files, -1, &row, NULL), SQLITE_OK);
  while (sqlite3_step(row) == SQLITE_ROW) {
    check_artifact(row);
  }
  sqlite3_finalize(row);
  CHECK_EQ(sqlite3_prepare_v2(db, "SELECT 1 FROM artifact WHERE id = ?", -1, &row, NULL),
           SQLITE_OK);
  FILE *file = fopen(acknowledged, "r");
  CHECK(file != NULL);
  for (long long id; fscanf(file, "%lld\n", &id) == 1;) {
    (void)sqlite3_bind_int64(row, 1, id);
    if (sqlite3_step(row) != SQLITE_ROW) {
      printf("artifact %lld is lost\n", id);
      CHECK(false);
    }
    (void)sqlite3_reset(row);
  }
  (void)fclose(file);
  sqlite3_finalize(row);
  /* What stays refers to nothing that goes, and those that were added together are. */
  CHECK_EQ(count_of(db, "SELECT count(*) FROM reference r JOIN artifact a ON a.id = r.artifact JOIN"
                        " artifact t ON t.id = r.target WHERE a.state IN (0, 1) AND t.state > 1"),
           0);
  CHECK_EQ(count_of(db, "SELECT count(*) FROM property WHERE name = 'other' AND value NOT IN"
                        " (SELECT id FROM artifact)"),
           0);
  CHECK_EQ(count_of(db, "SELECT count(*) FROM doomed d JOIN artifact a ON a.id = d.artifact WHERE"
                        " a.state <> 2"),
           0);
  if (getenv("COLUMNSTONE_SHOW") != NULL) {
    printf("%lld artifacts, %lld live, %lld marked, %lld deleted, %lld bound, %lld doomed\n",
           (long long)count_of(db, "SELECT count(*) FROM artifact"),
           (long long)count_of(db, "SELECT count(*) FROM artifact WHERE state = 0"),
           (long long)count_of(db, "SELECT count(*) FROM artifact WHERE state = 2"),
           (long long)count_of(db, "SELECT count(*) FROM artifact WHERE state = 3"),
           (long long)count_of(db, "SELECT count(*) FROM artifact WHERE name = 'bound'"),
           (long long)count_of(db, "SELECT count(*) FROM doomed"));
  }
  if (is_collected) {
    CHECK_EQ(count_of(db, "SELECT count(*) FROM doomed"), 0);
    CHECK_EQ(count_of(db, "SELECT count(*) FROM artifact WHERE state IN (2, 4)"), 0);
    CHECK_EQ(count_of(db, "SELECT count(*) FROM (SELECT name, count(*) AS n FROM artifact WHERE"
                          " state = 0 AND name NOT IN ('ranking') AND id NOT IN (SELECT artifact"
                          " FROM leased) AND id NOT IN (SELECT artifact FROM event JOIN execution"
                          " ON id = execution WHERE ended IS NULL) GROUP BY name) WHERE n > 3"),
             0);
    CHECK_EQ(count_of(db, "SELECT count(*) FROM pragma_integrity_check WHERE integrity_check <>"
                          " 'ok'"),
             0);
  }
  CHECK_EQ(sqlite3_close(db), SQLITE_OK);
}

/* ---- the parent ---- */

static void add_view(cst_lineage *store, const char *name) {
  char from[200];
  char bytes[1 << 16];
  int64_t id;
  cst_error error = CST_ERROR_INIT;
  (void)snprintf(from, sizeof from, "tests/data/views/v1/%s", name);
  FILE *file = fopen(from, "rb");
  CHECK(file != NULL);
  const size_t size = fread(bytes, 1, sizeof bytes, file);
  (void)fclose(file);
  harness_write_file(gc_path(folder, name), bytes, size);
  const cst_lineage_file view = {gc_path(folder, name), NULL, NULL};
  cst_lineage_artifact artifact = CST_LINEAGE_ARTIFACT_INIT;
  artifact.type = "DataView";
  artifact.name = "ranking";
  artifact.files = &view;
  artifact.num_files = 1;
  CHECK_STR(cst_lineage_add(store, &artifact, &id, NULL, &error) == CST_OK ? "" : error.message,
            "");
}

static void new_store(void) {
  cst_lineage *store = gc_store(folder);
  (void)snprintf(store_path, sizeof store_path, "%s", cst_lineage_path(store));
  add_view(store, "examples.cstv");
  add_view(store, "keep.cstv");
  cst_lineage_free(store);
}

static pid_t start(uint64_t seed, int steps, const char *acknowledged) {
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    const int fd = open(acknowledged, O_CREAT | O_WRONLY | O_APPEND, 0666);
    if (fd < 0 || dup2(fd, STDOUT_FILENO) < 0) {
      _exit(2);
    }
    work(seed, steps);
  }
  return child;
}

/* False: it was killed. A child that ends by itself has to end well. */
static bool has_ended(pid_t child) {
  int code;
  CHECK_EQ(waitpid(child, &code, 0), child);
  if (WIFEXITED(code)) {
    CHECK_EQ(WEXITSTATUS(code), 0);
  } else {
    CHECK_EQ(WTERMSIG(code), SIGKILL);
  }
  return WIFEXITED(code);
}

static void collect_here(void) {
  cst_lineage *store;
  CHECK_EQ(cst_lineage_open(store_path, NULL, &store, NULL), CST_OK);
  cst_lineage_gc_options options = CST_LINEAGE_GC_OPTIONS_INIT;
  options.keep = KEEP;
  cst_findings_free(gc_run(store, &options));
  cst_lineage_free(store);
}

TEST(kill_at_any_moment) {
  const int kills = getenv("COLUMNSTONE_LONG") != NULL ? 10000 : 200 / EVERY;
  char acknowledged[700] = "";
  uint64_t moment = 88172645463325252;
  for (int done = 0, round = 0; done < kills; round++) {
    pid_t children[CHILDREN];
    if (round % ROUNDS_OF_STORE == 0) {
      new_store();
      (void)snprintf(acknowledged, sizeof acknowledged, "%s.acknowledged", folder);
      harness_write_file(acknowledged, "", 0); /* children may be killed before they have one */
    }
    for (int i = 0; i < CHILDREN; i++) {
      children[i] = start((uint64_t)(round * CHILDREN + i), 100000, acknowledged);
    }
    moment = moment * UINT64_C(6364136223846793005) + 1442695040888963407;
    (void)usleep((useconds_t)(2000 + (moment >> 33) % 40000));
    for (int i = 0; i < CHILDREN; i++) {
      CHECK_EQ(kill(children[i], SIGKILL), 0);
    }
    for (int i = 0; i < CHILDREN; i++) {
      done += !has_ended(children[i]);
    }
    check_store(acknowledged, false);
    if (round % 5 == 4) {
      collect_here();
      check_store(acknowledged, true);
    }
  }
}

TEST(eight_processes_at_once) {
  enum { PROCESSES = 8, STEPS = 25 };
  char acknowledged[700];
  pid_t children[PROCESSES];
  new_store();
  (void)snprintf(acknowledged, sizeof acknowledged, "%s.acknowledged", folder);
  for (int i = 0; i < PROCESSES; i++) {
    children[i] = start((uint64_t)(1000000 + i), STEPS, acknowledged);
  }
  for (int i = 0; i < PROCESSES; i++) {
    CHECK(has_ended(children[i]));
  }
  check_store(acknowledged, false);
  collect_here();
  check_store(acknowledged, true);
  sqlite3 *db;
  CHECK_EQ(sqlite3_open(store_path, &db), SQLITE_OK);
  /* No version was lost or given twice. */
  CHECK_EQ(count_of(db, "SELECT count(*) FROM (SELECT max(version) <> count(*) AS bad FROM artifact"
                        " WHERE name IS NOT NULL GROUP BY name) WHERE bad"),
           0);
  CHECK_EQ(count_of(db, "SELECT count(*) FROM execution WHERE ended IS NULL"), 0);
  CHECK_EQ(count_of(db, "SELECT count(*) FROM lease"), 0);
  CHECK_EQ(sqlite3_close(db), SQLITE_OK);
}
