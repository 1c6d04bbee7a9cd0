/* Tests of proposals: records as text in, the parts of a schema out, and the records have to fit
 * what is proposed for them.
 */
#include <columnstone/validate.h>

#include "sequence_text.h"
/* Behind the names that it would shadow. */
#include "io_support.h"

enum { MAX_RECORDS = 9000 };

typedef struct data {
  const char *format; /* NULL: tf.Examples */
  const char *records[MAX_RECORDS];
} data;

static size_t num_records(const data *d) {
  size_t count = 0;
  while (count < MAX_RECORDS && d->records[count] != NULL) count++;
  return count;
}

static const char *write_data(const data *d) {
  static int number;
  char name[32];
  bytes file = {0};
  for (size_t i = 0; i < num_records(d); i++) {
    wire_text record =
        d->format != NULL ? sequence_text(d->records[i]) : example_text(d->records[i]);
    bytes_add_record(&file, record.data, record.size);
  }
  snprintf(name, sizeof name, "data%d", number++);
  const char *path = harness_temp_path(name);
  harness_write_file(path, file.data != NULL ? (const void *)file.data : "", file.size);
  bytes_free(&file);
  return path;
}

static cst_source *open_data(const char *path, const data *d, const cst_schema *schema,
                             const char *group, int threads) {
  cst_source_options options = CST_SOURCE_OPTIONS_INIT;
  cst_error error = CST_ERROR_INIT;
  cst_source *source = NULL;
  options.format = d->format != NULL ? d->format : "example";
  options.schema = schema;
  options.group = group;
  options.threads = threads;
  cst_status status = cst_source_open(&path, 1, &options, &source, &error);
  CHECK_STR(error.message, "");
  CHECK_EQ(status, CST_OK);
  return source;
}

/* The schema as text in one line, with single spaces. */
typedef struct line {
  char text[16384];
} line;

static line line_of(const cst_schema *schema) {
  line l;
  char *text;
  size_t size;
  size_t out = 0;
  CHECK_EQ(cst_schema_to_text(schema, &text, &size, NULL), CST_OK);
  for (size_t i = 0; i < size; i++) {
    bool space = text[i] == ' ' || text[i] == '\n';
    if (!space || (out > 0 && l.text[out - 1] != ' ')) {
      CHECK(out + 1 < sizeof l.text);
      l.text[out++] = space ? ' ' : text[i];
    }
  }
  l.text[out] = '\0';
  cst_free(text);
  return l;
}

static void check_holds(const char *path, const data *d, const cst_schema *schema,
                        const char *group) {
  cst_source *source = open_data(path, d, schema, group, 2);
  cst_findings *found = NULL;
  cst_error error = CST_ERROR_INIT;
  cst_specs *specs = NULL;
  CHECK_EQ(cst_source_specs(source, &specs, &error), CST_OK);
  cst_specs_release(specs);
  CHECK_EQ(cst_source_validate(source, NULL, &found, &error), CST_OK);
  for (size_t i = 0; i < cst_findings_num_rows(found); i++) {
    CHECK_STR(cst_findings_text(found, "message", i), "");
  }
  CHECK_EQ(cst_findings_total(found, "num_rows"), num_records(d));
  cst_findings_free(found);
  cst_source_release(source);
}

/* The proposal for the records, which has to be the same for every number of threads. */
static line propose_with(const data *d, const cst_propose_options *options) {
  const char *path = write_data(d);
  line first;
  for (int threads = 1; threads <= 3; threads++) {
    cst_source *source = open_data(path, d, NULL, NULL, threads);
    cst_schema *schema = NULL;
    cst_error error = CST_ERROR_INIT;
    cst_status status = cst_source_propose(source, options, &schema, &error);
    CHECK_STR(error.message, "");
    CHECK_EQ(status, CST_OK);
    cst_source_release(source);
    line found = line_of(schema);
    if (threads > 1) {
      CHECK_STR(found.text, first.text);
    } else {
      check_holds(path, d, schema, options->group);
    }
    first = found;
    cst_schema_release(schema);
  }
  return first;
}

static line propose(const data *d) {
  cst_propose_options options = CST_PROPOSE_OPTIONS_INIT;
  return propose_with(d, &options);
}

#define EXAMPLES(...)          \
  {                            \
    .records = { __VA_ARGS__ } \
  }

