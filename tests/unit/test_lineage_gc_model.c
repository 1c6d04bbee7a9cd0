/* A model checker for garbage collection: random stores, files, policies and crashes. What
 * cst_lineage_gc does is compared with a slow reference, which has sets and loops over all of them
 * and nothing else. COLUMNSTONE_LONG tries 100,000 stores; a number in COLUMNSTONE_SEED one.
 */
#include <fcntl.h>

#include "lineage/store.h"
#include "lineage_gc_support.h"

enum {
  ARTIFACTS = 12,
  EXECUTIONS = 3,
  LEASES = 3,
  FILES_OF = 4, /* of one artifact, at most */
  NAMES = 3,
  TYPES = 3,
  S = 1000000 /* us in a second */
};
static const int64_t NOW = INT64_C(1000) * 86400 * S;
static const int64_t WEEK = INT64_C(7) * 86400 * S;

/* ---- files: a small world ---- */

typedef enum kind { NOTHING, A_FILE, A_FOLDER, A_LINK } kind;

typedef struct place {
  const char *path; /* as it is stored; of OTHER: in another folder */
  kind usual;
  bool is_foreign; /* no path that may ever be deleted */
} place;

static const place world[] = {
    {"a", A_FILE, false},         {"b", A_FILE, false},     {"a b'\n", A_FILE, false},
    {"d", A_FOLDER, false},       {"d/x", A_FILE, false},   {"d/s", A_FOLDER, false},
    {"d/s/y", A_FILE, false},     {"d/s/z", A_FILE, false}, {"d!x", A_FILE, false},
    {"e", A_FOLDER, false},       {"e/x", A_FILE, false},   {"e/t", A_FOLDER, false},
    {"e/t/w", A_FILE, false},     {"d/l", A_LINK, false},   {"never", NOTHING, false},
    {"m", A_LINK, false},         {"m/x", NOTHING, false},  {"OTHER", A_FILE, true},
    {"lineage.db", A_FILE, true}, {".", A_FOLDER, true},    {"s3://bucket/x", NOTHING, true},
};
enum { PLACES = sizeof world / sizeof world[0], BEHIND_A_LINK = 16, OTHER = 17, STORE = 18 };

static char folder[512];
static char other[512]; /* outside of all roots; has a file "x" and a file "OTHER" */
static cst_lineage *store;

static const char *real_path(int p) {
  return p == OTHER ? gc_path(other, "OTHER") : gc_path(folder, world[p].path);
}

static kind kind_of(int p) {
  struct stat info;
  if (p == BEHIND_A_LINK) {
    return NOTHING;
  }
  if (world[p].is_foreign && p != OTHER && p != STORE) {
    return world[p].usual;
  }
  return lstat(real_path(p), &info) != 0 ? NOTHING
         : S_ISDIR(info.st_mode)         ? A_FOLDER
         : S_ISLNK(info.st_mode)         ? A_LINK
                                         : A_FILE;
}

/* Whether the place p is q, or lies in it. */
static bool is_in(int p, int q) {
  const size_t size = strlen(world[q].path);
  if (p == q) {
    return true;
  }
  if (p == OTHER || q == OTHER || strstr(world[p].path, "://") != NULL) {
    return false;
  }
  return strcmp(world[q].path, ".") == 0 ||
         (strncmp(world[p].path, world[q].path, size) == 0 && world[p].path[size] == '/');
}

/* ---- the model ---- */

typedef struct artifact {
  int type, name; /* name -1: none */
  int64_t version, created;
  int span; /* -1: none */
  cst_lineage_state state;
  bool is_external;
  int num_files;
  int files[FILES_OF];
  bool is_file[FILES_OF];     /* it was one when it was added */
  bool has_role[FILES_OF];    /* it is not data, and stays */
  bool has_changed[FILES_OF]; /* since it was added */
  bool is_doomed[FILES_OF];   /* a row of an earlier run */
} artifact;

typedef struct model {
  int num_artifacts, num_executions, num_leases;
  artifact a[ARTIFACTS];
  bool refers[ARTIFACTS][ARTIFACTS]; /* from, to */
  bool runs[EXECUTIONS];
  int64_t started[EXECUTIONS];
  bool input[EXECUTIONS][ARTIFACTS], output[EXECUTIONS][ARTIFACTS];
  bool is_there[LEASES];
  int64_t expires[LEASES];
  int execution[LEASES]; /* -1: none */
  bool leased[LEASES][ARTIFACTS];
  kind kinds[PLACES];
  bool roots_are_folders; /* d and e, and not the store's */
} model;

typedef struct policy {
  int64_t keep, max_age;
  bool by_span, by_type, by_name;
  bool may_go[TYPES];
  bool keeps_ancestors; /* of the type 2 */
} policy;

