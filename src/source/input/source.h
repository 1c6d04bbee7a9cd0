/* An opened source: its files, its options, and what is found out about it later (schema).
 *
 * Flow of a pass: cursor.c turns one file into blocks of framed records; feed.c puts the blocks of
 * all files in order and cuts them into units of batch_size records; unit.c checks and decodes one
 * unit; pass.c and jobs.c do this on one thread or on many, and deliver in order.
 */
#ifndef SOURCE_INPUT_SOURCE_H
#define SOURCE_INPUT_SOURCE_H

#include <columnstone/index.h>

#include "base/alloc.h"
#include "base/thread.h"
#include "format/container/container.h"
#include "format/payload/payload.h"
#include "format/registry.h"
#include "io/raw.h"

enum {
  CST__SAMPLE_RECORDS = 10000,  /* of a pipe, that its schema is inferred from */
  CST__SAMPLE_BYTES = 256 << 20 /* and their bytes: they are kept for the first pass */
};

typedef struct cst__feed cst__feed;
typedef struct cst__whole cst__whole;
typedef struct cst__access cst__access;

/* Something that is found out by reading the input, once, by one thread. The others wait for it
 * without the lock, which is never held while the input is read or the caller's code runs. */
typedef struct cst__discovery {
  bool busy;
  uintptr_t finder; /* the thread */
} cst__discovery;

typedef struct cst__source_file {
  char *name;
  int64_t size;    /* on disk when it was opened; -1: unknown */
  bool rereadable; /* a regular file, or a reader that can seek */
  bool regular;    /* a regular file by its path */
  bool is_reader;
  bool is_stream;
  char *url;         /* of a file that is opened by one, whose name has no parameters; NULL: none */
  cst_reader reader; /* the caller's; its calls go through `lock` */
  cst_stream_opener opener;     /* the caller's, too */
  struct ArrowArrayStream held; /* of an opener that works once, or a program: what was asked for
                                 * the schema */
  cst__mutex lock;
  const cst_source *owner; /* of a reader or opener: the source that was opened */
  /* In a derived source: the same file of the source that was opened, whose name, reader, opener
   * and lock these are. NULL: this is that file. */
  struct cst__source_file *origin;
  uint64_t begin;       /* of a plain file: the first byte that is read, */
  uint64_t end;         /* and the end of what is; 0: all of the file */
  int64_t first_record; /* number of the record at `begin`; -1: unknown */
  cst_index *index;     /* access.c: of what is read at least; guarded by its source's lock */
  bool sidecar_sought;  /* guarded too */
  atomic_bool warned;   /* on_warning has been told of it */
} cst__source_file;

struct cst_source {
  cst__refcount owners;
  cst_allocator allocator;
  cst__source_file *files;
  size_t num_files;
  const cst__container *container;
  const char *format;              /* its name, for errors */
  const cst__payload *payload;     /* of a container's records; NULL: a whole format, */
  const cst__table_format *table;  /* which is built in, */
  const cst_plugin_format *plugin; /* or a plug-in's, */
  const cst__program *program;     /* or a program's, or (all NULL) the caller's streams */
  char **columns;                  /* NULL: all */
  size_t num_columns;
  char *tensor_group;
  char *environment;
  int64_t batch_size;
  int64_t batch_bytes; /* INT64_MAX: no limit */
  int32_t threads;
  uint32_t flags;
  uint32_t column_flags;
  cst_on_error on_error;
  bool legacy_specs;
  bool rereadable; /* all files are */
  bool is_text;    /* the caller has named a format of text */
  bool schema_given;
  bool by_record;  /* what the records of a pipe are is seen when its first one is read */
  bool owns_types; /* a derived source whose parent found the types by inferring them */
  uint64_t max_record_size;
  uint64_t max_inflation;
  char *sequence_column;      /* NULL: the usual one */
  char *raw_column;           /* NULL: none */
  const cst_csv_options *csv; /* complete; never NULL */
  cst__arena strings;         /* of the CSV options */
  struct ArrowSchema types;   /* release NULL: none are given */
  uint64_t max_errors;        /* UINT64_MAX: no limit */
  cst_dropped_callback on_dropped;
  void *dropped_ctx;
  cst_warning_callback on_warning;
  void *warning_ctx;
  /* A source of a part of another (split.c): owned; all between `owners` and `lock` but the files
   * is that of the parent. NULL: it was opened. */
  cst_source *parent;

