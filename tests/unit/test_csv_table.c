/* CSV files to batches: the grammar, the types, and what is no row. */
#include "csv_support.h"
#include "schema/schema.h"

#define CASE(...)            \
  (csv_case) {               \
    .files = { __VA_ARGS__ } \
  }

TEST(the_grammar) {
  csv_case c = CASE("a,b\n1,x\n2,\"y,\"\"z\"\"\nw\"\n3,\n");
  csv_check(&c, "a l, b U", "1 \"x\"\n2 \"y,\\\"z\\\"\\nw\"\n3 null\n---\n");
  c = CASE("\xef\xbb\xbf"
           "a,b\r\n1,2\r\n\r\n3,4");
  csv_check(&c, "a l, b l", "1 2\n3 4\n---\n");
  c = CASE("a,b\r1,\"2\r\n3\"\r5,6\r");
  csv_check(&c, "a l, b U", "1 \"2\\r\\n3\"\n5 \"6\"\n---\n");
  c = CASE("a\nx\"y\n \"z\"\n\"\"\n");
  csv_check(&c, "a U", "\"x\\\"y\"\n\" \\\"z\\\"\"\n\"\"\n---\n");
  c = CASE("\"a,\"\"b\",\n1,2\n");
  csv_check(&c, "a,\"b l,  l", "1 2\n---\n");
  c = CASE("a,b\n,\n\"\",\"\"");
  csv_check(&c, "a U, b U", "null null\n\"\" \"\"\n---\n");
  c = CASE("a\n");
  csv_check(&c, "a n", "");
  c = CASE("a");
  csv_check(&c, "a n", "");
}

TEST(nul_bytes_are_bytes) {
  csv_case c = CASE("a\nx\0y\n");
  c.size = 6;
  csv_check(&c, "a U", "\"x\\u0000y\"\n---\n");
}

TEST(options_of_the_dialect) {
  const char *names[] = {"x", "y"};
  csv_case c = CASE("1,2\n3,4\n");
  c.csv.names = names;
  c.csv.num_names = 2;
  csv_check(&c, "x l, y l", "1 2\n3 4\n---\n");
  c = CASE("junk \"\r\nmore\n#c\n\na;b\n#\"\n1;2\n# x;y\n3;#4");
  c.csv.skip_lines = 2;
  c.csv.comment = '#';
  c.csv.delimiter = ';';
  csv_check(&c, "a l, b U", "1 \"2\"\n3 \"#4\"\n---\n");
  c = CASE("a,b\n\n1,2\n\r\n\n");
  c.csv.keep_blank_lines = true;
  csv_check(&c, "a l, b l", "null null\n1 2\nnull null\nnull null\n---\n");
  c = CASE("a\tb\n1\t2,3\n");
  c.name = "x.tsv.gz";
  csv_check(&c, "a l, b U", "1 \"2,3\"\n---\n");
  c = CASE("a\tb\n1\t2,3\n");
  c.name = "x.tsv";
  c.csv.delimiter = ',';
  CHECK_EQ(csv_run(&c), CST_CORRUPT);
  csv_reset(&c);
  c = CASE("a|b\n1|2\n");
  c.csv.delimiter = '|';
  csv_check(&c, "a l, b l", "1 2\n---\n");
  c.csv.secondary_delimiter = '|';
  CHECK_EQ(csv_run(&c), CST_INVALID_ARGUMENT);
  csv_reset(&c);
  c = CASE("a\n");
  c.csv.delimiter = '"';
  CHECK_EQ(csv_run(&c), CST_INVALID_ARGUMENT);
  csv_reset(&c);
}

TEST(types_from_all_of_the_data) {
  csv_case c = CASE("a,b,c,d,e,f\n1,1,1,1,,\n2,2.5,x,9223372036854775808,\"\",\n",
                    "a,b,c,d,e,f\n3,3,4,4,5,\n");
  csv_check(&c, "a l, b g, c U, d U, e l, f n",
            "1 1.0 \"1\" \"1\" null null\n2 2.5 \"x\" \"9223372036854775808\" null null\n"
            "3 3.0 \"4\" \"4\" 5 null\n---\n");
  c = CASE("a,b\n9007199254740993,1\n0.5,-inf\n");
  csv_check(&c, "a U, b g", "\"9007199254740993\" 1.0\n\"0.5\" \"-Infinity\"\n---\n");
  c = CASE("a,b\n0.5,\xff\n9007199254740993,z\n");
  csv_check(&c, "a U, b Z", "\"0.5\" {\"base64\": \"/w==\"}\n\"9007199254740993\" \"z\"\n---\n");
  c = CASE("a\n007\n");
  csv_check(&c, "a U", "\"007\"\n---\n");
  c = CASE("a\n \n");
  csv_check(&c, "a U", "\" \"\n---\n");
}