/* ---- chance ---- */

static uint64_t chance_state;
static int chance(int n) {
  chance_state ^= chance_state << 13;
  chance_state ^= chance_state >> 7;
  chance_state ^= chance_state << 17;
  return (int)((chance_state >> 11) % (uint64_t)n);
}
static bool once_in(int n) { return chance(n) == 0; }

static void make_artifact(model *m, int i) {
  static const cst_lineage_state states[] = {1, 2, 2, 3, 4};
  artifact *a = &m->a[i];
  *a = (artifact){.type = chance(TYPES), .name = chance(NAMES + 1) - 1, .span = chance(3) - 1};
  a->span += i == 0 && a->span < 0; /* a group of a property that nothing has is an error */
  a->version = a->name >= 0 ? i + 1 : 0;
  a->created = NOW - (int64_t)chance(6) * 10 * S;
  a->state = chance(10) < 7 ? CST_LINEAGE_LIVE : states[chance(5)];
  a->is_external = once_in(10);
  a->num_files = chance(FILES_OF);
  const bool is_unfinished = a->state == CST_LINEAGE_MARKED && once_in(2);
  for (int f = 0; f < a->num_files; f++) {
    const int place_of = chance(PLACES);
    a->files[f] = place_of;
    a->is_file[f] = world[place_of].usual != A_FOLDER && world[place_of].usual != NOTHING;
    if (once_in(20)) {
      a->is_file[f] = !a->is_file[f];
    }
    a->has_role[f] = once_in(8);
    a->has_changed[f] = once_in(8);
    a->is_doomed[f] = is_unfinished && !a->is_external && !a->has_role[f] && once_in(2);
    for (int g = 0; g < f; g++) {
      if (a->files[g] == place_of) { /* each once */
        a->num_files--;
        f--;
        break;
      }
    }
  }
}

static void make_model(model *m) {
  memset(m, 0, sizeof *m);
  m->num_artifacts = 1 + chance(ARTIFACTS - 1); /* one is added later */
  for (int i = 0; i < m->num_artifacts; i++) {
    make_artifact(m, i);
  }
  for (int i = chance(8); i > 0; i--) {
    m->refers[chance(m->num_artifacts)][chance(m->num_artifacts)] = true;
  }
  m->num_executions = chance(EXECUTIONS + 1);
  for (int e = 0; e < m->num_executions; e++) {
    m->runs[e] = once_in(2);
    m->started[e] = once_in(3) ? NOW - WEEK + chance(3) - 1 : NOW - 5;
    for (int i = chance(4); i > 0; i--) {
      m->input[e][chance(m->num_artifacts)] = true;
      m->output[e][chance(m->num_artifacts)] = true;
    }
  }
  m->num_leases = chance(LEASES + 1);
  for (int l = 0; l < m->num_leases; l++) {
    m->is_there[l] = true;
    m->expires[l] = NOW + chance(3) - 1;
    m->execution[l] = m->num_executions > 0 && once_in(2) ? chance(m->num_executions) : -1;
    for (int i = chance(3); i > 0; i--) {
      m->leased[l][chance(m->num_artifacts)] = true;
    }
  }
  m->roots_are_folders = once_in(6);
  for (int p = 0; p < PLACES; p++) {
    m->kinds[p] = world[p].is_foreign || !once_in(6) ? world[p].usual : NOTHING;
    if (m->roots_are_folders && (p == 3 || p == 9)) {
      m->kinds[p] = A_FOLDER; /* a root that is not there is not mounted: all stays */
    }
    for (int q = 0; q < p; q++) {
      if (m->kinds[q] == NOTHING && world[q].usual == A_FOLDER && is_in(p, q)) {
        m->kinds[p] = NOTHING;
      }
    }
  }
}

static policy make_policy(void) {
  policy p = {.keep = chance(4), .max_age = once_in(2) ? 0 : chance(40) + 1};
  p.keep = p.keep == 3 ? 0 : p.keep;
  p.by_span = once_in(3);
  p.by_type = once_in(3);
  p.by_name = once_in(3);
  for (int t = 0; t < TYPES; t++) {
    p.may_go[t] = !once_in(6);
  }
  p.keeps_ancestors = once_in(3);
  return p;
}

/* ---- into a store and onto the disk, and back ---- */

static void run_sql(const char *sql) {
  char *message = NULL;
  if (sqlite3_exec(store->db, sql, NULL, NULL, &message) != SQLITE_OK) {
    printf("%s: %s\n", message, sql);
    CHECK(false);
  }
}

static char sql_text[1 << 16];
static size_t sql_size;
static void add_sql(const char *fmt, ...) CST__PRINTF(1, 2);
static void add_sql(const char *fmt, ...) {
  va_list args;
  va_start(args, fmt);
  sql_size += (size_t)vsnprintf(sql_text + sql_size, sizeof sql_text - sql_size, fmt, args);
  va_end(args);
  CHECK(sql_size < sizeof sql_text);
}