  cst__mutex lock;                 /* guards all below; see cst__discovery */
  cst__condition found;            /* a discovery has ended */
  cst__discovery schema_discovery; /* of the schema, or of what is known of a whole format */
  cst__discovery access_discovery;
  bool claimed;             /* an input that can be read once has been taken, */
  bool claimed_whole;       /* for a reading that needs no schema */
  bool sampled;             /* the schema comes from the first records of a pipe only */
  bool counted;             /* num_rows is known */
  cst_status sample_status; /* why the sample of a pipe failed; the pipe is lost */
  cst_schema *schema;
  struct ArrowSchema arrow_schema; /* release NULL: not known yet */
  cst_error *sample_error;
  cst__feed *sample;   /* the blocks read for it: the first pass goes on with them */
  cst__whole *whole;   /* what is known of a whole format, and what a pipe has given for it */
  cst__access *access; /* random access, when it has been asked for (access.c) */
  uint64_t num_rows;
};

/* How the bytes of a file are read. */
cst__input_options cst__source_input_options(const cst_source *source, const char *name);

/* What the public functions of the same names do; the options are complete, never NULL. */
cst_status cst__source_open(const char *const *paths, size_t num_paths,
                            const cst_source_options *options, cst_source **out, cst_error *error);
cst_status cst__source_open_readers(const cst_reader *readers, size_t num_readers,
                                    const cst_source_options *options, cst_source **out,
                                    cst_error *error);
cst_status cst__source_open_streams(const cst_stream_opener *openers, size_t num_openers,
                                    const cst_source_options *options, cst_source **out,
                                    cst_error *error);
/* Of readers and streams that no source has taken. */
void cst__close_readers(const cst_reader *readers, size_t count);
void cst__close_openers(const cst_stream_opener *openers, size_t count);
cst_source *cst__source_retain(const cst_source *source);
void cst__source_release(cst_source *source);
int64_t cst__source_total_bytes(const cst_source *source);
cst_status cst__source_count(cst_source *source, cst_count_callback on_file, void *ctx,
                             cst_error *error);
cst_status cst__source_verify(cst_source *source, cst_fault_callback on_fault,
                              cst_count_callback on_file, cst_progress_callback on_progress,
                              void *ctx, uint64_t *num_faults, cst_error *error);
cst_status cst__source_infer(cst_source *source, cst_progress_callback on_progress, void *ctx,
                             cst_schema **out, cst_error *error);
cst_status cst__source_schema(cst_source *source, const cst_schema **out, cst_error *error);
cst_status cst__source_arrow_schema(cst_source *source, struct ArrowSchema *out, cst_error *error);
cst_status cst__source_specs(cst_source *source, cst_specs **out, cst_error *error);

/* ---- for the other files of this room ---- */

/* Checks and copies the options (options.c). */
cst_status cst__source_set_options(cst_source *source, const cst_source_options *options,
                                   cst_error *error);

/* Finds the format of files and readers, by its name or (NULL) by the bytes (choose.c); the name
 * alone for streams. */
cst_status cst__source_choose(cst_source *source, const char *name, cst_error *error);
/* The payload of a pipe whose format was not named, by its first record. */
void cst__source_choose_by_record(cst_source *source, const uint8_t *record, size_t size);
cst_status cst__source_name_format(cst_source *source, const char *name, cst_error *error);

/* The number of a record for errors: that which a cursor counts, if it began with a known one; else
 * -1. */
static inline int64_t cst__source_record(const cst_source *source, size_t file, uint64_t record) {
  return source->files[file].first_record < 0 ? -1 : (int64_t)record;
}

/* The i-th file as it was opened: it has the lock for the caller's reader or opener. */
static inline cst__source_file *cst__source_opened(const cst_source *source, size_t i) {
  cst__source_file *file = &source->files[i];
  return file->origin != NULL ? file->origin : file;
}