TEST(batches_are_exact_across_files) {
  csv_case c = CASE("a,b\n1,x\n2,y\n3,z\n", "b,a\nu,4\nv,5\n", "a,b\n", "a,b\n6,w\n");
  c.options.batch_size = 2;
  csv_check(&c, "a l, b U",
            "1 \"x\"\n2 \"y\"\n---\n3 \"z\"\n4 \"u\"\n---\n5 \"v\"\n6 \"w\"\n---\n");
}

TEST(projection) {
  const char *columns[] = {"c", "a"};
  csv_case c = CASE("a,b,c\n1,\"x\ny\",3\n4,5,6\n", "c,a,b\n7,8,9\n");
  c.options.columns = columns;
  c.options.num_columns = 2;
  csv_check(&c, "c l, a l", "3 1\n6 4\n7 8\n---\n");
  c.options.num_columns = 0;
  csv_check(&c, "", "\n\n\n---\n");
  const char *wrong[] = {"bb"};
  c.options.columns = wrong;
  c.options.num_columns = 1;
  CHECK_EQ(csv_run(&c), CST_NOT_FOUND);
  CHECK_STR(c.error.path, "bb");
  csv_reset(&c);
}

static void check_header(csv_case c, cst_status expected, const char *message, const char *path) {
  CHECK_EQ(csv_run(&c), expected);
  CHECK_CONTAINS(c.error.message, message);
  CHECK_STR(c.error.path, path);
  CHECK_STR(c.error.file, "a.csv");
  csv_reset(&c);
}

TEST(headers) {
  check_header(CASE(""), CST_SCHEMA, "has no header", "");
  check_header(CASE("a,b,a\n"), CST_SCHEMA, "same name", "a");
  check_header(CASE("a,\xff\n"), CST_SCHEMA, "not valid UTF-8", "");
  check_header(CASE("a,b\n", "a,c\n"), CST_SCHEMA, "first file does not have", "c");
  check_header(CASE("a,b\n", "a\n"), CST_SCHEMA, "first file is missing", "b");
  check_header(CASE("a,b\n", "a,b,b\n"), CST_SCHEMA, "same name", "b");
  check_header(CASE("a,\"b\n"), CST_CORRUPT, "an opening quote is never closed", "");
}

TEST(a_header_of_many_names) {
  char text[4000] = "c0";
  char types[8000] = "c0 l";
  char row[8000] = "0";
  char data[4000] = "0";
  for (int i = 1; i < 300; i++) {
    sprintf(text + strlen(text), ",c%d", i);
    sprintf(data + strlen(data), ",%d", i);
    sprintf(row + strlen(row), " %d", i);
  }
  (void)types;
  strcat(text, "\n");
  strcat(text, data);
  strcat(row, "\n---\n");
  csv_case c = CASE(text);
  CHECK_EQ(csv_run(&c), CST_OK);
  CHECK_STR(c.rows.data, row);
  csv_reset(&c);
}

TEST(faults_have_their_place) {
  csv_case c = CASE("a,b\n1,2\n\n3\n");
  csv_check_fails(&c, CST_CORRUPT, "a row of 1 cell, expected 2 columns", 1, 9, 4, 1);
  c = CASE("a,b\n1,2\n3,\"x\ny\"z\n");
  csv_check_fails(&c, CST_CORRUPT, "after the closing quote", 1, 8, 4, 3);
  c = CASE("a,b\r\n1,2\r\n3,\"x\r\ny\r\n");
  csv_check_fails(&c, CST_CORRUPT, "an opening quote is never closed", 1, 10, 3, 3);
  c = CASE("a,b\n1,2\n3,4,5\n6,7\n");
  csv_check_fails(&c, CST_CORRUPT, "a row of 3 cells", 1, 8, 3, 1);
  c = CASE("a,b\n1,2\n3,45678901234\n6,7\n");
  c.options.max_record_size = 10;
  csv_check_fails(&c, CST_LIMIT, "more than 10 bytes", 1, 8, 3, 1);
  c = CASE("a,b\n1,2\n3,\"4\n6,7\n6,7\n6,7\n");
  c.options.max_record_size = 10;
  csv_check_fails(&c, CST_LIMIT, "more than 10 bytes", 1, 8, 3, 1);
}

