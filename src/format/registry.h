/* The formats: found by name, by the ending of a path, or by the first bytes of a file. Built-in
 * ones stand in a table; every other name is a plug-in, loaded when it is asked for.
 */
#ifndef FORMAT_REGISTRY_H
#define FORMAT_REGISTRY_H

#include <columnstone/format.h>

#include "base/error.h"
#include "base/options.h"
#include "format/payload/payload.h"
#include "format/sink/sink_format.h"
#include "format/table/table.h"

/* One format. At most one of `payload`, `table`, `plugin` and `program` is set; none: it is only
 * written. */
typedef struct cst__format {
  const char *name;                 /* static, or the plug-in's: lives as long as the process */
  const cst__payload *payload;      /* what a container's records hold: read by src/source */
  const cst__table_format *table;   /* a tabular format that is built in: read by src/source too */
  const cst_plugin_format *plugin;  /* a tabular format, read and written by a plug-in, */
  const cst__program *program;      /* or by a plug-in that is a program */
  const cst__sink_format *sink;     /* writes it; NULL: it cannot be written */
  const cst__option_table *options; /* its options; NULL: it has none */
  const cst__payload *records;      /* of a format of files: that of its values as records of some
                                       container; NULL: they are none */
} cst__format;

/* Of the i-th format that there is (cst_format_get). */
const cst__option_table *cst__format_option_table(size_t i);

/* The format whose payload takes this first record of a file for its own; false: none does. */
bool cst__format_find_by_record(cst_bytes record, cst__format *out);

/* One more payload beside the table, for tests; NULL takes it away. Not while sources are opened.
 */
void cst__format_set_extra(const cst__payload *payload);

/* By name, such as "example", "raw", "arrow", "parquet". CST_NOT_FOUND lists the known ones,
 * suggests a near one, and says for parquet how to get the plug-in. */
cst_status cst__format_find(const char *name, cst__format *out, cst_error *error);

/* The format that an output's name means ("x.parquet", "x.jsonl.gz", "x.tfrecord.gz"). */
cst_status cst__format_find_by_path(const char *path, cst__format *out, cst_error *error);

/* The format of records, in a container, that batches of these columns are written as when nothing
 * names it. */
bool cst__format_find_by_schema(const struct ArrowSchema *schema, const cst_sink_options *options,
                                cst__format *out);

/* The tabular format of an input that is not in a container, by its first bytes (64 are enough), or
 * by the ending of its name. CST_NOT_FOUND if they mean a format whose plug-in is not there; CST_OK
 * with table, plugin and program NULL if they mean none. */
cst_status cst__format_find_by_head(const uint8_t *head, size_t size, cst__format *out,
                                    cst_error *error);
cst_status cst__format_find_by_ending(const char *path, cst__format *out, cst_error *error);

/* Makes a format that of the records of a container, if it can be: false where it is one of files
 * alone. */
bool cst__format_in_container(cst__format *format);

static inline bool cst__format_is_tabular(const cst__format *format) {
  return format->table != NULL || format->plugin != NULL || format->program != NULL;
}

#endif /* FORMAT_REGISTRY_H */
