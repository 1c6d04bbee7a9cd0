/* Outputs and types of a view as trees of its saved form, and types back. */
#include "query/view/view_content.h"

#include <string.h>

#include "arrow/type.h"
#include "query/view/view_specs.h"

static bool put_content_text(cst__arena *arena, cst__message *to, int32_t number,
                             const char *text) {
  return cst__message_put_bytes(arena, to, number, text, strlen(text));
}

/* ---- types ---- */

bool cst__query_view_put_type(const struct ArrowSchema *type, cst__arena *arena, cst__message *to,
                              int32_t number) {
  cst__message *out = cst__message_put_child(arena, to, number);
  const char *name = type->name != NULL ? type->name : "";
  bool ok = out != NULL && put_content_text(arena, out, CST__VIEW_TYPE_NAME, name) &&
            put_content_text(arena, out, CST__VIEW_TYPE_FORMAT, type->format) &&
            cst__message_put_int(arena, out, CST__VIEW_TYPE_FLAGS, type->flags);
  for (int64_t i = 0; ok && i < type->n_children; i++) {
    ok = cst__query_view_put_type(type->children[i], arena, out, CST__VIEW_TYPE_CHILDREN);
  }
  return ok && (type->dictionary == NULL ||
                cst__query_view_put_type(type->dictionary, arena, out, CST__VIEW_TYPE_DICTIONARY));
}

/* A text of the tree as a C string. */
static cst_status content_string(const cst__message *from, int32_t number, cst__arena *arena,
                                 const char **out, cst_error *error) {
  cst_bytes text = cst__message_bytes(from, number);
  if (text.size > 0 && memchr(text.data, '\0', text.size) != NULL) {
    return cst__fail(error, CST_CORRUPT, NULL, "a text of the view contains a NUL byte");
  }
  *out = cst__arena_copy(arena, text.data, text.size);
  return *out != NULL ? CST_OK : cst__fail_memory(error, text.size);
}

/* The tree is as deep as trees can be. */
static cst_status read_content_type(const cst__message *from, cst__arena *arena, cst__type *type,
                                    cst_error *error) {
  const char *name;
  const char *format;
  const cst__field *children = cst__message_find(from, CST__VIEW_TYPE_CHILDREN);
  const cst__message *dictionary = cst__message_child(from, CST__VIEW_TYPE_DICTIONARY);
  *type = (cst__type)CST__TYPE_INIT;
  CST__TRY(content_string(from, CST__VIEW_TYPE_NAME, arena, &name, error));
  CST__TRY(content_string(from, CST__VIEW_TYPE_FORMAT, arena, &format, error));
  CST__TRY(cst__type_set(type, format, arena, error));
  CST__TRY(cst__type_set_name(type, name, strlen(name), arena, error));
  type->flags = cst__message_int(from, CST__VIEW_TYPE_FLAGS, 0);
  if (children != NULL) {
    CST__TRY(cst__type_set_children(type, children->count, arena, error));
    for (size_t i = 0; i < children->count; i++) {
      CST__TRY(read_content_type(cst__field_value(children, i)->message, arena, &type->children[i],
                                 error));
    }
  }
  if (dictionary != NULL) {
    type->dictionary = cst__arena_take_zero(arena, sizeof *type->dictionary);
    if (type->dictionary == NULL) {
      return cst__fail_memory(error, sizeof *type->dictionary);
    }
    CST__TRY(read_content_type(dictionary, arena, type->dictionary, error));
  }
  return CST_OK;
}

cst_status cst__query_view_read_type(const cst__message *from, cst__arena *arena,
                                     struct ArrowSchema *out, cst_error *error) {
  cst__type type;
  cst__type checked;
  cst_status status = read_content_type(from, arena, &type, error);
  if (status == CST_OK) {
    status = cst__type_export(&type, out, error);
  }
  if (status == CST_OK) { /* the numbers of children, and what may have a dictionary */
    status = cst__type_import(out, arena, &checked, error);
    if (status != CST_OK) {
      out->release(out);
    }
  }
  return status == CST_OK || status == CST_NO_MEMORY
             ? status
             : cst__fail(error, CST_CORRUPT, NULL, "the view has an unknown type");
}

void cst__query_view_print_type(const struct ArrowSchema *type, cst__text *out) {
  bool is_struct = strcmp(type->format, "+s") == 0;
  if (type->dictionary != NULL) {
    cst__query_view_print_type(type->dictionary, out);
    return;
  }
  cst__text_puts(out, cst__layout_name(type->format));
  if (strncmp(type->format, "+w:", 3) == 0) {
    cst__text_printf(out, "[%s]", type->format + 3);
  }
  for (int64_t i = 0; i < type->n_children; i++) {
    cst__text_puts(out, i == 0 ? "<" : ", ");
    if (is_struct) {
      cst__text_printf(out, "%s: ", type->children[i]->name);
    }
    cst__query_view_print_type(type->children[i], out);
  }
  cst__text_puts(out, type->n_children > 0 ? ">" : "");
}