static void check_skip(csv_case *c, const char *rows, const char *drops) {
  static const size_t sizes[] = {0, 1, 2, 3, 16, 64};
  c->options.skip = true;
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
    c->block_size = sizes[i];
    CHECK_EQ(csv_run(c), CST_OK);
    CHECK_STR(c->rows.data, rows);
    CHECK_STR(c->drops, drops);
    csv_reset(c);
  }
}

TEST(skip_drops_rows) {
  csv_case c = CASE("a,b\n1,2\n3\n4,\"5\"6\n7,8\n9,10,11\n12,\"13\n14,15\n", "a,b\n16,17\n");
  check_skip(&c, "1 2\n7 8\n16 17\n---\n",
             "record 1 8 1 3:1; record 2 10 6 4:6; record 4 21 7 6:1; record 5 29 13 7:4; ");
  c = CASE("a,b\n1,2\n3,45678901234\n6,7\n", "a,b\n8,9\n");
  c.options.max_record_size = 10;
  check_skip(&c, "1 2\n8 9\n---\n", "limit 1 8 18 3:1; ");
}

static cst_schema *schema_of(const char *text) {
  cst_schema *schema;
  CHECK_EQ(cst_schema_from_text(text, strlen(text), &schema, NULL), CST_OK);
  return schema;
}

TEST(a_schema_gives_the_columns_of_examples) {
  cst_schema *schema = schema_of(
      "feature { name: 'f' type: FLOAT } feature { name: 'i' type: INT shape { dim { size: 1 } } }"
      "feature { name: 's' type: BYTES } feature { name: 'n' type: TYPE_UNKNOWN }");
  csv_case c = CASE("i,s,extra,f,n\n007,x,?,1.5,\n,\"\",?,,\n+5,\"q\"\"\",,nan,\"\"\n");
  c.options.schema = schema;
  csv_check(&c, "f +L<f>, i +L<l>, s +L<Z>, n n",
            "[1.5] [7] [\"x\"] null\nnull null [\"\"] null\n[\"NaN\"] [5] [\"q\\\"\"] null\n---\n");
  c.options.column_flags = CST_COLUMNS_OFFSETS_32 | CST_COLUMNS_FIXED_SIZE;
  csv_check(&c, "f +l<f>, i +w:1<l>, s +l<z>, n n",
            "[1.5] [7] [\"x\"] null\nnull null [\"\"] null\n[\"NaN\"] [5] [\"q\\\"\"] null\n---\n");
  c.options.column_flags = CST_COLUMNS_BINARY_VIEWS;
  csv_check(&c, "f +L<f>, i +L<l>, s +L<vz>, n n",
            "[1.5] [7] [\"x\"] null\nnull null [\"\"] null\n[\"NaN\"] [5] [\"q\\\"\"] null\n---\n");
  c.options.column_flags = CST_COLUMNS_OFFSETS_32;
  const char *columns[] = {"s"};
  c.options.columns = columns;
  c.options.num_columns = 1;
  csv_check(&c, "s +l<z>", "[\"x\"]\n[\"\"]\n[\"q\\\"\"]\n---\n");
  c = CASE("i,s,f,n\n1,x,1,\n1.5,x,1,\n");
  c.options.schema = schema;
  csv_check_fails(&c, CST_SCHEMA, "a cell of 3 bytes that is not of type int64", 1, 15, 3, 1);
  c = CASE("i,s,f,n\n1,x,1,\n1,\"\n\",1e39,\n1,,2,\n");
  c.options.schema = schema;
  csv_check_fails(&c, CST_SCHEMA, "a cell of 4 bytes that is not of type float32", 1, 15, 4, 3);
  check_skip(&c, "[1.0] [1] [\"x\"] null\n[2.0] [1] null null\n---\n", "record 1 15 11 4:3; ");
  c = CASE("i,s,f,n\n1,x,1,0\n");
  c.options.schema = schema;
  csv_check_fails(&c, CST_SCHEMA, "a cell of 1 bytes that is not of type null", 0, 8, 2, 7);
  c = CASE("i,s,g,n\n");
  c.options.schema = schema;
  CHECK_EQ(csv_run(&c), CST_SCHEMA);
  CHECK_STR(c.error.path, "f");
  csv_reset(&c);
  cst_schema_release(schema);
}

