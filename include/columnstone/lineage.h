/* Lineage: which data, views, schemas, statistics and models exist, and what came from what.
 *
 * A store is one SQLite file; it needs no server. It contains
 *
 *   artifacts    stored things: a type ("Examples"), a name with a version ("sessions@4"), files or
 *                folders, properties, references to other artifacts (role "view", "schema", ...)
 *   executions   what made artifacts of others: inputs, outputs, properties, a state
 *   contexts     named groups of both, such as a pipeline and its runs
 *   leases       who reads which artifacts at the moment
 *
 * Sources: RFC "Support structured data in TFX through struct2tensor and DataView"; ML Metadata
 * (MLMD), whose stores are read and written. docs/lineage.md is the guide.
 *
 * References to artifacts are texts: "sessions@4", "sessions" (the newest live one), "17" (the
 * artifact's id). Names are UTF-8 without '@', '#' and control characters, do not consist of
 * digits alone, and belong to one type each.
 *
 * Transactions. Each call is a transaction of its own, which is on disk when the call returns,
 * unless it is between cst_lineage_begin and cst_lineage_commit. Many processes and threads, each
 * with its own cst_lineage, may use one file at once: a writer waits for the others (`timeout`),
 * and then sees all that they did.
 *
 * Times are microseconds since 1970, in UTC. Input paths may be anywhere; those below the folder
 * of the store's file are stored relative to it, so that both can be moved together. Output paths
 * are absolute; URLs are unchanged.
 *
 * Errors: CST_NOT_FOUND for artifacts and files that do not exist, CST_STATE for what a state
 * forbids, CST_TIMEOUT if others lock the store for longer than `timeout`, CST_FORMAT for a file
 * that is not a store, CST_CORRUPT for a damaged one, CST_UNSUPPORTED for one of a later version.
 */
#ifndef COLUMNSTONE_LINEAGE_H
#define COLUMNSTONE_LINEAGE_H

#include <columnstone/findings.h>
#include <columnstone/options.h>
#include <columnstone/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- stores ---- */

/* One thread at a time may use a store. In a forked child, every call is CST_STATE; the child may
 * open the file itself, unless the fork happened within a transaction or a call (CST_STATE). */
typedef struct cst_lineage cst_lineage;

typedef enum cst_lineage_mode {
  CST_LINEAGE_WRITE = 0, /* an existing store */
  CST_LINEAGE_READ = 1,  /* the same, but nothing is written */
  CST_LINEAGE_CREATE = 2 /* a store that is created if it does not exist */
} cst_lineage_mode;

/* Options of cst_lineage_open. */
typedef struct cst_lineage_options {
  size_t size; /* sizeof(cst_lineage_options) */
  cst_lineage_mode mode;
  const char *const *roots; /* for a new store: the folders in which garbage may be deleted;
                               NULL: the folder of the store's file. CST_INVALID_ARGUMENT if
                               the store exists and has others */
  size_t num_roots;
  bool is_shared;                 /* for a new store: other machines mount its folder */
  int64_t timeout;                /* seconds to wait for other writers; 0: 60 */
  const cst_allocator *allocator; /* NULL: the C library's; must outlive the store */
} cst_lineage_options;

#define CST_LINEAGE_OPTIONS_INIT \
  { sizeof(cst_lineage_options), CST_LINEAGE_WRITE, NULL, 0, false, 0, NULL }

/* Opens a store. A store of an earlier version is upgraded, and a copy of it is kept beside it
 * ("lineage.db.v1"); opened for reading, it is CST_UNSUPPORTED. options may be NULL. *out:
 * cst_lineage_free. */
CST_API cst_status cst_lineage_open(const char *path, const cst_lineage_options *options,
                                    cst_lineage **out, cst_error *error);
CST_API void cst_lineage_free(
    cst_lineage *store); /* NULL is allowed; an open transaction is lost */
CST_API const char *cst_lineage_path(const cst_lineage *store); /* absolute */

/* Describes the store: "roots", with one `path` per row. Totals: `version` (of the file format),
 * `artifacts`, `executions`, `contexts`, `leases`. */
