/* Queries over nested data, views of queries, and serving.
 *
 * A query is text (docs/queries.md) that defines output columns. A view is a query bound to the
 * types of its input: a function from batch to batch, or from records to tensors. It can be saved
 * as a small file and opened anywhere.
 *
 * Sources: RFC "Support structured data in TFX through struct2tensor and DataView".
 */
#ifndef COLUMNSTONE_QUERY_H
#define COLUMNSTONE_QUERY_H

#include <columnstone/findings.h>
#include <columnstone/message.h>
#include <columnstone/tensor.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- queries ---- */

/* The statements of a query. Used by one thread at a time. Limits (CST_LIMIT): 1 MiB of text in
 * all, 10,000 statements, 250 levels in an expression, 100 in a type, 1,000 bytes in a name, 1,000
 * names in a struct or a call. */
typedef struct cst_query cst_query;

/* A query without statements. allocator may be NULL. */
CST_API cst_status cst_query_new(const cst_allocator *allocator, cst_query **out, cst_error *error);
/* A query with the statements of a text in UTF-8, of a file, or of another query. A syntax error
 * is CST_INVALID_ARGUMENT with line and column. cst_view_new looks up the names. */
CST_API cst_status cst_query_from_text(const char *text, size_t size,
                                       const cst_allocator *allocator, cst_query **out,
                                       cst_error *error);
CST_API cst_status cst_query_open(const char *path, const cst_allocator *allocator, cst_query **out,
                                  cst_error *error);
CST_API cst_status cst_query_copy(const cst_query *query, cst_query **out, cst_error *error);
CST_API void cst_query_free(cst_query *query); /* NULL is allowed */

/* Adds statements, as text. After a failure the query is unchanged. */
CST_API cst_status cst_query_add(cst_query *query, const char *text, size_t size, cst_error *error);
/* Each of these adds one statement. Its parts are texts: paths ("event.query"), expressions
 * ("event where clicked"), patterns ("event.*"). `type` and `value` of a parameter are written as
 * in the language; value NULL: required. A `name` is written without backticks. A failure has line
 * and column within the part that is wrong. */
CST_API cst_status cst_query_from_message(cst_query *query, const char *message, cst_error *error);
CST_API cst_status cst_query_param(cst_query *query, const char *name, const char *type,
                                   const char *value, cst_error *error);
CST_API cst_status cst_query_let(cst_query *query, const char *path, const char *expression,
                                 cst_error *error);
CST_API cst_status cst_query_rows(cst_query *query, const char *path, cst_error *error);
/* depth: that of `**`, 1 to 60; 0: not given. */
CST_API cst_status cst_query_keep(cst_query *query, const char *const *patterns, size_t count,
                                  int depth, cst_error *error);
CST_API cst_status cst_query_drop(cst_query *query, const char *const *patterns, size_t count,
                                  cst_error *error);
CST_API cst_status cst_query_rename(cst_query *query, const char *path, const char *name,
                                    cst_error *error);
CST_API cst_status cst_query_output(cst_query *query, const char *name, const char *expression,
                                    cst_error *error);

/* A function of the caller, which later expressions call by its name, element by element. */
typedef struct cst_query_function {
  const char *name;
  const char *type; /* the type of the result in the query language: "float32" */
  size_t num_args;
  /* Returns an array of `type` with the length of the arguments, which are the columns of a batch
   * (a, b, ...) and borrowed. Called by any thread, and by several at the same time. */
  cst_status (*call)(void *ctx, const struct ArrowSchema *schema, const struct ArrowArray *args,
                     struct ArrowArray *out, cst_error *error);
  void *ctx;
  void (*close)(void *ctx); /* called with the release of the last query or view that has it;
                               may be NULL */
} cst_query_function;

/* Adds a function, and owns it from here on: it is closed on failure, too. A query with such
 * functions cannot be saved. */
CST_API cst_status cst_query_add_function(cst_query *query, const cst_query_function *function,
                                          cst_error *error);

/* The text of the query in canonical form: queries with the same statements give the same text.
 * NUL-terminated; cst_free. CST_LIMIT if it is longer than a query may be. */
CST_API cst_status cst_query_to_text(const cst_query *query, char **text, size_t *size,
                                     cst_error *error);

/* ---- views ---- */

/* A query bound to its input. Immutable and counted; many threads may use one at once. */
typedef struct cst_view cst_view;

/* A value of a parameter: its name, and the value as the language writes it (12, "text"). */
typedef struct cst_query_value {
  const char *name;
  const char *value;
} cst_query_value;