static void put_path(int p) {
  const char *text = p == OTHER ? real_path(p) : world[p].path;
  add_sql("x'");
  for (; *text != '\0'; text++) {
    add_sql("%02x", (unsigned)(unsigned char)*text);
  }
  add_sql("'");
}

static void put_artifact(const model *m, int i) {
  static const char *const names[] = {"NULL,NULL", "'x'", "'it''s'", "'long name'"};
  const artifact *a = &m->a[i];
  add_sql("INSERT INTO artifact VALUES(%d,%d,%s", i + 1, a->type + 1, names[a->name + 1]);
  if (a->name >= 0) {
    add_sql(",%d", (int)a->version);
  }
  add_sql(",%d,NULL,%d,%lld,0);", (int)a->state, a->is_external, (long long)a->created);
  if (a->span >= 0) {
    add_sql("INSERT INTO property VALUES(0,%d,'span',0,%d);", i + 1, a->span);
  }
  for (int f = 0; f < a->num_files; f++) {
    add_sql("INSERT INTO artifact_file VALUES(%d,%d,%d,NULL,%s,5,%s,NULL);", i + 1, f,
            a->files[f] + 1, a->has_role[f] ? "'descriptors'" : "NULL",
            !a->is_file[f]      ? "NULL"
            : a->has_changed[f] ? "2"
                                : "1");
    if (a->is_doomed[f]) {
      add_sql("INSERT INTO doomed VALUES(");
      put_path(a->files[f]);
      add_sql(",%d);", i + 1);
    }
  }
}

static void put_store(const model *m) {
  sql_size = 0;
  add_sql("BEGIN;DELETE FROM artifact;DELETE FROM file;DELETE FROM artifact_file;"
          "DELETE FROM property;DELETE FROM reference;DELETE FROM execution;DELETE FROM event;"
          "DELETE FROM lease;DELETE FROM leased;DELETE FROM doomed;DELETE FROM root;"
          "DELETE FROM type;INSERT INTO type VALUES(1,0,'A'),(2,0,'B'),(3,0,'Model'),(4,1,'run');");
  for (int p = 0; p < PLACES; p++) {
    add_sql("INSERT INTO file VALUES(%d,", p + 1);
    put_path(p);
    add_sql(");");
  }
  for (int i = 0; i < m->num_artifacts; i++) {
    put_artifact(m, i);
    for (int j = 0; j < m->num_artifacts; j++) {
      if (m->refers[i][j]) {
        add_sql("INSERT INTO reference VALUES(%d,'r%d',%d);", i + 1, (i + j) % 2, j + 1);
      }
    }
  }
  for (int e = 0; e < m->num_executions; e++) {
    add_sql("INSERT INTO execution VALUES(%d,4,NULL,%d,%lld,%s);", e + 1, m->runs[e] ? 0 : 1,
            (long long)m->started[e], m->runs[e] ? "NULL" : "1");
    for (int i = 0; i < m->num_artifacts; i++) {
      if (m->input[e][i]) {
        add_sql("INSERT INTO event VALUES(%d,0,%d,'',0);", e + 1, i + 1);
      }
      if (m->output[e][i]) {
        add_sql("INSERT INTO event VALUES(%d,1,%d,'',0);", e + 1, i + 1);
      }
    }
  }
  for (int l = 0; l < m->num_leases; l++) {
    add_sql("INSERT INTO lease VALUES(%d,'H%d',%lld,", l + 1, l, (long long)m->expires[l]);
    add_sql(m->execution[l] >= 0 ? "%d);" : "NULL);", m->execution[l] + 1);
    for (int i = 0; i < m->num_artifacts; i++) {
      if (m->leased[l][i]) {
        add_sql("INSERT INTO leased VALUES(%d,%d);", l + 1, i + 1);
      }
    }
  }
  add_sql("INSERT INTO root VALUES%s;COMMIT",
          m->roots_are_folders ? "(CAST('d' AS BLOB)),(CAST('e' AS BLOB))" : "(CAST('.' AS BLOB))");
  run_sql(sql_text);
}

