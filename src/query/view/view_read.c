/* Opening saved views: the query is read and bound again, and what it makes has to be what the file
 * says. Nothing in the bytes is trusted.
 */
#include <columnstone/query.h>

#include <string.h>

#include "base/arguments.h"
#include "base/sized.h"
#include "io/input.h"
#include "message/message_options.h"
#include "proto/descriptor_set.h"
#include "query/query.h"
#include "query/view/view_content.h"

typedef struct view_reader {
  cst__arena arena;
  const cst__message *content;
  const cst_view_options *given;
  cst_view_options options; /* with what the file says */
  cst_message_options message;
  cst_descriptors *descriptors;
  cst_schema *schema;
  struct ArrowSchema type;
  cst_query *query;
  bool has_other_form; /* of records, than the file says */
  cst_error *error;
} view_reader;

static cst_status fail_content(const view_reader *r, const char *what) {
  return cst__fail(r->error, CST_CORRUPT, "build it again", "the view %s", what);
}

/* A text as a C string; NULL if it is not there. */
static cst_status read_text(view_reader *r, cst_bytes text, const char **out) {
  if (text.size > 0 && memchr(text.data, '\0', text.size) != NULL) {
    return fail_content(r, "has a text that contains a NUL byte");
  }
  *out = cst__arena_copy(&r->arena, text.data, text.size);
  return *out != NULL ? CST_OK : cst__fail_memory(r->error, text.size);
}

static cst_status read_optional(view_reader *r, const cst__message *from, int32_t number,
                                const char **out) {
  *out = NULL;
  return cst__message_find(from, number) != NULL
             ? read_text(r, cst__message_bytes(from, number), out)
             : CST_OK;
}

/* ---- the input ---- */

/* The numbers that options have in the file; all flags lie in one. */
static cst_status read_numbers(view_reader *r, const cst__message *from) {
  const cst__message_option *option;
  bool ok = true;
  for (size_t i = 0; ok && (option = cst__message_option_at(i)) != NULL; i++) {
    if (option->own.info.kind == CST_OPTION_TEXT) {
      continue;
    }
    int64_t number = cst__message_int(from, option->saved_number, 0);
    if (option->own.info.kind == CST_OPTION_SWITCH) {
      ok = number >= 0 && number <= CST_MESSAGE_IGNORE_UNKNOWN * 2 - 1;
      number = ((uint32_t)number & option->own.bit) != 0;
    }
    ok = ok && cst__option_set_number(&option->own, number, &r->message);
  }
  return ok ? CST_OK : fail_content(r, "has an unknown message option");
}

static cst_status read_options(view_reader *r, const cst__message *from) {
  const cst__message_option *option;
  r->message = (cst_message_options)CST_MESSAGE_OPTIONS_INIT;
  CST__TRY(read_optional(r, from, CST__VIEW_MESSAGE_NAME, &r->message.message));
  for (size_t i = 0; (option = cst__message_option_at(i)) != NULL; i++) {
    if (option->own.info.kind == CST_OPTION_TEXT) {
      CST__TRY(read_optional(r, from, option->saved_number,
                             cst__option_string(&option->own, &r->message)));
    }
  }
  return read_numbers(r, from);
}

/* What the query says of them is among them, and may be set anew. */
static void forget_options_of_query(view_reader *r) {
  for (size_t i = 0; i < r->query->num_statements; i++) {
    r->query->statements[i].num_options = 0;
  }
}

/* The form may be another than that which was saved, if the descriptors that were kept do for it:
 * what is said by name needs those of all fields. */
static cst_status read_form(view_reader *r) {
  if (r->given->message == NULL) {
    return CST_OK;
  }
  cst_message_options given = CST_MESSAGE_OPTIONS_INIT;
  cst__sized_copy(&given, sizeof given, r->given->message);
  cst_message_form saved = r->message.form;
  bool by_name = given.form == CST_MESSAGE_TEXT || given.form == CST_MESSAGE_JSON;
  bool has_names = saved == CST_MESSAGE_TEXT || saved == CST_MESSAGE_JSON;
  r->message.form = given.form;
  r->has_other_form = given.form != saved;
  return !by_name || has_names
             ? CST_OK
             : cst__fail(r->error, CST_UNSUPPORTED, "build it for records of this form",
                         "the view was saved for binary records: it lacks the field names that "
                         "records in text or JSON need");
}