CST_API cst_status cst_lineage_info(cst_lineage *store, cst_findings **out, cst_error *error);

/* A transaction: either all of its changes are stored, or none. Transactions do not nest
 * (CST_STATE). After a failed call, earlier changes are kept and the transaction stays open; but if
 * a call fails while writing (a full disk, no memory), all calls except rollback are CST_STATE. */
CST_API cst_status cst_lineage_begin(cst_lineage *store, cst_error *error);
CST_API cst_status cst_lineage_commit(cst_lineage *store, cst_error *error);
CST_API cst_status cst_lineage_rollback(cst_lineage *store, cst_error *error);

/* ---- artifacts ---- */

typedef enum cst_lineage_value_kind {
  CST_LINEAGE_INT = 0,
  CST_LINEAGE_REAL = 1,
  CST_LINEAGE_TEXT = 2,
  CST_LINEAGE_BOOL = 3, /* in `number` */
  CST_LINEAGE_BYTES = 4
} cst_lineage_value_kind;

typedef struct cst_lineage_property {
  const char *name;
  cst_lineage_value_kind kind;
  int64_t number;
  double real;
  cst_bytes bytes; /* TEXT (UTF-8), BYTES */
} cst_lineage_property;

typedef enum cst_lineage_state {
  CST_LINEAGE_LIVE = 0,
  CST_LINEAGE_PENDING = 1,  /* an execution is creating it */
  CST_LINEAGE_MARKED = 2,   /* its files are being deleted */
  CST_LINEAGE_DELETED = 3,  /* its files are deleted; its description remains */
  CST_LINEAGE_ABANDONED = 4 /* its execution failed */
} cst_lineage_state;

/* A file, a folder with all of its contents, or a URL. */
typedef struct cst_lineage_file {
  const char *path;
  const char *split; /* of Examples: "train"; NULL: none */
  const char *role;  /* NULL: the data; "descriptors", "schema": a file that is needed to read
                        the data */
} cst_lineage_file;

/* Another artifact that an artifact needs as long as it lives. */
typedef struct cst_lineage_reference {
  const char *role; /* "view", "schema", "statistics", or a role of the caller */
  int64_t artifact;
} cst_lineage_reference;

typedef struct cst_lineage_artifact {
  size_t size;      /* sizeof(cst_lineage_artifact) */
  const char *type; /* "Examples", "DataView", "Schema", "Statistics", "Model", or a type of
                       the caller */
  const char *name; /* NULL: none; each name has its own versions */
  const cst_lineage_file *files;
  size_t num_files;
  const cst_lineage_property *properties;
  size_t num_properties;
  const cst_lineage_reference *references;
  size_t num_references;
  cst_lineage_state state; /* LIVE or PENDING */
  bool is_external;        /* its files are never deleted */
  bool skips_digest;       /* do not read its files for a digest */
  bool allows_missing;     /* allow files that do not exist (yet) */
  bool reuses;             /* use a live artifact with the same type, name, digest, properties
                              and references instead, if there is one; DataViews and Schemas
                              are always reused */
  int64_t created;         /* 0: now */
} cst_lineage_artifact;

#define CST_LINEAGE_ARTIFACT_INIT                                                                 \
  {                                                                                               \
    sizeof(cst_lineage_artifact), NULL, NULL, NULL, 0, NULL, 0, NULL, 0, CST_LINEAGE_LIVE, false, \
        false, false, false, 0                                                                    \
  }

/* Adds an artifact. Files must exist, and are read once for a SHA-256 of their content (URLs are
 * not). The file of a DataView is opened (cst_view_open): `digest` is that of the view, and the
 * properties "input" and "message" and the source paths of its outputs are taken from it. is_new
 * may be NULL. */
CST_API cst_status cst_lineage_add(cst_lineage *store, const cst_lineage_artifact *artifact,
                                   int64_t *id, bool *is_new, cst_error *error);

/* Finds the artifact of a reference. */
CST_API cst_status cst_lineage_lookup(cst_lineage *store, const char *reference, int64_t *id,
                                      cst_error *error);