TEST(views) {
  cst_schema *schema =
      schema_of("feature { name: 's' type: BYTES } feature { name: 't' type: BYTES }");
  csv_case c = CASE("s,t\nshort,a value that is longer than a view\n,x\n"
                    "another one that is longer,and one more of these\n");
  c.options.schema = schema;
  c.options.column_flags = CST_COLUMNS_BINARY_VIEWS;
  c.options.batch_size = 2;
  csv_check(&c, "s +L<vz>, t +L<vz>",
            "[\"short\"] [\"a value that is longer than a view\"]\nnull [\"x\"]\n---\n"
            "[\"another one that is longer\"] [\"and one more of these\"]\n---\n");
  cst_schema_release(schema);
}

TEST(multivalent_columns) {
  const char *several[] = {"v"};
  csv_case c = CASE("a,v\n1,1|2\n2,\n3,3\n");
  c.csv.multivalent = several;
  c.csv.num_multivalent = 1;
  csv_check(&c, "a l, v +L<l>", "1 [1, 2]\n2 null\n3 [3]\n---\n");
  c.files[0] = "v\na|b\"|c\n\"x|\"\"y|z\"\"|\"\n\"\"\n\"\"\"\"\"\"\n";
  csv_check(&c, "v +L<U>",
            "[\"a\", \"b\\\"\", \"c\"]\n[\"x\", \"y|z\", \"\"]\n[\"\"]\n[\"\"]\n---\n");
  c.files[0] = "v\n1;;2\n";
  c.csv.secondary_delimiter = ';';
  csv_check(&c, "v +L<U>", "[\"1\", \"\", \"2\"]\n---\n");
  c.files[0] = "v\n1;2.5\n";
  csv_check(&c, "v +L<g>", "[1.0, 2.5]\n---\n");
  c.files[0] = "v\n\n";
  csv_check(&c, "v n", "");
  c.files[0] = "v\n1\n\"\"\"x;1\"\n2\n";
  csv_check_fails(&c, CST_SCHEMA, "not of type list of", 1, 4, 3, 2);
  check_skip(&c, "[1]\n[2]\n---\n", "record 1 4 7 3:2; ");
}

TEST(multivalent_columns_with_a_schema) {
  const char *several[] = {"v", "s"};
  cst_schema *schema = schema_of("feature { name: 'v' type: INT shape { dim { size: 2 } } } "
                                 "feature { name: 's' type: BYTES }");
  csv_case c = CASE("v,s\n1|2,a|b|c\n,\n3|4,\n");
  c.csv.multivalent = several;
  c.csv.num_multivalent = 2;
  c.options.schema = schema;
  csv_check(&c, "v +L<l>, s +L<Z>", "[1, 2] [\"a\", \"b\", \"c\"]\nnull null\n[3, 4] null\n---\n");
  c.options.column_flags = CST_COLUMNS_FIXED_SIZE;
  csv_check(&c, "v +w:2<l>, s +L<Z>",
            "[1, 2] [\"a\", \"b\", \"c\"]\nnull null\n[3, 4] null\n---\n");
  c.files[0] = "v,s\n1|2,a\n1,b\n3|4,c\n1||2,d\n5|6,e\n";
  check_skip(&c, "[1, 2] [\"a\"]\n[3, 4] [\"c\"]\n[5, 6] [\"e\"]\n---\n",
             "record 1 10 3 3:1; record 3 20 6 5:1; ");
  cst_schema_release(schema);
}

/* ---- Arrow types ---- */

static void keep_schema(struct ArrowSchema *schema) { (void)schema; }

static struct ArrowSchema type_of(const char *format, const char *name) {
  return (struct ArrowSchema){
      .format = format, .name = name, .flags = ARROW_FLAG_NULLABLE, .release = keep_schema};
}

typedef struct types_of_columns {
  struct ArrowSchema root;
  struct ArrowSchema columns[16];
  struct ArrowSchema *children[16];
} types_of_columns;

/* Columns a, b, c, ... of these formats. */
static void make_types(types_of_columns *t, const char *const *formats, size_t count) {
  static const char names[][2] = {"a", "b", "c", "d", "e", "f", "g", "h",
                                  "i", "j", "k", "l", "m", "n", "o", "p"};
  t->root = type_of("+s", "");
  t->root.n_children = (int64_t)count;
  t->root.children = t->children;
  for (size_t i = 0; i < count; i++) {
    t->columns[i] = type_of(formats[i], names[i]);
    t->children[i] = &t->columns[i];
  }
}

