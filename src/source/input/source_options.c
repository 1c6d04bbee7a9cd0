/* The table of options of sources, and what is done by it. */
#include "source/input/source_options.h"

#include <stddef.h>

enum { MAX_THREADS = 1024 };

#define OF(member) .offset = offsetof(cst_source_options, member)
#define TEXT(name_, help_) \
  { .info = {.name = #name_, .kind = CST_OPTION_TEXT, .help = help_, .reads = true}, OF(name_) }
#define NUMBER(name_, usual_, help_, ...)   \
  {                                         \
    .info = {.name = #name_,                \
             .kind = CST_OPTION_NUMBER,     \
             .least = 1,                    \
             .most = INT64_MAX,             \
             .usual = usual_,               \
             .help = help_,                 \
             .reads = true},                \
    OF(name_), .is_wide = true, __VA_ARGS__ \
  }
#define SWITCH(name_, member, help_, ...)                                                         \
  {                                                                                               \
    .info = {.name = name_, .kind = CST_OPTION_SWITCH, .help = help_, .reads = true}, OF(member), \
    __VA_ARGS__                                                                                   \
  }

/* In the order in which they are told. */
static const cst__option source_options[] = {
    TEXT(format, "format of the input"),
    TEXT(group, "tensor_representation_group of the schema"),
    NUMBER(batch_size, "1024", "rows of a record batch", .is_unsigned = false),
    NUMBER(batch_bytes, NULL, "bytes of records after which a record batch also ends",
           .is_unsigned = false),
    {.info = {.name = "threads",
              .kind = CST_OPTION_NUMBER,
              .least = 1,
              .most = MAX_THREADS,
              .usual = "1",
              .help = "number of threads that read and decode",
              .reads = true},
     OF(threads)},
    {.info = {.name = "check_crc",
              .kind = CST_OPTION_SWITCH,
              .usual = "true",
              .help = "check the checksums of records",
              .reads = true},
     OF(flags),
     .bit = CST_SOURCE_SKIP_CRC,
     .turns_off = true},
    SWITCH("memory_map", flags, "map plain files", .bit = CST_SOURCE_MEMORY_MAP),
    {.info = {.name = "offsets",
              .kind = CST_OPTION_WORD,
              .words = {"64", "32"},
              .help = "bits of the offsets of lists",
              .reads = true},
     OF(column_flags),
     .bit = CST_COLUMNS_OFFSETS_32},
    SWITCH("binary_views", column_flags, "binary columns are views",
           .bit = CST_COLUMNS_BINARY_VIEWS),
    SWITCH("fixed_size", column_flags,
           "lists become fixed-size lists if the schema fixes their length",
           .bit = CST_COLUMNS_FIXED_SIZE),
    SWITCH("nested", column_flags, "a feature and its row lengths are one column of nested lists",
           .bit = CST_COLUMNS_NESTED),
    NUMBER(max_record_size, "268435456", "largest size of a record or row, in bytes",
           .is_unsigned = true),
    NUMBER(max_inflation, "200", "largest decompression ratio, beyond the first 64 MiB",
           .is_unsigned = true),
    SWITCH("legacy", legacy_specs,
           "apply the rules of the legacy feature spec (value_count and presence)", .bit = 0),
    TEXT(raw_column, "add a column with the bytes of each record"),
    TEXT(offset_column, "add a column with the offset of each record in its file"),
    {.info = {.name = "on_error",
              .kind = CST_OPTION_WORD,
              .words = {"raise", "skip", "null"},
              .help = "damaged records: raise an error, skip them, or null: a damaged message "
                      "becomes a row of nulls",
              .reads = true},
     OF(on_error)},
    NUMBER(max_errors, NULL, "fail if more than N records are damaged", .is_unsigned = true),
    TEXT(environment, "environment of the schema; features outside it are ignored"),
    TEXT(container, "container of the input's records, if it is not detected"),
    SWITCH("flat", flat,
           "plain values, not lists of one, and text, if the schema or all data allow it",
           .bit = 0),
    NUMBER(sample_records, NULL, "number of records from which types are inferred",
           .is_unsigned = false),
    TEXT(message_column, "column that contains the messages, in a file of another format"),
};

const cst__option_table cst__source_option_table = {
    .owner = "source",
    .options = source_options,
    .count = sizeof source_options / sizeof *source_options,
    .stride = sizeof *source_options,
    .size = sizeof(cst_source_options)};

const cst_option_info *cst_source_option_get(size_t i) {
  return i < cst__source_option_table.count ? &source_options[i].info : NULL;
}

cst_status cst_source_options_set(cst_source_options *options, const char *name, const char *value,
                                  cst_error *error) {
  cst_source_options own = CST_SOURCE_OPTIONS_INIT;
  const cst_option given = {name, value, NULL};
  return cst__option_set_by_name(&cst__source_option_table, options, &own, &given, error);
}

cst_status cst__source_options_settle(cst_source_options *options, cst__arena *arena,
                                      cst_error *error) {
  CST__TRY(cst__options_copy_texts(&cst__source_option_table, arena, options, error));
  for (size_t i = 0; i < cst__source_option_table.count; i++) {
    cst__option_settle(&source_options[i], options);
  }
  options->batch_bytes = options->batch_bytes > 0 ? options->batch_bytes : INT64_MAX;
  options->max_errors = options->max_errors > 0 ? options->max_errors : UINT64_MAX;
  return CST_OK;
}