/* ---- what was done ---- */

typedef enum cst_lineage_execution_state {
  CST_LINEAGE_RUNNING = 0,
  CST_LINEAGE_COMPLETE = 1,
  CST_LINEAGE_FAILED = 2,
  CST_LINEAGE_CANCELED = 3
} cst_lineage_execution_state;

typedef struct cst_lineage_event {
  int64_t artifact;
  const char *path; /* its name in the execution: "examples"; NULL: none */
} cst_lineage_event;

typedef struct cst_lineage_execution {
  size_t size;      /* sizeof(cst_lineage_execution) */
  const char *type; /* "train" */
  const char *name; /* NULL: none */
  const cst_lineage_event *inputs;
  size_t num_inputs;
  const cst_lineage_property *properties;
  size_t num_properties;
  int64_t started; /* 0: now */
} cst_lineage_execution;

#define CST_LINEAGE_EXECUTION_INIT \
  { sizeof(cst_lineage_execution), NULL, NULL, NULL, 0, NULL, 0, 0 }

/* Starts an execution, which is then RUNNING. Its inputs must be live. Inputs and outputs are not
 * garbage until it ends, or until seven days have passed; with a lease, a crash is noticed sooner.
 */
CST_API cst_status cst_lineage_start(cst_lineage *store, const cst_lineage_execution *execution,
                                     int64_t *id, cst_error *error);
/* Adds an output to a running execution. `path` may be NULL. */
CST_API cst_status cst_lineage_output(cst_lineage *store, int64_t execution, int64_t artifact,
                                      const char *path, cst_error *error);
/* Ends an execution. Its PENDING outputs become LIVE, or ABANDONED if the state is not COMPLETE. */
CST_API cst_status cst_lineage_end(cst_lineage *store, int64_t execution,
                                   cst_lineage_execution_state state, cst_error *error);

typedef enum cst_lineage_kind {
  CST_LINEAGE_OF_ARTIFACTS = 0,
  CST_LINEAGE_OF_EXECUTIONS = 1,
  CST_LINEAGE_OF_CONTEXTS = 2
} cst_lineage_kind;

/* Finds the context of a type and name, or creates it. */
CST_API cst_status cst_lineage_context(cst_lineage *store, const char *type, const char *name,
                                       int64_t *id, cst_error *error);
/* Adds an artifact, an execution or another context to a context. */
CST_API cst_status cst_lineage_join(cst_lineage *store, int64_t context, cst_lineage_kind kind,
                                    int64_t member, cst_error *error);

/* Sets properties of an artifact, an execution or a context; its other properties are kept. */
CST_API cst_status cst_lineage_set(cst_lineage *store, cst_lineage_kind kind, int64_t id,
                                   const cst_lineage_property *properties, size_t num_properties,
                                   cst_error *error);

/* ---- looking ---- */

/* Conditions for cst_lineage_find; all of them must hold. */
typedef struct cst_lineage_query {
  size_t size; /* sizeof(cst_lineage_query) */
  cst_lineage_kind kind;
  const int64_t *ids; /* NULL: all */
  size_t num_ids;
  const char *type;                       /* NULL: all */
  const char *name;                       /* NULL: all; with *, ? and [: a pattern */
  const char *path;                       /* artifacts with this file, or with a folder that
                                             contains it */
  const char *source_path;                /* views that read this field, or a field in it */
  const cst_lineage_property *properties; /* equal */
  size_t num_properties;
  int64_t context;      /* 0: all */
  int64_t created_from; /* 0: all */
  int64_t created_to;   /* exclusive; 0: all */
  bool every_state;     /* for artifacts: DELETED and ABANDONED, too */
  int64_t limit;        /* 0: all; otherwise this many of the newest */
} cst_lineage_query;

#define CST_LINEAGE_QUERY_INIT                                                                     \
  {                                                                                                \
    sizeof(cst_lineage_query), CST_LINEAGE_OF_ARTIFACTS, NULL, 0, NULL, NULL, NULL, NULL, NULL, 0, \
        0, 0, 0, false, 0                                                                          \
  }