/* Options of cst_view_new, cst_view_open and cst_view_from_bytes. */
typedef struct cst_view_options {
  size_t size; /* sizeof(cst_view_options) */
  const cst_allocator *allocator;
  const cst_message_options *message; /* `from message`: descriptors, and options for reading
                                         records; the message is named by the query or here. A
                                         saved view has its own: only `form` is used then, and
                                         a form with field names (JSON, text) must be that of
                                         the saved view (otherwise CST_UNSUPPORTED) */
  const cst_schema *schema;           /* `from example`: the types of the features */
  const struct ArrowSchema *type;     /* `from table`, and `from example` without a schema:
                                         the type of the batches (a struct). A null in a field
                                         that is not nullable here and that an output needs is
                                         CST_SCHEMA with its record, whatever the type of the
                                         batch says */
  const cst_query_value *params;
  size_t num_params;
  const char *const *outputs; /* the wanted columns of the result, in this order; nothing else
                                 is computed or parsed. NULL: all */
  size_t num_outputs;
  /* Limits of one batch, or of the records of one call. More is CST_LIMIT, and the error names the
   * record with the largest share. B is the size of the batch in memory, after decoding. */
  int64_t max_elements; /* elements of all lists that the query creates. 0: 2^28 */
  int64_t max_bytes;    /* memory that the query uses in addition to the batch. 0: 64 MiB +
                           200 B */
  int64_t max_work;     /* a bound on the time: the elements that all steps of the query read and
                           write, plus one for each 16 bytes of text. 0: 2^28 + 4096 B; a second
                           corresponds to about 2^29 */
} cst_view_options;

#define CST_VIEW_OPTIONS_INIT \
  { sizeof(cst_view_options), NULL, NULL, NULL, NULL, NULL, 0, NULL, 0, 0, 0, 0 }

/* Binds a query, which may be freed afterwards. Failures have line and column of the query, and
 * near names. */
CST_API cst_status cst_view_new(const cst_query *query, const cst_view_options *options,
                                cst_view **out, cst_error *error);
/* Opens a saved view from a file or from bytes, which may be untrusted. options may be NULL;
 * `params` and `outputs` replace the saved ones. CST_CORRUPT if the bytes are not a view,
 * CST_UNSUPPORTED for the format of a later version. */
CST_API cst_status cst_view_open(const char *path, const cst_view_options *options, cst_view **out,
                                 cst_error *error);
CST_API cst_status cst_view_from_bytes(const void *bytes, size_t size,
                                       const cst_view_options *options, cst_view **out,
                                       cst_error *error);
CST_API cst_view *cst_view_retain(const cst_view *view);
CST_API void cst_view_release(cst_view *view); /* NULL is allowed */

/* Saves a view with the descriptors that it needs. Free the bytes with cst_free. CST_UNSUPPORTED
 * for a view with functions of the caller. The same query, types and options give the same bytes
 * (docs/views.md). */
CST_API cst_status cst_view_to_bytes(const cst_view *view, void **bytes, size_t *size,
                                     cst_error *error);
CST_API cst_status cst_view_save(const cst_view *view, const char *path, cst_error *error);

/* What a view is. Borrowed from it. */
/* The canonical text of the query; for messages with the full name and the options that it was
 * bound to. */
CST_API const char *cst_view_text(const cst_view *view);
/* SHA-256 of the saved form without the digest at its end, as hex. NULL: the view cannot be saved,
 * or memory is out. */
CST_API const char *cst_view_digest(const cst_view *view);
/* True if an output needs record_index(), the number of its record in the file. The view then
 * reads whole files, or splits that know the number of their first record. */
CST_API bool cst_view_uses_record_index(const cst_view *view);
CST_API const char *cst_view_message(const cst_view *view); /* full name; NULL: no messages */
/* The options by which the view reads messages, descriptors included. NULL: no messages. */
CST_API const cst_message_options *cst_view_message_options(const cst_view *view);
CST_API const char *cst_view_input(const cst_view *view); /* "message", "example", "table", ... */
CST_API size_t cst_view_num_outputs(const cst_view *view);
CST_API const char *cst_view_output(const cst_view *view, size_t i); /* NULL: i is too large */
/* The outputs with their tensors, columns and source paths, as "outputs", and the parameters with
 * their values, as "params" (docs/views.md describes the columns). *out: cst_findings_free. */
CST_API cst_status cst_view_outputs(const cst_view *view, cst_findings **out, cst_error *error);
CST_API cst_status cst_view_params(const cst_view *view, cst_findings **out, cst_error *error);
/* The output columns, and their tensors. */
CST_API cst_status cst_view_arrow_schema(const cst_view *view, struct ArrowSchema *out,
                                         cst_error *error);
CST_API const cst_specs *cst_view_specs(const cst_view *view);
/* The fields of the input that an output needs (NULL: that all outputs need): the shortest list of
 * paths, sorted, none a prefix of another. No other field is parsed. Borrowed. */
CST_API cst_status cst_view_source_paths(const cst_view *view, const char *output,
                                         const char *const **paths, size_t *count,
                                         cst_error *error);