TEST(arrow_types) {
  static const char *const formats[] = {"c", "s", "i", "l", "C", "S", "I",
                                        "L", "f", "g", "b", "u", "U", "z"};
  types_of_columns t;
  make_types(&t, formats, 14);
  csv_case c =
      CASE("a,b,c,d,e,f,g,h,i,j,k,l,m,n\n"
           "-128,-32768,-2147483648,-9223372036854775808,0,0,0,0,0.1,0.1,true,x,y,z\n"
           "127,32767,2147483647,9223372036854775807,255,65535,4294967295,18446744073709551615,"
           "-1e-3,nan,0,\"\",,\xff\n"
           ",,,,,,,,,,,,,\n"
           "1,1,1,1,1,1,1,1,1,1,FALSE,1,1,1\n");
  c.options.types = &t.root;
  csv_check(&c, "a c, b s, c i, d l, e C, f S, g I, h L, i f, j g, k b, l u, m U, n z",
            "-128 -32768 -2147483648 -9223372036854775808 0 0 0 0 0.1 0.1 true \"x\" \"y\" \"z\"\n"
            "127 32767 2147483647 9223372036854775807 255 65535 4294967295 18446744073709551615 "
            "-0.001 \"NaN\" false \"\" null {\"base64\": \"/w==\"}\n"
            "null null null null null null null null null null null null null null\n"
            "1 1 1 1 1 1 1 1 1.0 1.0 false \"1\" \"1\" \"1\"\n---\n");
}

static void check_misfit(const char *format, const char *cell) {
  char text[64];
  snprintf(text, sizeof text, "a\n1\n%s\n", cell);
  types_of_columns t;
  make_types(&t, &format, 1);
  csv_case c = CASE(text);
  c.options.types = &t.root;
  csv_check_fails(&c, CST_SCHEMA, "a cell of", 1, 4, 3, 1);
}

TEST(values_that_do_not_fit) {
  check_misfit("c", "128");
  check_misfit("c", "-129");
  check_misfit("s", "32768");
  check_misfit("i", "-2147483649");
  check_misfit("C", "256");
  check_misfit("C", "-1");
  check_misfit("I", "4294967296");
  check_misfit("L", "18446744073709551616");
  check_misfit("b", "yes");
  check_misfit("b", "2");
  check_misfit("f", "1e39");
  check_misfit("g", "1e309");
  check_misfit("u", "\xff");
  check_misfit("U", "ok\xc3");
}

TEST(types_that_csv_cannot_be_read_as) {
  static const char *const formats[] = {"tiM", "+s", "+m", "d:5,200"};
  for (size_t i = 0; i < 4; i++) {
    types_of_columns t;
    make_types(&t, &formats[i], 1);
    csv_case c = CASE("a\n1\n");
    c.options.types = &t.root;
    CHECK_EQ(csv_run(&c), CST_UNSUPPORTED);
    CHECK_STR(c.error.path, "a");
    csv_reset(&c);
  }
}

TEST(lists_and_columns_without_nulls) {
  static const char *const formats[] = {"+l", "+L", "l"};
  types_of_columns t;
  make_types(&t, formats, 3);
  struct ArrowSchema items[2] = {type_of("U", "element"), type_of("b", "item")};
  struct ArrowSchema *pointers[2] = {&items[0], &items[1]};
  for (int i = 0; i < 2; i++) {
    t.columns[i].n_children = 1;
    t.columns[i].children = &pointers[i];
  }
  t.columns[2].flags = 0;
  const char *several[] = {"a"};
  csv_case c = CASE("a,b,c\nx|y,1,1\n,,2\n,true,3\n");
  c.csv.multivalent = several;
  c.csv.num_multivalent = 1;
  c.options.types = &t.root;
  csv_check(&c, "a +l<U>, b +L<b>, c l",
            "[\"x\", \"y\"] [true] 1\nnull null 2\nnull [true] 3\n---\n");
  c.files[0] = "a,b,c\n,,1\n,,\n";
  csv_check_fails(&c, CST_SCHEMA, "an empty cell", 1, 10, 3, 3);
  check_skip(&c, "null null 1\n---\n", "record 1 10 2 3:3; ");
  t.columns[0] = type_of("U", "a");
  CHECK_EQ(csv_run(&c), CST_UNSUPPORTED);
  CHECK_CONTAINS(c.error.message, "multivalent");
  csv_reset(&c);
}