static void put_files(const model *m) {
  for (int p = PLACES; p-- > 0;) { /* what is in a folder before the folder */
    if (!world[p].is_foreign && m->kinds[p] != kind_of(p)) {
      (void)remove(real_path(p));
    }
  }
  for (int p = 0; p < PLACES; p++) {
    if (world[p].is_foreign || m->kinds[p] == kind_of(p)) {
      continue;
    }
    if (m->kinds[p] == A_FOLDER) {
      CHECK_EQ(mkdir(real_path(p), 0777), 0);
    } else if (m->kinds[p] == A_LINK) {
      CHECK_EQ(symlink(other, real_path(p)), 0);
    } else if (m->kinds[p] == A_FILE) {
      const int fd = open(real_path(p), O_CREAT | O_WRONLY, 0666);
      CHECK(fd >= 0);
      const struct timespec times[2] = {{0, 1}, {0, 1}}; /* as put_artifact says */
      CHECK_EQ(write(fd, "12345", 5), 5);
      CHECK_EQ(futimens(fd, times), 0);
      CHECK_EQ(close(fd), 0);
    }
    CHECK_EQ(kind_of(p), m->kinds[p]);
  }
}

static sqlite3_stmt *rows_of(const char *sql) {
  sqlite3_stmt *row;
  CHECK_EQ(sqlite3_prepare_v2(store->db, sql, -1, &row, NULL), SQLITE_OK);
  return row;
}

/* What a run changes. */
static void read_back(model *m) {
  sqlite3_stmt *row = rows_of("SELECT id, state FROM artifact");
  while (sqlite3_step(row) == SQLITE_ROW) {
    m->a[sqlite3_column_int(row, 0) - 1].state = (cst_lineage_state)sqlite3_column_int(row, 1);
  }
  sqlite3_finalize(row);
  for (int i = 0; i < m->num_artifacts; i++) {
    memset(m->a[i].is_doomed, 0, sizeof m->a[i].is_doomed);
  }
  row = rows_of("SELECT f.id, d.artifact FROM doomed d JOIN file f ON f.path = d.path");
  while (sqlite3_step(row) == SQLITE_ROW) {
    artifact *a = &m->a[sqlite3_column_int(row, 1) - 1];
    for (int f = 0; f < a->num_files; f++) {
      a->is_doomed[f] |= a->files[f] == sqlite3_column_int(row, 0) - 1;
    }
  }
  sqlite3_finalize(row);
  row = rows_of("SELECT id, ended IS NULL FROM execution");
  while (sqlite3_step(row) == SQLITE_ROW) {
    m->runs[sqlite3_column_int(row, 0) - 1] = sqlite3_column_int(row, 1) != 0;
  }
  sqlite3_finalize(row);
  memset(m->is_there, 0, sizeof m->is_there);
  row = rows_of("SELECT id FROM lease");
  while (sqlite3_step(row) == SQLITE_ROW) {
    m->is_there[sqlite3_column_int(row, 0) - 1] = true;
  }
  sqlite3_finalize(row);
  for (int p = 0; p < PLACES; p++) {
    m->kinds[p] = kind_of(p);
  }
}

/* ---- the reference ---- */

typedef struct verdict {
  cst_lineage_state state[ARTIFACTS]; /* before, but with lapsed executions ended */
  bool lasts[LEASES], lapsed[EXECUTIONS];
  bool stays[ARTIFACTS], leads_up[ARTIFACTS];
  bool came_of[ARTIFACTS][ARTIFACTS]; /* a model, what it came from */
  bool goes[PLACES];
} verdict;

static bool is_newest(const model *m, const policy *p, const verdict *v, int i) {
  const artifact *a = &m->a[i];
  const bool by_name = p->by_name || (!p->by_span && !p->by_type);
  int64_t newer = 0;
  for (int j = 0; j < m->num_artifacts; j++) {
    const artifact *b = &m->a[j];
    const bool by_default = p->by_span && a->span < 0; /* by type and name alone */
    if (v->state[j] != CST_LINEAGE_LIVE || !p->may_go[b->type] ||
        (p->by_span && a->span != b->span) || ((p->by_type || by_default) && a->type != b->type) ||
        ((by_name || by_default) && a->name != b->name) ||
        (by_name && a->name < 0 && a->type != b->type)) {
      continue;
    }
    newer += b->created > a->created || (b->created == a->created && j > i);
  }
  return newer < p->keep;
}

static bool is_young(const model *m, const policy *p, int i) {
  return p->max_age > 0 && NOW - m->a[i].created < p->max_age * S;
}

static bool is_kept_by_policy(const model *m, const policy *p, const verdict *v, int i) {
  return (p->keep == 0 && p->max_age == 0) || !p->may_go[m->a[i].type] || is_newest(m, p, v, i) ||
         is_young(m, p, i);
}

static bool is_held(const model *m, const verdict *v, int i) {
  bool held = v->state[i] == CST_LINEAGE_PENDING;
  for (int e = 0; e < m->num_executions; e++) {
    held |= m->runs[e] && !v->lapsed[e] && (m->input[e][i] || m->output[e][i]);
  }
  for (int l = 0; l < m->num_leases; l++) {
    held |= v->lasts[l] && m->leased[l][i];
  }
  return held;
}

