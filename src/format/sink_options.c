/* The table of options of sinks, and what is done by it. */
#include "format/sink_options.h"

#include <stddef.h>

enum { MAX_THREADS = 1024, LEAST_LEVEL = -100, MOST_LEVEL = 100 };

#define OF(member) .offset = offsetof(cst_sink_options, member)
#define INFO(name_, kind_, help_, ...) \
  .info = {.name = name_, .kind = CST_OPTION_##kind_, .help = help_, .writes = true, __VA_ARGS__}
#define NUMBER(name_, help_, least_, most_, ...) \
  INFO(#name_, NUMBER, help_, .least = (least_), .most = (most_), __VA_ARGS__), OF(name_)

/* In the order in which they are told. */
static const cst__option sink_options[] = {
    {INFO("format", TEXT, "output format", .usual = NULL), OF(format)},
    {INFO("compression", WORD,
          "compression of the container: by the extension of the name, or a given one",
          .words = {"by_name", "none", "gzip", "zlib", "zstd"}),
     OF(compression)},
    {NUMBER(level, "compression level; 0 is the default", LEAST_LEVEL, MOST_LEVEL, .usual = NULL)},
    {INFO("lossy", SWITCH, "allow rounding of values that the output cannot store exactly",
          .usual = NULL),
     OF(lossy)},
    {NUMBER(threads, "2 or more: compress and write in the background", 1, MAX_THREADS,
            .usual = "1")},
    {NUMBER(num_shards, "write N files, NAME-00000-of-0000N", 1, CST__MOST_SHARDS, .usual = NULL)},
    {NUMBER(shard_bytes, "start a new file after N bytes", 1, INT64_MAX, .usual = NULL),
     .is_wide = true, .is_unsigned = true},
    {INFO("container", TEXT,
          "container of the output's records, if its extension does not select one", .usual = NULL),
     OF(container)},
};

const cst__option_table cst__sink_option_table = {
    .owner = "sink",
    .options = sink_options,
    .count = sizeof sink_options / sizeof *sink_options,
    .stride = sizeof *sink_options,
    .size = sizeof(cst_sink_options)};

const cst_option_info *cst_sink_option_get(size_t i) {
  return i < cst__sink_option_table.count ? &sink_options[i].info : NULL;
}

cst_status cst_sink_options_set(cst_sink_options *options, const char *name, const char *value,
                                cst_error *error) {
  cst_sink_options own = CST_SINK_OPTIONS_INIT;
  const cst_option given = {name, value, NULL};
  return cst__option_set_by_name(&cst__sink_option_table, options, &own, &given, error);
}
