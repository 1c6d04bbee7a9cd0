/* The inputs of a source: its files, readers or streams as they were opened, and what they are.
 * Counted, and shared by all sources that read them: parts, and readings by other options. Only
 * what is guarded by a lock, or atomic, changes once they are opened.
 */
#ifndef SOURCE_INPUT_INPUTS_H
#define SOURCE_INPUT_INPUTS_H

#include <columnstone/index.h>

#include "base/alloc.h"
#include "base/thread.h"
#include "format/container/container.h"
#include "format/registry.h"
#include "io/input.h"
#include "io/raw.h"
#include "source/input/reading_options.h"

typedef struct cst__inputs cst__inputs;
typedef struct cst__feed cst__feed;
typedef struct cst__tabular cst__tabular;
typedef struct cst__access cst__access;
typedef struct cst__record_cache cst__record_cache;

/* What rooms above this one do for a source: one table, set when inputs are opened. */
typedef struct cst__source_calls {
  /* Infers the schema from all of the input (*sampled: 0), or from so many first records. */
  cst_status (*infer)(cst_source *source, cst_schema **out, uint64_t *sampled, cst_error *error);
  /* Free what they keep in a source, or in its inputs. */
  void (*free_sample)(cst__feed *feed);
  void (*free_tabular)(cst__tabular *tabular);
  void (*free_access)(cst__access *access);
  void (*free_record_cache)(cst__record_cache *cache);
  void (*free_index)(cst_index *index);
} cst__source_calls;

/* A file by its path, a caller's reader, or a caller's stream. */
typedef struct cst__file {
  cst__inputs *inputs; /* those that it is one of */
  char *name;
  char *url;       /* of a file that is opened by one, whose name has no parameters; NULL: none */
  int64_t size;    /* on disk when it was opened; -1: unknown */
  bool rereadable; /* a regular file, or a reader that can seek */
  bool regular;    /* a regular file by its path */
  bool is_reader;
  bool is_stream;
  cst_reader reader;            /* its calls go through `lock` */
  cst_stream_opener opener;     /* the same */
  struct ArrowArrayStream held; /* of an opener that works once, or a program: what was asked for
                                 * the schema; guarded by `lock` */
  cst__mutex lock;
  cst_index *index;    /* of all of it, from the index file; guarded by the inputs' lock */
  bool sidecar_sought; /* guarded too */
  atomic_bool warned;  /* on_warning has been called for it */
} cst__file;

struct cst__inputs {
  cst__refcount owners;
  const cst__source_calls *calls;
  cst_allocator allocator;
  cst__file *files;
  size_t num_files;
  const cst__container *container; /* NULL: the format is not one of records */
  cst__format format;              /* no payload, table, plug-in or program: the caller's streams */
  const void *format_options; /* as the format's table sets them; NULL: it has none, or, where it
                                 was found later, the usual ones */
  cst__arena arena;           /* of these */
  char *stream_name;          /* the format's name then, if the caller has given one; else NULL */
  bool rereadable;            /* all files are */
  bool is_text;               /* the caller has named a format of text */
  bool by_record;           /* what the records of a pipe are is seen when its first one is read */
  atomic_bool acquired;     /* inputs that can be read once have been taken, */
  atomic_bool acquired_all; /* for a reading that needs no schema */
  cst__input *spare;        /* of a plain file that was looked at, for its reading; or NULL */
  const cst__file *spare_of;
  cst__mutex lock; /* guards the indexes and what is spare */
};

/* Without files; *out has one owner. `count`: files that will be added. */
cst_status cst__inputs_new(size_t count, const cst__source_calls *calls,
                           const cst_allocator *allocator, cst__inputs **out, cst_error *error);
cst__inputs *cst__inputs_retain(cst__inputs *inputs);
void cst__inputs_release(cst__inputs *inputs); /* NULL is allowed */

/* True if plain files of the format can be entered at each of their bytes. */
bool cst__inputs_divide(const cst__inputs *inputs);

/* Adds all files by their paths or URLs; all readers, or all streams, which belong to the inputs
 * from then on, also on failure. */
cst_status cst__inputs_add_paths(cst__inputs *inputs, const cst__paths *paths,
                                 uint64_t max_inflation, cst_error *error);
cst_status cst__inputs_add_readers(cst__inputs *inputs, const cst_reader *readers, size_t count,
                                   cst_error *error);
cst_status cst__inputs_add_openers(cst__inputs *inputs, const cst_stream_opener *openers,
                                   size_t count, cst_error *error);

/* Of readers and streams that no inputs have taken. */
void cst__close_readers(const cst_reader *readers, size_t count);
void cst__close_openers(const cst_stream_opener *openers, size_t count);

/* The path of a URL's program; CST_UNSUPPORTED, with the hint how to get it. */
cst_status cst__inputs_find_program(const char *url, const char **path, cst_error *error);

/* How the bytes of a file of this name are read. */
cst__input_options cst__inputs_read_options(const cst__inputs *inputs,
                                            const cst__reading_options *options, const char *name);

/* Opens a file for one reading from its start. */
cst_status cst__file_open(cst__file *file, const cst__input_options *options, cst__input **out,
                          cst_error *error);
/* Takes an input of the file that was opened to look at it: the next opening gets it. It is closed
 * instead if it is compressed, or if too many wait like this, because sources hold no files open.
 */
void cst__file_give_back(cst__file *file, cst__input *input);
/* Opens its bytes as they lie on disk; cst__raw_close. */
cst_status cst__file_open_raw(cst__file *file, cst__raw *raw, cst_error *error);

#endif /* SOURCE_INPUT_INPUTS_H */
