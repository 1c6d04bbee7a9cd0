/* columnstone schema tree: the nested type of the rows, drawn as a tree. */
#include <columnstone/structured.h>
#include <unistd.h>

#include "cli.h"

/* Fields of a struct that a terminal shows. */
enum { FIELDS_ON_TERMINAL = 100 };

/* A pipe whose first bytes are no records of the format is one of rows without columns, until
 * somebody reads it. */
static cst_status check_first_rows(cst_source *source, cst_error *error) {
  cst_pass *pass;
  struct ArrowArray rows;
  cst_status status = cst_pass_new(source, &pass, error);
  if (status != CST_OK) {
    return status;
  }
  status = cst_pass_next(pass, &rows, error);
  if (status == CST_OK && rows.release != NULL) {
    rows.release(&rows);
  }
  cst_pass_free(pass);
  return status;
}

/* What the schema fixes shows in the shapes. */
static cst_status read_row_type(cli_settings *settings, struct ArrowSchema *out, cst_error *error) {
  cst_source *source;
  if (settings->query.view == NULL) {
    settings->source.column_flags |= CST_COLUMNS_FIXED_SIZE;
  }
  cst_status status =
      cli_open(settings, settings->paths, settings->num_paths, NULL, &source, error);
  if (status == CST_OK) {
    status = cst_source_arrow_schema(source, out, error);
    if (status == CST_OK && out->n_children == 0) {
      status = check_first_rows(source, error);
      if (status != CST_OK) {
        out->release(out);
      }
    }
    cst_source_release(source);
  }
  return status;
}

static int draw_tree(cli_settings *settings) {
  cst_error error = CST_ERROR_INIT;
  cst_tree_options options = CST_TREE_OPTIONS_INIT;
  struct ArrowSchema type;
  char *text;
  if (read_row_type(settings, &type, &error) != CST_OK) {
    cli_explain_path(settings, &error);
    return cli_fail(&error);
  }
  type.flags = 0; /* rows are never null, whatever a file says */
  options.flags = settings->json ? CST_TREE_JSON : settings->nested.ascii ? CST_TREE_ASCII : 0;
  if (!settings->full && !settings->json && isatty(STDOUT_FILENO)) {
    options.max_fields = FIELDS_ON_TERMINAL;
  }
  cst_status status = cst_type_to_text(&type, &options, &text, NULL, &error);
  type.release(&type);
  if (status != CST_OK) {
    return cli_fail(&error);
  }
  if (settings->json) {
    cli_print_json(stdout, text);
  } else {
    printf("[rows] ");
    cli_print_lines(stdout, text);
  }
  cst_free(text);
  return cli_flush(CLI_FINE);
}

static int run_schema_tree(int argc, char **argv) {
  cli_settings settings;
  int status = cli_parse(&cli_schema_tree, argc, argv, &settings);
  if (status < 0 && settings.json && settings.nested.ascii) {
    status = cli_usage(&cli_schema_tree, NULL, "--ascii and --json do not go together");
  } else if (status < 0) {
    status = draw_tree(&settings);
  }
  cli_settings_reset(&settings);
  return status;
}

const cli_verb cli_schema_tree = {
    .name = "schema tree",
    .usage = "FILE... [--columns A,B] [--schema FILE] [--ascii | --json] [--full]",
    .summary = "Draws the nested type of the rows as a tree, with shapes",
    .details =
        "Each pair of brackets is one level of lists: a number if all lists have that length, else "
        "'*'. '?' marks what can be null: lists, structs or values. Types are those that `convert` "
        "writes. If the file has no types and --schema is not given, they are inferred from all "
        "records. On a terminal, at most 100 fields of each struct are shown.",
    .examples = CLI_EXAMPLES(
        {"columnstone schema tree log.jsonl", "the type of nested data"},
        {"columnstone schema tree sessions.tfrecord --proto-set shop.desc --message shop.Session",
         "the type of protobuf messages"}),
    .see = "head, schema infer",
    .exits = "1 a record is damaged",
    .options =
        CLI_OPTIONS(OPTION_SCHEMA, OPTION_COLUMNS, OPTION_FLAT, OPTION_ASCII, OPTION_JSON,
                    OPTION_FULL, OPTION_FORMAT, OPTION_THREADS, OPTION_NO_CRC, OPTIONS_FORMATS,
                    OPTIONS_MESSAGE, OPTIONS_VIEW, OPTION_CONTAINER, OPTIONS_LIMITS),
    .min_paths = 1,
    .run = run_schema_tree,
};