TEST(domains) {
  data d = EXAMPLES("i:int[3,-2] f:float[0.5] s:bytes[a]",
                    "i:int[7] f:float[nan,-1.5] s:bytes[b,a]", "f:float[2.5] s:bytes[a]");
  line l = propose(&d);
  CHECK_CONTAINS(l.text, "int_domain { min: -2 max: 7 }");
  CHECK_CONTAINS(l.text, "float_domain { min: -1.5 max: 2.5 }");
  CHECK_CONTAINS(l.text, "string_domain { value: \"a\" value: \"b\" }");
}

TEST(limits_without_end) {
  data d = EXAMPLES("f:float[inf] g:float[nan]", "f:float[1] g:float[nan]");
  line l = propose(&d);
  CHECK_CONTAINS(l.text, "float_domain { min: 1.0 }");
  CHECK(strstr(strstr(l.text, "\"g\""), "float_domain") == NULL);
}

TEST(strings_that_are_no_choice) {
  /* Ids do not repeat; what is not UTF-8 is not text. */
  data d = EXAMPLES("id:bytes[a] raw:bytes[\xff]", "id:bytes[b] raw:bytes[\xff]",
                    "id:bytes[c] raw:bytes[\xff]", "id:bytes[d] raw:bytes[\xff]");
  line l = propose(&d);
  CHECK(strstr(l.text, "string_domain") == NULL);
}

TEST(as_many_values_as_asked_for) {
  data d = EXAMPLES("s:bytes[a,a,b,b,c,c]");
  cst_propose_options options = CST_PROPOSE_OPTIONS_INIT;
  options.max_domain = 3;
  line l = propose_with(&d, &options);
  CHECK_CONTAINS(l.text, "string_domain { value: \"a\" value: \"b\" value: \"c\" }");
  options.max_domain = 2;
  l = propose_with(&d, &options);
  CHECK(strstr(l.text, "string_domain") == NULL);
}

TEST(long_strings) {
  char text[600] = "s:bytes[";
  size_t begin = strlen(text);
  for (size_t size = 256; size <= 257; size++) {
    memset(text + begin, 'x', size);
    memcpy(text + begin + size, "]", 2);
    data d = EXAMPLES(text, text);
    line l = propose(&d);
    CHECK_EQ(strstr(l.text, "string_domain") != NULL, size == 256);
  }
}

TEST(courses) {
  data d = EXAMPLES("up:int[1] down:float[3] same:int[5] text:bytes[x] any:int[1] two:int[1,2]",
                    "up:int[1] down:float[2] same:int[5] text:bytes[x] any:int[3] two:int[3,4]",
                    "up:int[2] down:float[2] same:int[5] text:bytes[x] any:int[2] two:int[5,6]");
  line l = propose(&d);
  CHECK_CONTAINS(strstr(l.text, "name: \"up\""), "tag: \"increasing\"");
  CHECK_CONTAINS(l.text, "name: \"down\" type: FLOAT float_domain { min: 2.0 max: 3.0 } "
                         "presence { min_fraction: 1.0 min_count: 1 } "
                         "annotation { tag: \"decreasing\" }");
  CHECK_CONTAINS(l.text, "name: \"same\" type: INT int_domain { min: 5 max: 5 } "
                         "presence { min_fraction: 1.0 min_count: 1 } "
                         "annotation { tag: \"constant\" }");
  CHECK_CONTAINS(l.text, "name: \"text\" type: BYTES string_domain { value: \"x\" } "
                         "presence { min_fraction: 1.0 min_count: 1 } "
                         "annotation { tag: \"constant\" }");
  CHECK_CONTAINS(l.text, "name: \"any\" type: INT int_domain { min: 1 max: 3 } "
                         "presence { min_fraction: 1.0 min_count: 1 } shape");
  CHECK_CONTAINS(l.text, "name: \"two\" type: INT int_domain { min: 1 max: 6 } "
                         "presence { min_fraction: 1.0 min_count: 1 } shape");
}