/* Finds artifacts, executions or contexts, in the order of ids; docs/lineage.md has the tables of
 * the columns.
 *
 * "artifacts": id, type, name (or null), version (or null), reference ("sessions@4", or the id as
 * text), state ("live", ...), uri (the file, or the common folder of all files; null: none), digest
 * (hex or null), is_external, created, updated, files (path, split or null, role or null, size or
 * null, digest or null), properties (name, kind ("int", "real", "text", "bool", "bytes"), number,
 * real, text, bytes: one of them not null), references (role, id, reference), fields (output, path:
 * of a view).
 *
 * "executions": id, type, name, state, started, ended (or null), properties, inputs and outputs
 * (id, reference, path or null).
 *
 * "contexts": id, type, name, properties, artifacts, executions, children (each with `id`).
 *
 * *out: cst_findings_free. */
CST_API cst_status cst_lineage_find(cst_lineage *store, const cst_lineage_query *query,
                                    cst_findings **out, cst_error *error);

enum { CST_LINEAGE_UP = 1, CST_LINEAGE_DOWN = 2 };

typedef struct cst_lineage_trace_options {
  size_t size; /* sizeof(cst_lineage_trace_options) */
  const int64_t *artifacts;
  size_t num_artifacts;
  uint32_t directions; /* CST_LINEAGE_UP, CST_LINEAGE_DOWN; 0: both */
  int64_t depth;       /* the largest number of executions between them; 0: any number */
} cst_lineage_trace_options;

#define CST_LINEAGE_TRACE_OPTIONS_INIT \
  { sizeof(cst_lineage_trace_options), NULL, 0, 0, 0 }

/* What artifacts came from (UP) and what came from them (DOWN), by executions and references, each
 * once: rows of "nodes", nearest first.
 *
 * Columns: kind ("artifact", "execution"), id, type, label ("sessions@4"), state, depth (0: the
 * given artifacts; negative: up), sources: the direct origins among these nodes, as kind, id and
 * how ("input", "output", or the role of a reference). */
CST_API cst_status cst_lineage_trace(cst_lineage *store, const cst_lineage_trace_options *options,
                                     cst_findings **out, cst_error *error);

/* Checks the store and its files: SQLite's own check, files that are missing or have another size
 * or digest, references to deleted artifacts, and outputs of executions that have no end. Rows of
 * "faults": `artifact` (id or null), `reference`, `path` or null, `fault`. with_digests: files are
 * read. */
CST_API cst_status cst_lineage_check(cst_lineage *store, bool with_digests, cst_findings **out,
                                     cst_error *error);

/* ---- views ---- */

/* Adds an Examples artifact with the same files and properties that is read through a view, and
 * records an execution of type "DataViewBinder". `name` NULL: the name of the examples. If such an
 * artifact exists, it is returned. The view must be able to read the examples (CST_SCHEMA). */
CST_API cst_status cst_lineage_bind(cst_lineage *store, int64_t examples, int64_t view,
                                    const char *name, int64_t *id, cst_error *error);

typedef enum cst_lineage_choice {
  CST_LINEAGE_AS_BOUND = 0, /* through the view that all of them are bound to, or as they are */
  CST_LINEAGE_AS_IS = 1,    /* without a view */
  CST_LINEAGE_BY_VIEW = 2   /* through `view`, whatever they are bound to */
} cst_lineage_choice;

/* How to read Examples together: paths, and the options of a source, by their names in
 * columnstone.open: "format", "container", "message", "descriptors" (a path), "schema" (a path),
 * "view" (a path), and options of formats. Immutable. */
typedef struct cst_lineage_reading cst_lineage_reading;

typedef struct cst_lineage_read_options {
  size_t size; /* sizeof(cst_lineage_read_options) */
  cst_lineage_choice choice;
  int64_t view;              /* for CST_LINEAGE_BY_VIEW */
  const char *const *splits; /* read only these splits; NULL: all */
  size_t num_splits;
  bool has_own_parts; /* the reader has descriptors, a schema or a view of its own, or needs
                         none: those of the artifacts may differ */
} cst_lineage_read_options;