/* split.c: what cst__source_release does for a derived source. */
void cst__source_free_derived(cst_source *source);

/* Opens the i-th file for one reading from its start. */
cst_status cst__source_open_input(const cst_source *source, size_t i, cst__input **out,
                                  cst_error *error);

/* Opens the bytes of the i-th file as they lie on disk; cst__raw_close. */
cst_status cst__source_open_raw(const cst_source *source, size_t i, cst__raw *raw,
                                cst_error *error);

/* Takes an input that can be read only once; CST_STATE if it has been taken. */
cst_status cst__source_claim(cst_source *source, cst_error *error);
/* The same for a reading from the start to the end; CST_STATE also if its beginning has been read
 * for the schema. */
cst_status cst__source_claim_whole(cst_source *source, cst_error *error);

/* ---- discovery.c: what is found out by reading ---- */

/* Calls `find` without the lock unless, under it, `known` says true, or somebody else is about it:
 * then waits. `find` makes known what it found, under the lock, or fails: then the next who asks
 * tries again. CST_STATE for a caller whose answer could only come after its own return: a reader
 * or stream of the source that asks what is being found by reading it. */
cst_status cst__source_discover(cst_source *source, cst__discovery *discovery,
                                bool (*known)(const cst_source *source),
                                cst_status (*find)(cst_source *source, cst_error *error),
                                cst_error *error);
/* Waits, holding the lock, until nobody is about it; CST_STATE as above, CST_INTERRUPTED. */
cst_status cst__source_await(cst_source *source, const cst__discovery *discovery, cst_error *error);

/* A call of the caller's reader or opener, one at a time: between enter and leave its lock is held.
 * CST_STATE if this thread is in such a call of the same source already. */
typedef struct cst__input_call {
  const cst_source *source;
  struct cst__input_call *outer;
} cst__input_call;
cst_status cst__input_call_enter(cst__input_call *call, cst__source_file *file, cst_error *error);
void cst__input_call_leave(cst__input_call *call, cst__source_file *file);

/* Finds the schema if one is wanted and none is known yet. After that `schema` does not change. */
cst_status cst__source_prepare(cst_source *source, cst_error *error);

/* Keeps an inferred schema, unless one is known; `sampled`: it is that of the first records only.
 */
void cst__source_adopt(cst_source *source, const cst_schema *schema, bool sampled);
/* The schema if it is known by now, borrowed; else NULL. */
const cst_schema *cst__source_known_schema(cst_source *source);

/* A record is dropped under CST_ON_ERROR_SKIP: counts it in *count and tells the caller. CST_LIMIT
 * with more than max_errors of them, CST_CALLBACK if the caller says so: then the pass fails. */
cst_status cst__source_drop(const cst_source *source, uint64_t *count, const cst_dropped *dropped,
                            cst_error *error);

/* Tells the caller of a file, unless that has been done. CST_CALLBACK if the caller stops it. */
cst_status cst__source_warn(const cst_source *source, size_t file, const cst_error *warning,
                            cst_error *error);

/* What a decoder of the source's payload is for. */
typedef enum cst__want {
  CST__WANT_COLUMNS, /* batches as the options say */
  CST__WANT_TYPES,   /* inference: all columns, of the types that the data have */
  CST__WANT_RECORDS, /* no columns, and no decoder: a pass gives its units' records as they are */
  CST__WANT_PROOF    /* verification: all columns, of the given schema if there is one */
} cst__want;

cst_status cst__source_open_decoder(const cst_source *source, cst__want want,
                                    cst__record_decoder **decoder, cst_error *error);

/* Reads all records (CST_STATE: no) and infers a schema from them. */
cst_status cst__source_infer_all(cst_source *source, cst_progress_callback on_progress, void *ctx,
                                 cst_schema **out, cst_error *error);
/* Reads the first records, which stay for the first pass, and infers a schema from them. */
cst_status cst__source_infer_sample(cst_source *source, cst_schema **out, cst_error *error);

#endif /* SOURCE_INPUT_SOURCE_H */