TEST(dense_and_varlen) {
  data d =
      EXAMPLES("one:int[1] three:int[1,2,3] most:float[1] text:bytes[x] many:int[1,2]",
               "one:int[2] three:int[4,5,6] many:int[] maybe:int[]",
               "one:int[1] three:int[7,8,9] most:float[2] text:bytes[y] maybe:int[4] nil:none");
  line l = propose(&d);
  CHECK_CONTAINS(l.text, "key: \"one\" value { dense_tensor { column_name: \"one\" shape { } } }");
  CHECK_CONTAINS(l.text, "dense_tensor { column_name: \"three\" shape { dim { size: 3 } } }");
  CHECK_CONTAINS(l.text, "{ column_name: \"most\" shape { } default_value { float_value: -1.0 } }");
  CHECK_CONTAINS(l.text, "{ column_name: \"text\" shape { } default_value { bytes_value: \"\" } }");
  CHECK_CONTAINS(l.text, "varlen_sparse_tensor { column_name: \"many\" }");
  /* An empty list is there, and has no value: no default takes its place. */
  CHECK_CONTAINS(l.text, "varlen_sparse_tensor { column_name: \"maybe\" }");
  CHECK(strstr(l.text, "column_name: \"nil\"") == NULL);
}

TEST(ragged_and_group) {
  data d = EXAMPLES("a:int[1,2]", "a:int[1]");
  cst_propose_options options = CST_PROPOSE_OPTIONS_INIT;
  options.ragged = true;
  options.group = "train";
  line l = propose_with(&d, &options);
  CHECK_CONTAINS(l.text, "key: \"train\"");
  CHECK_CONTAINS(l.text,
                 "ragged_tensor { feature_path { step: \"a\" } row_partition_dtype: INT64 }");
}

TEST(sparse_pairs) {
  data d =
      EXAMPLES("x_index:int[2,5] x_value:float[1,2] y_ids:int[3] y_weights:float[1]", "z:int[1]",
               "x_index:int[0,7,9] x_value:float[1,2,3] y_ids:int[1,2] y_weights:float[1,2]");
  line l = propose(&d);
  CHECK_CONTAINS(l.text, "sparse_feature { name: \"x\" index_feature { name: \"x_index\" } "
                         "is_sorted: true value_feature { name: \"x_value\" } }");
  CHECK_CONTAINS(l.text,
                 "sparse_tensor { dense_shape { dim { size: 10 } } index_column_names: \"x_index\" "
                 "value_column_name: \"x_value\" already_sorted: true }");
  CHECK_CONTAINS(l.text, "name: \"x_index\" value_count { min: 2 max: 3 } type: INT "
                         "int_domain { min: 0 max: 9 }");
  CHECK_CONTAINS(l.text, "index_column_names: \"y_ids\"");
  CHECK(strstr(l.text, "column_name: \"x_index\"") == NULL);
}

TEST(pairs_that_do_not_fit) {
  static const data all[] = {
      EXAMPLES("x_index:int[2,2] x_value:float[1,2]"),    /* not increasing */
      EXAMPLES("x_index:int[-1,2] x_value:float[1,2]"),   /* below 0 */
      EXAMPLES("x_index:int[1,2] x_value:float[1]"),      /* of another number */
      EXAMPLES("x_index:int[1] x_value:float[1]"),        /* proves nothing */
      EXAMPLES("x_index:float[1,2] x_value:float[1,2]"),  /* no integers */
      EXAMPLES("x_index:int[1,2]", "x_value:float[1,2]"), /* in other records */
      EXAMPLES("xindex:int[1,2] xvalue:float[1,2]"),      /* no word of its own */
      EXAMPLES("x_index:int[1,9223372036854775807] x_value:float[1,2]"),
      EXAMPLES("t:int[1,2] t_lengths:int[1]"),
      EXAMPLES("t:int[1,2] t_lengths:int[3,-1]"),
      EXAMPLES("t:int[] t_lengths:int[0]"),
      EXAMPLES("t:int[1,2] t_lengths:float[1,1]"),
  };
  for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
    line l = propose(&all[i]);
    CHECK(strstr(l.text, " sparse_tensor") == NULL);
    CHECK(strstr(l.text, "row_length") == NULL);
  }
}

TEST(names_of_pairs) {
  data plain = EXAMPLES("index:int[1,2] value:float[1,2]");
  line l = propose(&plain);
  CHECK_CONTAINS(l.text, "sparse_feature { name: \"value\"");
  data taken = EXAMPLES("x:int[1] x_index:int[1,2] x_value:float[1,2]");
  l = propose(&taken);
  CHECK_CONTAINS(l.text, "sparse_feature { name: \"x_value\"");
  data twice = EXAMPLES("x_index:int[1,2] x_ids:int[1,2] x_value:float[1,2] x_weight:int[3,4]");
  l = propose(&twice);
  CHECK_CONTAINS(l.text, "sparse_feature { name: \"x\" index_feature { name: \"x_index\" }");
  CHECK_CONTAINS(l.text, "sparse_feature { name: \"x_weight\" index_feature { name: \"x_ids\" }");
}

