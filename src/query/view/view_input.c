/* What a query reads. */
#include "query/view/view_input.h"

#include <string.h>

#include "arrow/type.h"
#include "arrow/view.h"
#include "base/names.h"
#include "base/sized.h"
#include "decode/sequence_decoder.h"
#include "message/message_options.h"
#include "proto/descriptor_set.h"
#include "schema/flat.h"

static const char *const from_names[] = {"message", "example", "sequence_example", "table"};

const char *cst__query_from_name(cst__query_from from) { return from_names[from]; }

/* What is bound, and of what. */
typedef struct input_binding {
  cst__query_view_input *input;
  const cst__statement *from; /* NULL: the query does not say */
  const cst_view_options *options;
  cst__arena *arena;
  cst_error *error;
} input_binding;

static cst_status add_from_position(const input_binding *b, cst_status status) {
  if (status != CST_OK && b->from != NULL && b->from->at.line > 0) {
    cst__error_add_position(b->error, b->from->at.line, b->from->at.column);
  }
  return status;
}

/* ---- which kind ---- */

static cst_status find_from(input_binding *b, const cst_query *query) {
  for (size_t i = 0; i < query->num_statements && b->from == NULL; i++) {
    b->from = query->statements[i].kind == CST__STATEMENT_FROM ? &query->statements[i] : NULL;
  }
  if (b->from == NULL) {
    const cst_view_options *options = b->options;
    b->input->from = options->message != NULL  ? CST__FROM_MESSAGE
                     : options->schema != NULL ? CST__FROM_EXAMPLE
                                               : CST__FROM_TABLE;
    return options->message != NULL || options->schema != NULL || options->type != NULL
               ? CST_OK
               : cst__fail(b->error, CST_INVALID_ARGUMENT,
                           "begin it with `from message NAME`, `from example` or `from table`",
                           "the query has no `from`");
  }
  for (size_t i = 0; i < sizeof from_names / sizeof *from_names; i++) {
    if (strcmp(b->from->name, from_names[i]) == 0) {
      b->input->from = (cst__query_from)i;
      return CST_OK;
    }
  }
  const cst__name_list names = cst__name_list_of(from_names, 4);
  return cst__fail_unknown(b->error, CST_NOT_FOUND, "unknown input", b->from->name, &names);
}

/* ---- messages ---- */

static cst_status set_from_options(const input_binding *b, cst_message_options *message) {
  for (size_t i = 0; b->from != NULL && i < b->from->num_options; i++) {
    const cst__from_option *option = &b->from->options[i];
    cst_status status = cst_message_options_set(message, option->key, option->value, b->error);
    if (status != CST_OK) {
      cst__error_add_position(b->error, option->at.line, option->at.column);
      return status;
    }
  }
  return CST_OK;
}

static cst_status bind_message_input(const input_binding *b) {
  cst_message_options own = CST_MESSAGE_OPTIONS_INIT;
  if (b->options->message != NULL) {
    cst__sized_copy(&own, sizeof own, b->options->message);
  }
  if (own.descriptors == NULL) {
    return cst__fail(b->error, CST_INVALID_ARGUMENT,
                     "give a descriptor set (--proto-set, descriptors=)",
                     "the query reads messages and needs their descriptors");
  }
  const char *said = b->from != NULL ? b->from->message : NULL;
  const cst__message_def *def;
  const cst__message_def *given = NULL;
  CST__TRY(
      cst__descriptors_need(own.descriptors, said != NULL ? said : own.message, &def, b->error));
  if (said != NULL && own.message != NULL) {
    CST__TRY(cst__descriptors_need(own.descriptors, own.message, &given, b->error));
  }
  if (given != NULL && given != def) {
    return cst__fail(b->error, CST_INVALID_ARGUMENT, "leave one of them out",
                     "the query reads the message %.60s, but the options say %.60s", def->full_name,
                     given->full_name);
  }
  own.message = def->full_name;
  CST__TRY(set_from_options(b, &own));
  CST__TRY(cst__message_options_settle(&own, b->error));
  cst__message_options_settle_for_query(&own);
  return cst__message_options_copy(&own, b->arena, &b->input->message, b->error);
}

/* The options that are not what queries have by default, as texts. */
static cst_status say_options(const cst_message_options *message, cst__arena *arena,
                              cst__statement *from, cst_error *error) {
  cst_message_options usual = cst__message_options_usual();
  const cst__message_option *option;
  size_t most = 0;
  cst__message_options_settle_for_query(&usual);
  while (cst__message_option_at(most) != NULL) {
    most++;
  }
  cst__from_option *said = cst__arena_take(arena, most * sizeof *said);
  if (said == NULL) {
    return cst__fail_memory(error, most * sizeof *said);
  }
  from->options = said;
  from->num_options = 0;
  for (size_t i = 0; (option = cst__message_option_at(i)) != NULL; i++) {
    char room[CST__OPTION_ROOM];
    if (!cst__option_equal(&option->own, message, &usual)) {
      const char *value = cst__option_text(&option->own, message, room);
      value = cst__arena_copy(arena, value, strlen(value));
      if (value == NULL) {
        return cst__fail_memory(error, sizeof room);
      }
      said[from->num_options++] = (cst__from_option){.key = option->own.info.name, .value = value};
    }
  }
  return CST_OK;
}

cst_status cst__query_view_input_say(const cst__query_view_input *input, cst__arena *arena,
                                     cst__statement *from, cst_error *error) {
  from->kind = CST__STATEMENT_FROM;
  from->name = cst__query_from_name(input->from);
  if (input->message == NULL) {
    return CST_OK;
  }
  from->message = input->message->message;
  return say_options(input->message, arena, from, error);
}