/* ---- parameters ---- */

static const char *param_given(const cst_view *view, const char *name) {
  for (size_t i = 0; i < view->num_params; i++) {
    if (strcmp(view->params[i].name, name) == 0) {
      return view->params[i].value;
    }
  }
  return NULL;
}

cst_status cst__query_view_param_at(const cst_view *view, size_t i, bool *found,
                                    cst__query_view_param *out, cst_error *error) {
  const cst_query *query = view->query;
  cst__text type = {0};
  cst__text value = {0};
  size_t ignored;
  size_t at = 0;
  for (; at < query->num_statements; at++) {
    if (query->statements[at].kind == CST__STATEMENT_PARAM && i-- == 0) {
      break;
    }
  }
  *out = (cst__query_view_param){.name = ""};
  *found = at < query->num_statements;
  if (!*found) {
    return CST_OK;
  }
  const cst__statement *statement = &query->statements[at];
  const char *given = param_given(view, statement->name);
  out->name = statement->name;
  cst__query_print_type(statement->type, &type);
  if (given != NULL) {
    cst__text_puts(&value, given);
  } else if (statement->value != NULL) {
    cst__query_print_expression(statement->value, &value);
  }
  cst_status status = cst__text_finish(&type, &out->type, &ignored, error);
  if (status == CST_OK) {
    status = cst__text_finish(&value, &out->value, &ignored, error);
  } else {
    cst__text_free(&value);
  }
  if (status != CST_OK) {
    cst__query_view_param_reset(out);
  }
  return status;
}

void cst__query_view_param_reset(cst__query_view_param *param) {
  cst_free(param->type);
  cst_free(param->value);
  *param = (cst__query_view_param){.name = ""};
}

/* ---- outputs ---- */

static const cst_tensor_spec *content_spec(const cst_view *view, const char *name) {
  size_t at = cst__specs_find(view->specs, name);
  return at != SIZE_MAX ? cst_specs_get(view->specs, at) : NULL;
}

static bool put_content_texts(cst__arena *arena, cst__message *to, int32_t number,
                              const char *const *texts, size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (!put_content_text(arena, to, number, texts[i])) {
      return false;
    }
  }
  return true;
}

static bool put_content_spec(const cst_tensor_spec *spec, cst__arena *arena, cst__message *to) {
  const char *dtype = spec->dtype != CST_DTYPE_NONE ? cst_dtype_name(spec->dtype) : "";
  bool ok =
      put_content_text(arena, to, CST__VIEW_OUTPUT_KIND, cst__query_view_kind_name(spec->kind)) &&
      put_content_text(arena, to, CST__VIEW_OUTPUT_DTYPE, dtype);
  for (size_t i = 0; ok && i < spec->num_dims; i++) {
    ok = cst__message_put_int(arena, to, CST__VIEW_OUTPUT_SHAPE, spec->dims[i]);
  }
  return ok && (spec->kind != CST_TENSOR_RAGGED ||
                put_content_text(arena, to, CST__VIEW_OUTPUT_ROW_SPLITS,
                                 cst_dtype_name(spec->row_splits_dtype)));
}

static bool put_content_output(const cst_view *view, const cst__query_output *output,
                               cst__arena *arena, cst__message *content) {
  const struct ArrowSchema *columns = cst__query_view_output_type(view);
  const cst_tensor_spec *spec = content_spec(view, output->name);
  cst__message *out = cst__message_put_child(arena, content, CST__VIEW_OUTPUTS);
  bool ok = out != NULL && put_content_text(arena, out, CST__VIEW_OUTPUT_NAME, output->name);
  for (size_t i = 0; ok && i < output->num_columns; i++) {
    ok = cst__query_view_put_type(columns->children[output->first_column + i], arena, out,
                                  CST__VIEW_OUTPUT_COLUMNS);
  }
  return ok && (spec == NULL || put_content_spec(spec, arena, out)) &&
         put_content_texts(arena, out, CST__VIEW_OUTPUT_PATHS, output->paths, output->num_paths);
}

bool cst__query_view_put_outputs(const cst_view *view, cst__arena *arena, cst__message *content) {
  const cst__query_output *output;
  for (size_t i = 0; (output = cst__query_view_output(view, i)) != NULL; i++) {
    if (!put_content_output(view, output, arena, content)) {
      return false;
    }
  }
  size_t count;
  const char *const *paths = cst__query_plan_sources(view->plan, &count);
  return put_content_texts(arena, content, CST__VIEW_PATHS, paths, count);
}