#define CST_LINEAGE_READ_OPTIONS_INIT \
  { sizeof(cst_lineage_read_options), CST_LINEAGE_AS_BOUND, 0, NULL, 0, false }

/* Determines how to read one or more artifacts, by these rules:
 *
 * 1. All are Examples, and live.
 * 2. All have the same payload, container, message and reading options; without a view and without
 *    parts of the reader's own, also the same descriptors and the same schema (by content).
 * 3. AS_BOUND: none is bound to a view, or all are bound to views with the same digest.
 * 4. The view can read them.
 *
 * Otherwise CST_INVALID_ARGUMENT (CST_STATE, CST_SCHEMA) names the artifacts that break the rule:
 * nothing is ever chosen by age. options may be NULL. */
CST_API cst_status cst_lineage_read(cst_lineage *store, const int64_t *artifacts,
                                    size_t num_artifacts, const cst_lineage_read_options *options,
                                    cst_lineage_reading **out, cst_error *error);
CST_API size_t cst_lineage_reading_num_paths(const cst_lineage_reading *reading);
CST_API const char *cst_lineage_reading_path(const cst_lineage_reading *reading, size_t i);
CST_API size_t cst_lineage_reading_num_options(const cst_lineage_reading *reading);
/* NULL if i is too large. */
CST_API const cst_option *cst_lineage_reading_option(const cst_lineage_reading *reading, size_t i);
/* All artifacts needed while reading: the examples, the view, the schema. For leases. */
CST_API const int64_t *cst_lineage_reading_artifacts(const cst_lineage_reading *reading,
                                                     size_t *count);
CST_API void cst_lineage_reading_free(cst_lineage_reading *reading); /* NULL is allowed */

/* ---- leases and garbage ---- */

/* A lease keeps the files of artifacts while they are read. It lasts for `seconds`; a thread renews
 * it until it is freed, and after a crash it expires. */
typedef struct cst_lineage_lease cst_lineage_lease;

typedef struct cst_lineage_lease_options {
  size_t size;        /* sizeof(cst_lineage_lease_options) */
  const char *holder; /* for people; NULL: "host:pid" */
  int64_t seconds;    /* 0: 300 */
  bool is_detached;   /* nothing renews it, and freeing does not end it: for readers that are
                         elsewhere */
  int64_t execution;  /* that it belongs to and ends with: should it lapse while the execution runs,
                         that has crashed, and garbage collection ends it as FAILED. 0: none */
} cst_lineage_lease_options;

#define CST_LINEAGE_LEASE_OPTIONS_INIT \
  { sizeof(cst_lineage_lease_options), NULL, 0, false, 0 }

/* Takes a lease. CST_STATE if an artifact is not live any more. options may be NULL. The store may
 * be freed before the lease. *out: cst_lineage_lease_free. */
CST_API cst_status cst_lineage_lease_new(cst_lineage *store, const int64_t *artifacts,
                                         size_t num_artifacts,
                                         const cst_lineage_lease_options *options,
                                         cst_lineage_lease **out, cst_error *error);
/* CST_STATE if the lease has expired (for example while the machine slept): files may be gone. */
CST_API cst_status cst_lineage_lease_check(const cst_lineage_lease *lease, cst_error *error);
CST_API void cst_lineage_lease_free(cst_lineage_lease *lease); /* NULL is allowed */
/* Lists all leases: rows of "leases": `id`, `holder`, `expires`, `artifacts` (id, reference). */
CST_API cst_status cst_lineage_leases(cst_lineage *store, cst_findings **out, cst_error *error);