/* ---- examples ---- */

/* The type of the batches that a decoder of all features gives. */
static cst_status decoded_example_type(const input_binding *b, struct ArrowSchema *out) {
  cst_schema *schema = b->input->schema;
  if (b->input->from == CST__FROM_SEQUENCE_EXAMPLE) {
    cst_decoder *decoder;
    const cst__sequence_decoder_options options = {.allocator = &b->arena->allocator};
    CST__TRY(cst__sequence_decoder_new(schema, &options, &decoder, b->error));
    cst_status status = cst_decoder_arrow_schema(decoder, out, b->error);
    cst_decoder_free(decoder);
    return status;
  }
  cst_decoder *decoder;
  const cst__example_decoder_options options = {.allocator = &b->arena->allocator};
  CST__TRY(cst__example_decoder_new(schema, &options, &decoder, b->error));
  cst_status status = cst_decoder_arrow_schema(decoder, out, b->error);
  cst_decoder_free(decoder);
  return status;
}

static cst_status bind_example_input(const input_binding *b) {
  if (b->options->schema == NULL) {
    return b->options->type != NULL
               ? cst__schema_copy(b->options->type, &b->input->type, b->error)
               : cst__fail(b->error, CST_INVALID_ARGUMENT, "give a schema, or infer one",
                           "the query reads examples and needs their schema");
  }
  struct ArrowSchema decoded;
  b->input->schema = cst_schema_retain(b->options->schema);
  CST__TRY(decoded_example_type(b, &decoded));
  const cst__flat_settings settings = {.schema = b->input->schema};
  cst__stage_output flat;
  void *plan;
  cst_status status =
      cst__flat_stage.bind(&settings, &decoded, &b->arena->allocator, &plan, &flat, b->error);
  decoded.release(&decoded);
  CST__TRY(status);
  cst__flat_stage.plan_free(plan);
  b->input->type = flat.schema;
  return CST_OK;
}

/* ---- tables ---- */

static cst_status input_type_of_text(const input_binding *b, const cst__type_text *text,
                                     cst__type *out, int depth) {
  *out = (cst__type)CST__TYPE_INIT;
  const char *name = text->field != NULL ? text->field : "";
  if (depth == 0) {
    return cst__fail(b->error, CST_LIMIT, NULL, "types are nested deeper than %d",
                     CST__TYPE_MAX_DEPTH);
  }
  CST__TRY(cst__type_set_name(out, name, strlen(name), b->arena, b->error));
  CST__TRY(cst__type_set(out, text->format, b->arena, b->error));
  CST__TRY(cst__type_set_children(out, text->num_children, b->arena, b->error));
  for (size_t i = 0; i < text->num_children; i++) {
    CST__TRY(input_type_of_text(b, &text->children[i], &out->children[i], depth - 1));
  }
  return CST_OK;
}

static bool is_table_type(const struct ArrowSchema *type) {
  return type->format != NULL && strcmp(type->format, "+s") == 0;
}

/* The text may be a list of records, as `from table [{…}]` has it. */
static cst_status bind_table_input(const input_binding *b) {
  const cst__type_text *text = b->from != NULL ? b->from->type : NULL;
  if (text != NULL) {
    cst__type type;
    text = text->format[0] == '+' && text->format[1] != 's' && text->num_children == 1
               ? &text->children[0]
               : text;
    CST__TRY(input_type_of_text(b, text, &type, CST__TYPE_MAX_DEPTH));
    type.name = "";
    CST__TRY(cst__type_export(&type, &b->input->type, b->error));
  } else if (b->options->type != NULL) {
    CST__TRY(cst__schema_copy(b->options->type, &b->input->type, b->error));
  } else {
    return cst__fail(b->error, CST_INVALID_ARGUMENT,
                     "declare it in the query: from table [{a: int64}]",
                     "the query reads a table of unknown type");
  }
  return is_table_type(&b->input->type)
             ? cst__schema_check_names(&b->input->type, b->error)
             : cst__fail(b->error, CST_INVALID_ARGUMENT, "a struct has the columns as its fields",
                         "the type of a table must be a struct");
}

/* ---- all ---- */

cst_status cst__query_view_input_init(cst__query_view_input *input, const cst_query *query,
                                      const cst_view_options *options, cst__arena *arena,
                                      cst_error *error) {
  input_binding b = {.input = input, .options = options, .arena = arena, .error = error};
  *input = (cst__query_view_input){0};
  CST__TRY(add_from_position(&b, find_from(&b, query)));
  cst_status status = input->from == CST__FROM_MESSAGE ? bind_message_input(&b)
                      : input->from == CST__FROM_TABLE ? bind_table_input(&b)
                                                       : bind_example_input(&b);
  if (status != CST_OK) {
    cst__query_view_input_reset(input);
  }
  return add_from_position(&b, status);
}

void cst__query_view_input_reset(cst__query_view_input *input) {
  cst__message_options_release(input->message);
  cst_schema_release(input->schema);
  if (input->type.release != NULL) {
    input->type.release(&input->type);
  }
  *input = (cst__query_view_input){0};
}

cst_status cst__query_view_input_tree(const cst__query_view_input *input, cst__source_tree *out,
                                      cst_error *error) {
  if (input->from == CST__FROM_MESSAGE) {
    return cst__source_tree_of_message(input->message, out, error);
  }
  *out = cst__source_tree_of_arrow(&input->type);
  return CST_OK;
}