static void judge_executions(const model *m, verdict *v) {
  for (int l = 0; l < m->num_leases; l++) {
    v->lasts[l] =
        m->is_there[l] && m->expires[l] > NOW && (m->execution[l] < 0 || m->runs[m->execution[l]]);
  }
  for (int e = 0; e < m->num_executions; e++) {
    bool has = false, beats = false;
    for (int l = 0; l < m->num_leases; l++) {
      has |= m->is_there[l] && m->execution[l] == e;
      beats |= v->lasts[l] && m->execution[l] == e;
    }
    v->lapsed[e] = m->runs[e] && (has ? !beats : m->started[e] <= NOW - WEEK);
  }
  for (int i = 0; i < m->num_artifacts; i++) {
    v->state[i] = m->a[i].state;
    for (int e = 0; e < m->num_executions; e++) {
      if (v->lapsed[e] && m->output[e][i] && m->a[i].state == CST_LINEAGE_PENDING) {
        v->state[i] = CST_LINEAGE_ABANDONED;
      }
    }
  }
}

/* What `from` was made of, by one step. */
static bool came_from(const model *m, int from, int to) {
  bool came = m->refers[from][to];
  for (int e = 0; e < m->num_executions; e++) {
    came |= m->output[e][from] && m->input[e][to];
  }
  return came;
}

static void judge_artifacts(const model *m, const policy *p, verdict *v) {
  const int n = m->num_artifacts;
  for (int i = 0; i < n; i++) {
    v->stays[i] =
        v->state[i] != CST_LINEAGE_DELETED &&
        (is_held(m, v, i) || (v->state[i] == CST_LINEAGE_LIVE && is_kept_by_policy(m, p, v, i)));
  }
  for (bool changes = true; changes;) {
    changes = false;
    for (int i = 0; i < n; i++) {
      for (int j = 0; j < n; j++) {
        const bool up = p->keeps_ancestors && v->stays[i] && m->a[i].type == 2;
        if ((v->leads_up[i] || up) && came_from(m, i, j)) {
          for (int k = 0; k < n; k++) {
            const bool of = v->came_of[k][i] || (k == i && up);
            changes |= of && !v->came_of[k][j];
            v->came_of[k][j] |= of;
          }
          v->leads_up[j] = true;
        }
        const bool stays = v->state[j] != CST_LINEAGE_DELETED &&
                           (v->leads_up[j] || (v->stays[i] && m->refers[i][j]));
        changes |= stays && !v->stays[j];
        v->stays[j] |= stays;
      }
    }
  }
}

static bool is_needed(const model *m, const verdict *v, int p) {
  for (int i = 0; i < m->num_artifacts; i++) {
    for (int f = 0; f < m->a[i].num_files; f++) {
      if ((v->stays[i] || m->a[i].is_external) && is_in(p, m->a[i].files[f])) {
        return true;
      }
    }
  }
  return false;
}

static bool has_needed(const model *m, const verdict *v, int p) {
  for (int q = 0; q < PLACES; q++) {
    for (int i = 0; i < m->num_artifacts; i++) {
      for (int f = 0; f < m->a[i].num_files; f++) {
        if (q != p && is_in(q, p) && m->a[i].files[f] == q &&
            (v->stays[i] || m->a[i].is_external)) {
          return true;
        }
      }
    }
  }
  return false;
}

static bool may_be_deleted(const model *m, const verdict *v, int q) {
  const bool is_in_roots =
      !m->roots_are_folders || (q != 3 && q != 9 && (is_in(q, 3) || is_in(q, 9)));
  return !world[q].is_foreign && is_in_roots && !is_needed(m, v, q);
}

/* Wanted deleted, by an artifact that goes. */
static bool is_wanted(const model *m, const verdict *v, int q, bool *as_file) {
  bool wanted = false;
  *as_file = true;
  for (int i = 0; i < m->num_artifacts; i++) {
    const artifact *a = &m->a[i];
    bool is_unfinished = false;
    for (int f = 0; f < a->num_files; f++) {
      is_unfinished |= a->state == CST_LINEAGE_MARKED && a->is_doomed[f];
    }
    for (int f = 0; f < a->num_files; f++) {
      if (v->state[i] != CST_LINEAGE_DELETED && !v->stays[i] && !a->is_external &&
          !a->has_role[f] && a->files[f] == q && (!is_unfinished || a->is_doomed[f]) &&
          (!a->has_changed[f] || !a->is_file[f] || a->is_doomed[f] || m->kinds[q] != A_FILE)) {
        wanted = true;
        *as_file &= a->is_file[f];
      }
    }
  }
  return wanted;
}

