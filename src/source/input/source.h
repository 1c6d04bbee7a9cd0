/* A source: inputs, the parts of them that are read, by which options, and what has been found out
 * about them.
 *
 * Parts, ranges, and readings by other options are sources too: the same inputs with other parts or
 * other options (cst__source_with).
 */
#ifndef SOURCE_INPUT_SOURCE_H
#define SOURCE_INPUT_SOURCE_H

#include "source/input/inputs.h"
#include "source/input/reading_options.h"
#include "stage/chain.h"

enum {
  CST__SAMPLE_RECORDS = 10000,  /* of a pipe, that its schema is inferred from, if not said */
  CST__SAMPLE_BYTES = 256 << 20 /* and their bytes: they are kept for the first pass */
};

/* What is read of a file. */
typedef struct cst__part {
  cst__file *file;
  uint64_t begin;       /* the first byte of the stream that is read, */
  uint64_t end;         /* and the end of what is; 0: all of the file */
  bool packed;          /* the stream is compressed, and entered at its restart points */
  int64_t size;         /* bytes that are read, as they lie on disk; -1: unknown */
  int64_t first_record; /* number of the record at `begin`; -1: unknown */
  cst_index *index;     /* of what is read; guarded by the lock of the inputs */
} cst__part;

/* True if it is known to end where the file does. */
static inline bool cst__part_ends_file(const cst__part *part) {
  return part->end == 0 ||
         (!part->packed && part->file->size >= 0 && part->end == (uint64_t)part->file->size);
}

/* Something that is found out by reading the input, once, by one thread. The others wait for it
 * without the lock, which is never held while the input is read or the caller's code runs. */
typedef struct cst__discovery {
  bool busy;
  uintptr_t finder; /* the thread */
} cst__discovery;

/* What is found out about a source; guarded by its lock. */
typedef struct cst__found {
  cst__discovery schema_discovery; /* of the schema, or of what is known of a tabular format */
  cst__discovery access_discovery;
  cst__discovery stage_discovery;
  cst_schema *schema;              /* that was inferred */
  uint64_t sampled;                /* from so many first records only; 0: from all */
  cst__types *types;               /* of a part of a table: what was found for all of it */
  struct ArrowSchema arrow_schema; /* of what is decoded; release NULL: not known yet */
  cst__chain *chain;               /* the stages, bound; NULL: not yet, or there are none */
  cst__feed *sample;        /* the blocks read for the schema: the first pass goes on with them */
  cst_status sample_status; /* why reading them failed; the pipe is lost */
  cst_error *sample_error;  /* the same; or of the record that ended a sample before its time */
  cst__tabular *tabular;  /* what is known of a tabular format, and what a pipe has given for it */
  cst__record_plan *plan; /* of the columns of records; see cst__source_plan */
  cst__access *access;    /* random access, when it has been asked for (access.h) */
  cst__record_cache *record_cache; /* of datasets (record_cache.h); once made, it stays */
  bool counted;                    /* num_rows is known */
  uint64_t num_rows;
} cst__found;

struct cst_source {
  cst__refcount owners;
  cst_allocator allocator;
  cst__inputs *inputs;
  cst__part *parts; /* one for each file that is read */
  size_t num_parts;
  bool is_alone; /* its columns are those of its own files, not those of all that were opened */
  cst__reading_options options;

  cst__mutex lock;             /* guards what is found */
  cst__condition found_signal; /* a discovery has ended */
  cst__found found;
};

/* A source of all of the inputs. Takes the inputs and what the options point to over, also on
 * failure. */
cst_status cst__source_new(cst__inputs *inputs, const cst__reading_options *options,
                           cst_source **out, cst_error *error);

/* The same inputs, other parts of them (`num_parts` copies; NULL: the source's), other options
 * (which stay the caller's; NULL: the source's). Nothing is found out about it yet. */
cst_status cst__source_with(const cst_source *source, const cst__part *parts, size_t num_parts,
                            const cst__reading_options *options, cst_source **out,
                            cst_error *error);

/* The i-th file, for errors. */
static inline const char *cst__source_name(const cst_source *source, size_t i) {
  return source->parts[i].file->name;
}

/* The number of the i-th file among those that were opened. */
static inline int64_t cst__source_file_number(const cst_source *source, size_t i) {
  return source->parts[i].file - source->inputs->files;
}

/* The number of a record for errors: that which a cursor counts, if it began with a known one; else
 * -1. */
static inline int64_t cst__source_record(const cst_source *source, size_t i, uint64_t record) {
  return source->parts[i].first_record < 0 ? -1 : (int64_t)record;
}

/* The records, and their bytes, from which the schema of a pipe is inferred, or that of any source
 * whose options say so. */
static inline size_t cst__source_sample_records(const cst_source *source) {
  int64_t records = source->options.values.sample_records;
  return records > 0 ? (size_t)records : CST__SAMPLE_RECORDS;
}
static inline uint64_t cst__source_sample_bytes(const cst_source *source) {
  return source->options.values.sample_records > 0 ? UINT64_MAX : CST__SAMPLE_BYTES;
}

/* How the bytes of a file are read. */
cst__input_options cst__source_input_options(const cst_source *source, const char *name);

/* Opens the i-th file for one reading from its start; or its bytes as they lie on disk
 * (cst__raw_close). */
cst_status cst__source_open_input(const cst_source *source, size_t i, cst__input **out,
                                  cst_error *error);
cst_status cst__source_open_raw(const cst_source *source, size_t i, cst__raw *raw,
                                cst_error *error);

/* Where a file can be entered in its middle. */
typedef struct cst__entry_point {
  bool possible;
  bool packed;    /* the file is compressed, and has restart points */
  uint64_t point; /* the place in its stream of the first one at a byte of the file or after it */
  uint64_t size;  /* of the stream; UINT64_MAX: not known */
} cst__entry_point;

/* Looks at the i-th file, which is opened for it: where it is entered for its byte `place`. */
cst_status cst__source_entry(const cst_source *source, size_t i, uint64_t place,
                             cst__entry_point *out, cst_error *error);

/* The schema, given or inferred, if it is known by now; else NULL. Borrowed. */
const cst_schema *cst__source_known_schema(const cst_source *source);

/* The stages, bound (cst__source_bind has done it), or NULL if there are none. Borrowed. */
const cst__chain *cst__source_bound_chain(const cst_source *source);

#endif /* SOURCE_INPUT_SOURCE_H */