typedef struct cst_lineage_gc_options {
  size_t size;                 /* sizeof(cst_lineage_gc_options) */
  int64_t keep;                /* the newest of each group stay; 0: none because of that */
  const char *const *group_by; /* properties ("span"), or "name" and "type"; NULL: "name", by which
                                  also those are grouped that have none of the properties */
  size_t num_group_by;
  int64_t max_age;          /* seconds: what is younger stays; 0: none because of that */
  const char *const *types; /* only these may go; NULL: all */
  size_t num_types;
  const char *const *keep_ancestors_of; /* what live artifacts of these types came from stays:
                                           "Model" */
  size_t num_keep_ancestors_of;
  bool is_dry_run;
  int64_t now; /* by which ages count; 0: now. Leases end by the clock alone */
} cst_lineage_gc_options;

#define CST_LINEAGE_GC_OPTIONS_INIT \
  { sizeof(cst_lineage_gc_options), 0, NULL, 0, 0, NULL, 0, NULL, 0, false, 0 }

/* Deletes artifacts that no policy keeps and nothing needs. A live artifact stays if a policy keeps
 * it, if a lease or a running execution holds it, or if an artifact that stays refers to it. The
 * files of other artifacts are deleted, except files that an artifact that stays names (or has in a
 * folder), files of external artifacts, files with a role (descriptors are not data), files whose
 * size or time has changed since they were added, and files outside the roots. Artifacts are marked
 * first, and deleted once their files are gone: if the process stops in between, the next run
 * continues. With neither `keep` nor `max_age`, live artifacts stay.
 *
 * Rows of "artifacts": `id`, `type`, `reference`, `state` (now), `action` ("keep", "delete"),
 * `reason`, `files` (path, action ("keep", "delete", "gone"), reason). Totals: `kept`, `deleted`
 * (artifacts), `files`, `bytes` (deleted, or to be deleted in a dry run). MARKED artifacts, and
 * outputs of failed executions, are deleted in any case. options may be NULL. */
CST_API cst_status cst_lineage_gc(cst_lineage *store, const cst_lineage_gc_options *options,
                                  cst_findings **out, cst_error *error);

/* ---- to others ---- */

/* Imports an MLMD SQLite store, except what was imported before. Findings: rows of "imported"
 * (`kind`, `count`). */
CST_API cst_status cst_lineage_import_mlmd(cst_lineage *store, const char *path, cst_findings **out,
                                           cst_error *error);
/* Writes all of this store to a new MLMD SQLite store. */
CST_API cst_status cst_lineage_export_mlmd(cst_lineage *store, const char *path, bool overwrites,
                                           cst_findings **out, cst_error *error);

typedef struct cst_lineage_graph_options {
  size_t size;              /* sizeof(cst_lineage_graph_options) */
  const char *format;       /* "html" (NULL, too), "svg", "dot" */
  const int64_t *artifacts; /* what cst_lineage_trace gives of them; NULL: all of the store */
  size_t num_artifacts;
  uint32_t directions; /* 0: both */
  int64_t depth;       /* 0: any */
} cst_lineage_graph_options;

#define CST_LINEAGE_GRAPH_OPTIONS_INIT \
  { sizeof(cst_lineage_graph_options), NULL, NULL, 0, 0, 0 }

/* Draws artifacts and executions. *text: cst_free. */
CST_API cst_status cst_lineage_graph(cst_lineage *store, const cst_lineage_graph_options *options,
                                     char **text, size_t *size, cst_error *error);

typedef struct cst_lineage_openlineage_options {
  size_t size;               /* sizeof(cst_lineage_openlineage_options) */
  const char *job_namespace; /* NULL: "columnstone" */
  const int64_t *executions; /* NULL: all */
  size_t num_executions;
} cst_lineage_openlineage_options;

#define CST_LINEAGE_OPENLINEAGE_OPTIONS_INIT \
  { sizeof(cst_lineage_openlineage_options), NULL, NULL, 0 }

/* Writes executions as OpenLineage run events, one line of JSON each: START, and the event that
 * ended it, in the order of their ids; with the column lineage of views. options may be NULL.
 * *text: cst_free. */
CST_API cst_status cst_lineage_openlineage(cst_lineage *store,
                                           const cst_lineage_openlineage_options *options,
                                           char **text, size_t *size, cst_error *error);

#ifdef __cplusplus
}
#endif

#endif /* COLUMNSTONE_LINEAGE_H */