static void judge_files(const model *m, verdict *v) {
  for (int q = 0; q < PLACES; q++) {
    bool as_file;
    const bool is_gone = m->kinds[q] == NOTHING || m->kinds[q] == A_LINK; /* a link is not it */
    if (is_gone || !is_wanted(m, v, q, &as_file) || !may_be_deleted(m, v, q) ||
        (m->kinds[q] == A_FOLDER && as_file)) {
      continue;
    }
    for (int r = 0; r < PLACES; r++) {
      v->goes[r] |= m->kinds[r] != NOTHING && is_in(r, q) && !is_needed(m, v, r) &&
                    !(m->kinds[r] == A_FOLDER && has_needed(m, v, r));
    }
  }
}

static verdict judge(const model *m, const policy *p) {
  verdict v = {0};
  judge_executions(m, &v);
  judge_artifacts(m, p, &v);
  judge_files(m, &v);
  return v;
}

/* ---- running, and comparing ---- */

static int64_t seed;
#define CHECK_CASE(condition)                                      \
  do {                                                             \
    if (!(condition)) {                                            \
      printf("seed %lld, artifact %d\n", (long long)seed, (int)i); \
      CHECK(condition);                                            \
    }                                                              \
  } while (0)

static cst_status run_gc(const policy *p, bool is_dry, cst_findings **out, cst_error *error) {
  static const char *const type_names[] = {"A", "B", "Model"};
  const char *by[3];
  const char *types[TYPES];
  cst_lineage_gc_options options = CST_LINEAGE_GC_OPTIONS_INIT;
  options.keep = p->keep;
  options.max_age = p->max_age;
  options.now = NOW;
  options.is_dry_run = is_dry;
  options.group_by = by;
  options.types = types;
  for (int t = 0; t < TYPES; t++) {
    types[options.num_types] = type_names[t];
    options.num_types += p->may_go[t];
  }
  by[options.num_group_by] = "span";
  options.num_group_by += p->by_span;
  by[options.num_group_by] = "type";
  options.num_group_by += p->by_type;
  by[options.num_group_by] = "name";
  options.num_group_by += p->by_name;
  options.keep_ancestors_of = &type_names[2];
  options.num_keep_ancestors_of = p->keeps_ancestors;
  return cst_lineage_gc(store, &options, out, error);
}

/* Whether a reason is one. */
static bool is_true(const model *m, const policy *p, const verdict *v, int i, const char *reason,
                    const cst_findings *found) {
  char text[200];
  int number = 0;
  if (strcmp(reason, "no policy given") == 0) {
    return p->keep == 0 && p->max_age == 0;
  }
  if (strcmp(reason, "not of a type that may go") == 0) {
    return !p->may_go[m->a[i].type];
  }
  if (strncmp(reason, "newest", 6) == 0) {
    return is_newest(m, p, v, i);
  }
  if (strncmp(reason, "younger than", 12) == 0) {
    return is_young(m, p, i);
  }
  if (sscanf(reason, "held by lease of H%d until", &number) == 1) {
    return v->lasts[number] && m->leased[number][i];
  }
  if (sscanf(reason, "input of run (execution %d), which runs", &number) == 1) {
    return m->runs[number - 1] && !v->lapsed[number - 1] && m->input[number - 1][i];
  }
  if (sscanf(reason, "output of run (execution %d), which runs", &number) == 1) {
    return m->runs[number - 1] && !v->lapsed[number - 1] && m->output[number - 1][i];
  }
  if (strncmp(reason, "pending, ", 9) == 0) {
    return v->state[i] == CST_LINEAGE_PENDING;
  }
  for (size_t r = 0; r < cst_findings_num_rows(found); r++) {
    const int j = (int)cst_findings_number(found, "id", r) - 1;
    const char *label = cst_findings_text(found, "reference", r);
    (void)snprintf(text, sizeof text, "%s came from it", label);
    if (strcmp(text, reason) == 0 && v->stays[j] && v->came_of[j][i]) {
      return true;
    }
    (void)snprintf(text, sizeof text, "r%d of %s", (i + j) % 2, label);
    if (strcmp(text, reason) == 0 && v->stays[j] && m->refers[j][i]) {
      return true;
    }
  }
  return false;
}