TEST(absent_rows_of_a_large_shape) {
  cst_schema *schema = schema_of("feature { name: 'a' type: INT shape { dim { size: 3000000 } } }");
  csv_case c = CASE("a,b\n,1\n,2\n");
  c.options.schema = schema;
  c.options.column_flags = CST_COLUMNS_FIXED_SIZE;
  CHECK_EQ(csv_run_once(&c), CST_LIMIT); /* a part of one row has fewer */
  CHECK_STR(c.error.path, "a");
  csv_reset(&c);
  cst_schema_release(schema);
}

/* ---- pipes ---- */

TEST(a_pipe_is_inferred_from_its_begin) {
  csv_case c = CASE("a,b\n1,x\n2,y\n3,z\n");
  c.sample_rows = 2;
  csv_check(&c, "a l, b U", "1 \"x\"\n2 \"y\"\n3 \"z\"\n---\n");
  CHECK_EQ(c.texts[0].opened, 2);
  c.files[0] = "a,b\n1,x\n2,y\nfour,z\n";
  csv_check_fails(&c, CST_SCHEMA, "as all of the sample were", 2, 12, 4, 1);
  CHECK_CONTAINS(c.error.hint, "schema");
}

TEST(rows_have_a_raw_column) {
  csv_case c = CASE("a,b\n1,\"x,\"\"y\"\"\"\r\n\n\"2\",z", "b,a\nw ,3\r");
  c.options.raw_column = "raw";
  csv_check(&c, "a l, b U, raw +L<Z>",
            "1 \"x,\\\"y\\\"\" [\"1,\\\"x,\\\"\\\"y\\\"\\\"\\\"\"]\n"
            "2 \"z\" [\"\\\"2\\\",z\"]\n3 \"w \" [\"w ,3\"]\n---\n");
  c.csv.keep_blank_lines = true;
  const char *columns[] = {"a"};
  c.options.columns = columns;
  c.options.num_columns = 1;
  csv_check(&c, "a l, raw +L<Z>",
            "1 [\"1,\\\"x,\\\"\\\"y\\\"\\\"\\\"\"]\nnull [\"\"]\n"
            "2 [\"\\\"2\\\",z\"]\n3 [\"w ,3\"]\n---\n");
  c.options.raw_column = "b"; /* a column of the file, though it is not asked for */
  CHECK_EQ(csv_run(&c), CST_INVALID_ARGUMENT);
  CHECK_STR(c.error.path, "b");
  csv_reset(&c);
}

TEST(rows_that_are_dropped_have_no_raw_column) {
  static const char *const formats[] = {"l", "l"};
  types_of_columns t;
  make_types(&t, formats, 2);
  csv_case c = CASE("a,b\n1,2\nx,3\n4\n5,6\n");
  c.options.types = &t.root;
  c.options.raw_column = "r";
  c.options.skip = true;
  CHECK_EQ(csv_run(&c), CST_OK);
  CHECK_STR(c.rows.data, "1 2 [\"1,2\"]\n5 6 [\"5,6\"]\n---\n");
  CHECK_EQ(c.num_drops, 2);
  csv_reset(&c);
}

TEST(nulls_come_late_and_go) {
  char text[40000] = "a,b\n";
  char expected[80000] = "";
  for (int i = 0; i < 3000; i++) {
    bool null = i > 700 && i % 3 == 0;
    sprintf(text + strlen(text), null ? ",\n" : "%d,x\n", i);
    sprintf(expected + strlen(expected), null ? "null null\n" : "%d \"x\"\n", i);
  }
  strcat(expected, "---\n");
  csv_case c = CASE(text);
  c.options.batch_size = 5000;
  CHECK_EQ(csv_run(&c), CST_OK);
  CHECK_STR(c.rows.data, expected);
  csv_reset(&c);
}

TEST(a_failure_comes_behind_full_batches_and_comes_again) {
  csv_case c = CASE("a\n1\n2\n3\n4,\n5\n");
  c.options.batch_size = 2;
  static const char *const formats[] = {"l"};
  types_of_columns t;
  make_types(&t, formats, 1);
  c.options.types = &t.root;
  CHECK_EQ(csv_run(&c), CST_CORRUPT);
  CHECK_STR(c.rows.data, "1\n2\n---\n");
  CHECK_EQ(c.error.record, 3);
  csv_reset(&c);
}