static cst_status read_message(view_reader *r, const cst__message *from) {
  CST__TRY(read_options(r, from));
  forget_options_of_query(r);
  const cst_bytes set = cst__message_bytes(from, CST__VIEW_MESSAGE_DESCRIPTORS);
  CST__TRY(cst_descriptors_new(set.data, set.size, &r->arena.allocator, &r->descriptors, r->error));
  r->message.descriptors = r->descriptors;
  r->options.message = &r->message;
  return read_form(r);
}

static cst_status read_view_input(view_reader *r) {
  const cst__message *message = cst__message_child(r->content, CST__VIEW_MESSAGE);
  const cst__message *type = cst__message_child(r->content, CST__VIEW_TYPE);
  const cst__field *schema = cst__message_find(r->content, CST__VIEW_SCHEMA);
  if ((message != NULL) + (type != NULL) + (schema != NULL) != 1) {
    return fail_content(r, "is not bound to one type");
  }
  if (message != NULL) {
    return read_message(r, message);
  }
  if (schema != NULL) {
    cst_bytes bytes = schema->as.one.bytes;
    CST__TRY(cst_schema_from_bytes(bytes.data, bytes.size, &r->schema, r->error));
    r->options.schema = r->schema;
    return CST_OK;
  }
  CST__TRY(cst__query_view_read_type(type, &r->arena, &r->type, r->error));
  r->options.type = &r->type;
  return CST_OK;
}

/* ---- parameters and outputs ---- */

static const cst_query_value *given_param(const view_reader *r, const char *name) {
  for (size_t i = 0; i < r->given->num_params; i++) {
    if (strcmp(r->given->params[i].name, name) == 0) {
      return &r->given->params[i];
    }
  }
  return NULL;
}

/* Those of the file, but for what is given anew, and then that. */
static cst_status read_params(view_reader *r) {
  const cst__field *saved = cst__message_find(r->content, CST__VIEW_PARAMS);
  size_t count = saved != NULL ? saved->count : 0;
  size_t most = count + r->given->num_params + 1;
  cst_query_value *params = cst__arena_take(&r->arena, most * sizeof *params);
  if (params == NULL) {
    return cst__fail_memory(r->error, most * sizeof *params);
  }
  r->options.num_params = 0;
  for (size_t i = 0; i < count; i++) {
    const cst__message *param = cst__field_value(saved, i)->message;
    cst_query_value *to = &params[r->options.num_params];
    CST__TRY(read_text(r, cst__message_bytes(param, CST__VIEW_PARAM_NAME), &to->name));
    CST__TRY(read_text(r, cst__message_bytes(param, CST__VIEW_PARAM_VALUE), &to->value));
    r->options.num_params += given_param(r, to->name) == NULL;
  }
  for (size_t i = 0; i < r->given->num_params; i++) {
    params[r->options.num_params++] = r->given->params[i];
  }
  r->options.params = params;
  return CST_OK;
}

static cst_status read_outputs(view_reader *r) {
  const cst__field *chosen = cst__message_find(r->content, CST__VIEW_CHOSEN);
  if (r->given->outputs != NULL || cst__message_int(r->content, CST__VIEW_IS_CHOSEN, 0) == 0) {
    return CST_OK;
  }
  size_t count = chosen != NULL ? chosen->count : 0;
  const char **names = cst__arena_take(&r->arena, (count + 1) * sizeof *names);
  if (names == NULL) {
    return cst__fail_memory(r->error, count * sizeof *names);
  }
  for (size_t i = 0; i < count; i++) {
    CST__TRY(read_text(r, cst__field_value(chosen, i)->bytes, &names[i]));
  }
  r->options.outputs = names;
  r->options.num_outputs = count;
  return CST_OK;
}

/* ---- what comes out ---- */

/* The outputs of a tree, and nothing else of it, serialized. */
static cst_status outputs_as_bytes(const cst__message *content, cst__wire_out *out,
                                   cst_error *error) {
  cst__message part = {.def = content->def};
  const int32_t numbers[] = {CST__VIEW_PATHS, CST__VIEW_OUTPUTS};
  for (size_t i = 0; i < 2; i++) {
    const cst__field *field = cst__message_find(content, numbers[i]);
    if (field != NULL) {
      cst__field own = *field;
      own.previous = own.next = NULL;
      part.first = part.last = &own;
      cst__message_put_wire(&part, out);
    }
  }
  return out->failed ? cst__fail_memory(error, cst__wire_out_size(out)) : CST_OK;
}