/* What a case is, for whoever looks for the fault. */
static void print_case(const model *m, const policy *p, const verdict *v) {
  printf("keep %d, age %d, span %d, type %d, name %d, may go %d%d%d, ancestors %d\n", (int)p->keep,
         (int)p->max_age, p->by_span, p->by_type, p->by_name, p->may_go[0], p->may_go[1],
         p->may_go[2], p->keeps_ancestors);
  for (int i = 0; i < m->num_artifacts; i++) {
    const artifact *a = &m->a[i];
    printf("%d: type %d, name %d, state %d then %d, external %d, %d s old, stays %d, up %d;", i,
           a->type, a->name, (int)a->state, (int)v->state[i], a->is_external,
           (int)((NOW - a->created) / S), v->stays[i], v->leads_up[i]);
    for (int f = 0; f < a->num_files; f++) {
      printf(" %s%s", world[a->files[f]].path, a->is_doomed[f] ? " (doomed)" : "");
    }
    for (int j = 0; j < m->num_artifacts; j++) {
      printf("%s%.0d", m->refers[i][j] ? " -> " : "", m->refers[i][j] ? j : 0);
    }
    for (int e = 0; e < m->num_executions; e++) {
      printf("%s%s", m->input[e][i] ? " in" : "", m->output[e][i] ? " out" : "");
      printf(m->input[e][i] || m->output[e][i] ? " %d%s%s" : "", e, m->runs[e] ? " runs" : "",
             v->lapsed[e] ? " lapsed" : "");
    }
    for (int l = 0; l < m->num_leases; l++) {
      printf(m->leased[l][i] ? " lease %d%s" : "", l, v->lasts[l] ? " lasts" : "");
    }
    printf("\n");
  }
}

static void compare_rows(const model *m, const policy *p, const verdict *v,
                         const cst_findings *found) {
  int rows = 0;
  for (int i = 0; i < m->num_artifacts; i++) {
    const size_t row = gc_row(found, i + 1);
    CHECK_CASE((row == SIZE_MAX) == (m->a[i].state == CST_LINEAGE_DELETED));
    if (row == SIZE_MAX) {
      continue;
    }
    rows++;
    const char *action = cst_findings_text(found, "action", row);
    if (strcmp(action, v->stays[i] ? "keep" : "delete") != 0) {
      print_case(m, p, v);
      printf("%s\n", gc_says(found, i + 1));
      CHECK_CASE(false);
    }
    if (v->stays[i] && !is_true(m, p, v, i, cst_findings_text(found, "reason", row), found)) {
      printf("reason: %s\n", cst_findings_text(found, "reason", row));
      CHECK_CASE(false);
    }
  }
  CHECK_EQ(cst_findings_num_rows(found), rows);
}

static void compare_states(const model *m, const verdict *v) {
  sqlite3_stmt *row = rows_of("SELECT id, state FROM artifact ORDER BY id");
  for (int i = 0; i < m->num_artifacts; i++) {
    CHECK_CASE(sqlite3_step(row) == SQLITE_ROW);
    const cst_lineage_state expected = !v->stays[i]                        ? CST_LINEAGE_DELETED
                                       : v->state[i] == CST_LINEAGE_MARKED ? CST_LINEAGE_LIVE
                                                                           : v->state[i];
    CHECK_CASE(sqlite3_column_int(row, 1) == (int)expected);
  }
  sqlite3_finalize(row);
  row = rows_of("SELECT count(*) FROM doomed");
  CHECK_EQ(sqlite3_step(row), SQLITE_ROW);
  CHECK_EQ(sqlite3_column_int(row, 0), 0);
  sqlite3_finalize(row);
}

static void compare_files(const model *m, const verdict *v, bool may_be_left) {
  for (int i = 0; i < PLACES; i++) {
    const kind now = kind_of(i);
    if (!may_be_left || !v->goes[i]) {
      CHECK_CASE(now == (v->goes[i] ? NOTHING : m->kinds[i]));
    }
  }
  CHECK(gc_exists(other, "x") && gc_exists(other, "OTHER"));
}

static void compare_runs(const model *m, const policy *p, const verdict *v, const cst_findings *dry,
                         const cst_findings *done) {
  static const char *const totals[] = {"kept", "deleted", "files", "bytes"};
  for (int i = 0; i < ARTIFACTS; i++) {
    if (strcmp(gc_says(dry, i + 1), gc_says(done, i + 1)) != 0) {
      print_case(m, p, v);
      printf("%s, then %s; files %s, %s\n", gc_says(dry, i + 1), gc_says(done, i + 1),
             gc_says_of_file(done, i + 1, 0), gc_says_of_file(done, i + 1, 1));
      CHECK_CASE(false);
    }
    for (size_t f = 0; f < FILES_OF && gc_row(done, i + 1) != SIZE_MAX; f++) {
      const char *one = gc_says_of_file(dry, i + 1, f);
      if (strcmp(one, gc_says_of_file(done, i + 1, f)) != 0) {
        print_case(m, p, v);
        printf("%d: %s, then %s\n", (int)f, one, gc_says_of_file(done, i + 1, f));
        CHECK_CASE(false);
      }
    }
  }
  for (int i = 0; i < 4; i++) {
    if (cst_findings_total(dry, totals[i]) != cst_findings_total(done, totals[i])) {
      print_case(m, p, v);
      printf("%s: %d and %d\n", totals[i], (int)cst_findings_total(dry, totals[i]),
             (int)cst_findings_total(done, totals[i]));
      CHECK_CASE(false);
    }
  }
}

