/* A sink format: how record batches of one schema become a file. One table per format, one file
 * each (sink_*.c); plug-ins stand behind the tables of sink_plugin.c and sink_program.c.
 */
#ifndef FORMAT_SINK_FORMAT_H
#define FORMAT_SINK_FORMAT_H

#include <columnstone/arrow_abi.h>
#include <columnstone/format.h>
#include <columnstone/sink.h>

#include "base/error.h"
#include "format/container/container.h"
#include "format/payload/payload.h"
#include "format/plugin/program.h"
#include "io/output.h"

typedef struct cst__sink_target {
  cst__output *output;              /* lent until free: opened, finished and freed by sink.c */
  const char *path;                 /* of it, for what its ending tells; "-": standard output */
  const struct ArrowSchema *schema; /* borrowed until free; a struct */
  const cst_sink_options *options;  /* never NULL; valid for the time of open */
  const void *format_options;       /* as the format's table sets them; NULL: it has none */
  const cst__container *container;  /* for cst__sink_records, */
  const cst__payload *payload;      /* and what the records hold, which has an encoder */
  const cst_plugin_format *plugin;  /* for cst__sink_plugin */
  const cst__program *program;      /* for cst__sink_program */
} cst__sink_target;

typedef struct cst__sink_format {
  /* *sink is NULL on failure. */
  cst_status (*open)(const cst__sink_target *open, void **sink, cst_error *error);
  /* Borrows the batch. Errors name row (as record) and column (as path). */
  cst_status (*write)(void *sink, const struct ArrowArray *batch, cst_error *error);
  /* Writes what is left; the output is finished after it. */
  cst_status (*finish)(void *sink, cst_error *error);
  void (*free)(void *sink);
  bool own_compression;    /* the output is plain, whatever the options say */
  bool takes_dictionaries; /* else dictionary-encoded columns come as their values */
} cst__sink_format;

/* For formats whose readers know fields by name: CST_INVALID_ARGUMENT, with the path, if two
 * columns, or two fields of a struct at any depth, have the same name. */
cst_status cst__sink_check_names(const struct ArrowSchema *schema, cst_error *error);

extern const cst__sink_format cst__sink_records;
extern const cst__sink_format cst__sink_arrow_file;
extern const cst__sink_format cst__sink_arrow_stream;
extern const cst__sink_format cst__sink_avro;
extern const cst__sink_format cst__sink_csv;
extern const cst__sink_format cst__sink_json;
extern const cst__sink_format cst__sink_plugin;
extern const cst__sink_format cst__sink_program;

#endif /* FORMAT_SINK_FORMAT_H */