TEST(a_callback_may_stop) {
  csv_case c = CASE("a,b\n1,2\n3\n4\n5\n");
  c.options.skip = true;
  c.most_drops = 1;
  CHECK_EQ(csv_run(&c), CST_LIMIT);
  CHECK_EQ(c.num_drops, 2);
  csv_reset(&c);
}

static int read_it(void *ctx) {
  csv_case *c = ctx;
  cst_status status = csv_run_once(c);
  csv_reset(c);
  return (int)status;
}

TEST(allocation_failures) {
  const char *several[] = {"v"};
  csv_case c = CASE("a,b,v\n1,\"x\"\"\",1|2\n,y,\"\"\"q\"\"|r\"\n2.5,,\n", "v,a,b\n1,2,3\n");
  c.csv.multivalent = several;
  c.csv.num_multivalent = 1;
  c.options.batch_size = 3;
  c.options.raw_column = "raw";
  FOR_EACH_ALLOCATION_FAILURE(read_it, &c, CST_NO_MEMORY);
}

TEST(allocation_failures_of_views) {
  cst_schema *schema = schema_of("feature { name: 's' type: BYTES }");
  csv_case c = CASE("s\na value that is longer than a view\n");
  c.options.schema = schema;
  c.options.column_flags = CST_COLUMNS_BINARY_VIEWS;
  FOR_EACH_ALLOCATION_FAILURE(read_it, &c, CST_NO_MEMORY);
  cst_schema_release(schema);
}

/* ---- several threads: csv_run compares what they give with what one gives ---- */

/* The first ten are rows of two cells. */
static const char *const any_lines[] = {"1,x\n",
                                        "22,\n",
                                        ",yy\n",
                                        "3,\"q\"\n",
                                        "4,\"a\nb\"\n",
                                        "5,\"a\"\"b\"\r\n",
                                        "6.5,z\r\n",
                                        "7,\"\"\n",
                                        "8,a\"b\n",
                                        "\"9\",\"\r\n,\"\n",
                                        "#c\n",
                                        "\n",
                                        "\r\n",
                                        "1\n",
                                        "10,\"t\"x\n",
                                        "11,\"open\n",
                                        "\xef\xbb\xbf,m\n",
                                        "12,k\r"};

TEST(threads_give_the_same_for_any_text) {
  static const char *const names[] = {"a", "b"};
  const crew_lines lines = {any_lines, 10, sizeof any_lines / sizeof *any_lines};
  uint32_t state = 7;
  for (int i = 0; i < 300; i++) {
    char texts[2][800] = {"a,b\n", "b,a\r\n"};
    csv_case c = CASE(texts[0], texts[1]);
    uint32_t way = crew_any_number(&state);
    bool named = way % 3 == 0;
    for (int f = 0; f < 2; f++) {
      size_t header = named ? 0 : strlen(texts[f]);
      crew_any_text(&lines, texts[f] + header, sizeof texts[f] - header, &state);
    }
    c.csv.names = named ? names : NULL;
    c.csv.num_names = named ? 2 : 0;
    c.csv.comment = way / 3 % 4 == 0 ? '#' : 0;
    c.csv.keep_blank_lines = way / 12 % 4 == 0;
    c.csv.skip_lines = way / 48 % 5 == 0 ? 1 : 0;
    c.options.skip = way / 240 % 2 == 0;
    c.options.raw_column = way / 480 % 4 == 0 ? "raw" : NULL;
    c.options.batch_size = way / 1920 % 2 == 0 ? 3 : 1024;
    (void)csv_run(&c);
    csv_reset(&c);
  }
}

TEST(sound_text_is_read_by_all_threads) {
  csv_case c = CASE("a,b\n1,x\n2,\"y\nz\"\n3,\"\"\"q\"\"\"\r\n4,t\n5,\n6,u\n");
  c.options.threads = CREW_THREADS;
  c.options.batch_size = 2;
  for (size_t size = 5; size < 30; size++) { /* rows are longer, too */
    cst__text_crew_set_part_size(size);
    CHECK_EQ(csv_run_once(&c), CST_OK);
    CHECK(!c.alone);
    csv_reset(&c);
  }
  cst__text_crew_set_part_size(0);
}