static int crash(void *countdown) { return --*(int *)countdown <= 0; }

/* A run that is stopped somewhere, as by a crash: nothing that stays is lost, and all that is left
 * to do is known. */
static void run_with_crash(const model *m, const policy *p, const verdict *v) {
  cst_findings *found;
  int countdown = 1 + chance(once_in(2) ? 40 : 400);
  sqlite3_progress_handler(store->db, 20, crash, &countdown);
  const cst_status status = run_gc(p, false, &found, NULL);
  sqlite3_progress_handler(store->db, 0, NULL, NULL);
  if (!sqlite3_get_autocommit(store->db)) { /* the handler has stopped the ROLLBACK, too */
    CHECK_EQ(sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL), SQLITE_OK);
  }
  for (int i = 0; status != CST_OK && i < 1; i++) {
    CHECK_CASE(status == CST_INTERRUPTED || status == CST_IO);
  }
  cst_findings_free(found);
  compare_files(m, v, true);
}

/* Meanwhile somebody adds an artifact of files that are there, which refers to one that is live. */
static void add_one(model *m) {
  const int i = m->num_artifacts;
  make_artifact(m, i);
  artifact *a = &m->a[i];
  a->state = CST_LINEAGE_LIVE;
  a->created = NOW;
  for (int f = a->num_files; f-- > 0;) {
    const kind now = m->kinds[a->files[f]];
    if (now == NOTHING || now == A_LINK) { /* paths are without links */
      a->num_files--;
      a->files[f] = a->files[a->num_files];
    }
  }
  for (int f = 0; f < a->num_files; f++) {
    a->is_file[f] = m->kinds[a->files[f]] == A_FILE;
    a->is_doomed[f] = false;
  }
  m->num_artifacts++;
  sql_size = 0;
  add_sql("BEGIN;");
  put_artifact(m, i);
  const int target = chance(i);
  if (m->a[target].state == CST_LINEAGE_LIVE) {
    m->refers[i][target] = true;
    add_sql("INSERT INTO reference VALUES(%d,'r%d',%d);", i + 1, (i + target) % 2, target + 1);
  }
  add_sql("COMMIT");
  run_sql(sql_text);
}

/* Nothing is left to do, unless one that was marked lives again: then it may be the newest now. */
static void check_again(const model *m, const policy *p, const verdict *v) {
  cst_findings *again;
  bool is_other = false;
  for (int i = 0; i < m->num_artifacts; i++) {
    is_other |= v->stays[i] && v->state[i] == CST_LINEAGE_MARKED;
  }
  CHECK_EQ(run_gc(p, false, &again, NULL), CST_OK);
  for (int i = 0; i < 1 && !is_other; i++) {
    CHECK_CASE(cst_findings_total(again, "files") == 0);
    CHECK_CASE(cst_findings_total(again, "deleted") == 0);
  }
  cst_findings_free(again);
}

static void check_case(void) {
  model m;
  cst_findings *dry, *done;
  cst_error error = CST_ERROR_INIT;
  chance_state = (uint64_t)seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
  (void)chance(2);
  make_model(&m);
  policy p = make_policy();
  put_store(&m);
  put_files(&m);
  verdict v = judge(&m, &p);
  if (once_in(3)) {
    run_with_crash(&m, &p, &v);
    read_back(&m);
    if (once_in(2)) {
      add_one(&m);
    }
    v = judge(&m, &p);
  }
  if (run_gc(&p, true, &dry, &error) != CST_OK || run_gc(&p, false, &done, &error) != CST_OK) {
    printf("seed %lld: %s\n", (long long)seed, error.message);
    CHECK(false);
  }
  compare_rows(&m, &p, &v, dry);
  compare_runs(&m, &p, &v, dry, done);
  compare_states(&m, &v);
  compare_files(&m, &v, false);
  cst_findings_free(dry);
  cst_findings_free(done);
  check_again(&m, &p, &v);
}

TEST(random_stores_are_collected_as_the_reference_says) {
  const char *one = getenv("COLUMNSTONE_SEED");
  const int64_t count = getenv("COLUMNSTONE_LONG") != NULL ? 100000 : 2000 / EVERY;
  store = gc_store(folder);
  cst_lineage_free(gc_store(other));
  gc_file(other, "x");
  gc_file(other, "OTHER");
  run_sql("PRAGMA synchronous = OFF"); /* crashes are ours */
  const int64_t first = one != NULL ? atoll(one) : 0;
  const int64_t end = one != NULL ? first + 1 : count;
  for (seed = first; seed < end; seed++) {
    check_case();
  }
  cst_lineage_free(store);
}