TEST(row_lengths) {
  data d =
      EXAMPLES("t:int[1,2,3] t_lengths:int[2,1] u:int[1] u_row_lengths:int[0,1,0] u_lengths:int[1]",
               "v:int[1]", "t:int[4] t_lengths:int[0,1,0]");
  line l = propose(&d);
  CHECK_CONTAINS(l.text, "ragged_tensor { feature_path { step: \"t\" } row_partition_dtype: INT64 "
                         "partition { row_length: \"t_lengths\" } }");
  CHECK_CONTAINS(l.text, "partition { row_length: \"u_row_lengths\" }");
  CHECK_CONTAINS(l.text, "dense_tensor { column_name: \"u_lengths\"");
  CHECK(strstr(l.text, "column_name: \"t_lengths\"") == NULL);
}

/* A column that comes late (batches have 4096 rows) has had no values before. */
TEST(late_columns) {
  static data late = {.records = {NULL}};
  for (size_t i = 0; i + 1 < MAX_RECORDS; i++) {
    late.records[i] = i < 5000 ? "a:int[1] t:int[] u:int[1]"
                               : "t:int[1,2] t_lengths:int[1,1] u:int[1] u_lengths:int[1]";
  }
  line l = propose(&late);
  CHECK_CONTAINS(l.text, "row_length: \"t_lengths\"");
  CHECK(strstr(l.text, "row_length: \"u_lengths\"") == NULL);
}

TEST(feature_lists) {
  data d = {.format = "sequence_example",
            .records = {"id:int[1] | steps=int[1,2];int[3] words=bytes[a];bytes[a]",
                        "id:int[2] | steps=int[-4] nil=none"}};
  line l = propose(&d);
  CHECK_CONTAINS(l.text, "int_domain { min: -4 max: 3 }");
  CHECK_CONTAINS(l.text, "string_domain { value: \"a\" }");
  CHECK_CONTAINS(l.text, "key: \"##SEQUENCE##.steps\" value { ragged_tensor { feature_path "
                         "{ step: \"##SEQUENCE##\" step: \"steps\" } row_partition_dtype: INT64 }");
}

TEST(no_records) {
  static const data d = {.records = {NULL}};
  line l = propose(&d);
  CHECK_STR(l.text, "tensor_representation_group { key: \"\" value { } } ");
}

TEST(arguments) {
  data d = EXAMPLES("a:int[1]", "a:bytes[x]");
  const char *path = write_data(&d);
  cst_source *source = open_data(path, &d, NULL, NULL, 1);
  cst_error error = CST_ERROR_INIT;
  cst_schema *schema = NULL;
  CHECK_EQ(cst_source_propose(NULL, NULL, &schema, &error), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_source_propose(source, NULL, NULL, &error), CST_INVALID_ARGUMENT);
  cst_propose_options options = {.size = 0};
  CHECK_EQ(cst_source_propose(source, &options, &schema, &error), CST_INVALID_ARGUMENT);
  /* As inference: a feature has one type. */
  CHECK_EQ(cst_source_propose(source, NULL, &schema, &error), CST_SCHEMA);
  CHECK_STR(error.path, "a");
  CHECK_EQ(error.record, 1);
  cst_source_release(source);
}

static int propose_once(void *context) {
  const char *path = context;
  cst_source_options source_options = CST_SOURCE_OPTIONS_INIT;
  cst_source *source;
  cst_schema *schema = NULL;
  source_options.format = "sequence_example";
  cst_status status = cst_source_open(&path, 1, &source_options, &source, NULL);
  if (status == CST_OK) {
    status = cst_source_propose(source, NULL, &schema, NULL);
    cst_source_release(source);
  }
  cst_schema_release(schema);
  return (int)status;
}

TEST(out_of_memory) {
  data d = {.format = "sequence_example",
            .records = {"x_index:int[1,2] x_value:float[1,2] s:bytes[a,a] t:int[1,2] "
                        "t_lengths:int[1,1] | q=bytes[a];bytes[a]",
                        "s:bytes[b,b] maybe:float[1]"}};
  FOR_EACH_ALLOCATION_FAILURE(propose_once, (void *)(uintptr_t)write_data(&d), CST_NO_MEMORY);
}