/* The fields of the input that decide which rows come out: those that a `where` of the `rows`
 * reads. Records without these fields, such as requests without a label, have no rows then, and no
 * error. Empty if a parameter of type bool takes part, with which a server keeps all rows
 * (docs/ranking.md). Borrowed. */
CST_API cst_status cst_view_row_paths(const cst_view *view, const char *const **paths,
                                      size_t *count, cst_error *error);

enum { CST_EXPLAIN_JSON = 1 << 0 };
/* The plan, for people or as JSON: which fields are parsed, the steps, the outputs.
 * NUL-terminated; cst_free. size may be NULL. */
CST_API cst_status cst_view_explain(const cst_view *view, uint32_t flags, char **text, size_t *size,
                                    cst_error *error);

/* The plan with the number of elements that each step makes of a batch. The batch needs the
 * columns of cst_view_apply, and is moved in, also on failure. */
CST_API cst_status cst_view_explain_batch(const cst_view *view, const struct ArrowSchema *schema,
                                          struct ArrowArray *batch, uint32_t flags, char **text,
                                          cst_error *error);

/* Compares two views: a line for each change of an output, a parameter, the input or the rows.
 * *num_breaking counts the changes that break a reader of `before`, *num_rows those that may
 * change the rows (another `rows` statement, or a change of what its records are made of).
 * NUL-terminated; cst_free. */
CST_API cst_status cst_view_diff(const cst_view *before, const cst_view *after, char **text,
                                 size_t *num_breaking, size_t *num_rows, cst_error *error);

/* ---- running ---- */

/* Reports a bad record. error->record is its number among the records of the call. Called on the
 * caller's thread, before the call returns, in the order of the records. */
typedef void (*cst_bad_record_callback)(void *ctx, const cst_error *error);

/* Options of the calls that run a view. */
typedef struct cst_view_run_options {
  size_t size; /* sizeof(cst_view_run_options) */
  /* What happens to a record that cannot be decoded, or that the query or a tensor rejects.
   * CST_ON_ERROR_RAISE: the call fails with the first such record; _SKIP: such records are left
   * out; _NULL: they keep their rows, so that row i is record i. Such a row has nulls; dense
   * tensors, which have no nulls, get their default, or 0 and empty text. If the view has `rows`,
   * _NULL is the same as _SKIP. Records that exceed a limit only together (CST_LIMIT) are not bad
   * records. */
  cst_on_error on_error;
  cst_bad_record_callback on_bad; /* may be NULL */
  void *bad_ctx;
  /* The deadline of the call: a time of CLOCK_MONOTONIC in nanoseconds; 0: none. After it, the call
   * stops within about 10 ms with CST_TIMEOUT. */
  int64_t deadline;
  /* Filled with the number (int64) of the record, or of the row in the batch, that each row of the
   * result comes from. Release it as any Arrow array; NULL: not needed. */
  struct ArrowArray *origin;
} cst_view_run_options;

#define CST_VIEW_RUN_OPTIONS_INIT \
  { sizeof(cst_view_run_options), CST_ON_ERROR_RAISE, NULL, NULL, 0, NULL }

/* Converts records (messages, tf.Examples) to tensors. Thread-safe; memory is kept for the next
 * call. An error has the number of its record. options may be NULL. The calls of this section need
 * at most 64 KiB of stack. */
CST_API cst_status cst_view_run(const cst_view *view, const cst_bytes *records, size_t count,
                                const cst_view_run_options *options, cst_tensors **out,
                                cst_error *error);
/* Converts records to a batch. out_schema may be NULL: it is that of cst_view_arrow_schema, except
 * that all columns are nullable with CST_ON_ERROR_NULL. */
CST_API cst_status cst_view_run_arrow(const cst_view *view, const cst_bytes *records, size_t count,
                                      const cst_view_run_options *options,
                                      struct ArrowSchema *out_schema, struct ArrowArray *out,
                                      cst_error *error);
/* Converts a batch to a batch, or to tensors. The view finds its columns by name. `batch` is moved
 * in, also on failure. options and out_schema are as above; the rows of the batch are the records.
 */
CST_API cst_status cst_view_apply(const cst_view *view, const struct ArrowSchema *schema,
                                  struct ArrowArray *batch, const cst_view_run_options *options,
                                  struct ArrowSchema *out_schema, struct ArrowArray *out,
                                  cst_error *error);
CST_API cst_status cst_view_apply_tensors(const cst_view *view, const struct ArrowSchema *schema,
                                          struct ArrowArray *batch,
                                          const cst_view_run_options *options, cst_tensors **out,
                                          cst_error *error);

#ifdef __cplusplus
}
#endif

#endif /* COLUMNSTONE_QUERY_H */