/* What the file says of its outputs is what its query makes: tools read it there. */
static cst_status check_outputs(view_reader *r, const cst_view *view) {
  cst__wire_out said = {0};
  cst__wire_out made = {0};
  cst__message *again = cst__message_new(&r->arena, cst__query_view_def);
  cst_status status = again != NULL && cst__query_view_put_outputs(view, &r->arena, again)
                          ? outputs_as_bytes(r->content, &said, r->error)
                          : cst__fail_memory(r->error, sizeof *again);
  if (status == CST_OK) {
    status = outputs_as_bytes(again, &made, r->error);
  }
  size_t size = cst__wire_out_size(&said);
  if (status == CST_OK &&
      (size != cst__wire_out_size(&made) ||
       (size > 0 && memcmp(said.data + said.free, made.data + made.free, size) != 0))) {
    status = fail_content(r, "says that it has other outputs than its query makes");
  }
  cst__wire_out_free(&said);
  cst__wire_out_free(&made);
  return status;
}

/* The file as it was is the saved form of a view to which nothing was given anew: that of an older
 * version says some things in other words. */
static cst_status keep_saved(const view_reader *r, cst_bytes bytes, cst_view *view) {
  cst__text text = {0};
  cst__text_append(&text, bytes.data, bytes.size);
  CST__TRY(cst__text_finish(&text, &view->saved, &view->saved_size, r->error));
  cst__query_view_file_digest(bytes, view->digest);
  const cst_bytes query = cst__message_bytes(r->content, CST__VIEW_QUERY);
  view->text = cst__arena_copy(&view->arena, query.data, query.size);
  return view->text != NULL ? CST_OK : cst__fail_memory(r->error, query.size);
}

static cst_status finish_view(view_reader *r, cst_bytes bytes, cst_view *view) {
  if (r->given->outputs == NULL) {
    CST__TRY(check_outputs(r, view));
  }
  bool is_same = r->given->outputs == NULL && r->given->num_params == 0 && !r->has_other_form;
  return is_same ? keep_saved(r, bytes, view) : CST_OK;
}

/* ---- all of it ---- */

static cst_status read_view(view_reader *r, cst_bytes bytes, cst_view **out) {
  CST__TRY(cst__query_view_file_read(bytes, &r->arena, &r->content, r->error));
  CST__TRY(cst_query_new(&r->arena.allocator, &r->query, r->error));
  const cst_bytes text = cst__message_bytes(r->content, CST__VIEW_QUERY);
  CST__TRY(cst_query_add(r->query, (const char *)text.data, text.size, r->error));
  CST__TRY(read_view_input(r));
  CST__TRY(read_params(r));
  CST__TRY(read_outputs(r));
  CST__TRY(cst_view_new(r->query, &r->options, out, r->error));
  cst_status status = finish_view(r, bytes, *out);
  if (status != CST_OK) {
    cst_view_release(*out);
    *out = NULL;
  }
  return status;
}

cst_status cst_view_from_bytes(const void *bytes, size_t size, const cst_view_options *options,
                               cst_view **out, cst_error *error) {
  cst_view_options own = CST_VIEW_OPTIONS_INIT;
  CST__CLEAR(out);
  if (out == NULL || (bytes == NULL && size > 0)) {
    return cst__missing(out == NULL ? "out" : "bytes", error);
  }
  CST__TRY(cst__read_view_options(&own, options, error));
  view_reader r = {.given = &own, .options = own, .error = error};
  cst__arena_init(&r.arena, own.allocator);
  r.options.message = NULL;
  r.options.schema = NULL;
  r.options.type = NULL;
  cst_status status = read_view(&r, (cst_bytes){bytes, size}, out);
  cst_query_free(r.query);
  if (r.type.release != NULL) {
    r.type.release(&r.type);
  }
  cst_schema_release(r.schema);
  cst_descriptors_release(r.descriptors);
  cst__arena_reset(&r.arena);
  return status;
}

cst_status cst_view_open(const char *path, const cst_view_options *options, cst_view **out,
                         cst_error *error) {
  cst__text bytes = {0};
  CST__CLEAR(out);
  CST__TRY(cst__check_given(path, "path", out, error));
  cst_status status = cst__input_read_file(path, CST__VIEW_MAX_SIZE, &bytes, error);
  if (status == CST_OK) {
    status = cst_view_from_bytes(bytes.data, bytes.size, options, out, error);
  }
  cst__text_free(&bytes);
  if (status != CST_OK) {
    cst__error_add_file(error, path);
  }
  return status;
}
