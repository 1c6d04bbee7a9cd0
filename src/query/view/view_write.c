/* Saving views: the content as a tree, and the descriptors that the query looks at. */
#include "query/view/view_write.h"

#include <string.h>

#include "base/arguments.h"
#include "io/output.h"
#include "message/message_options.h"
#include "proto/descriptor_picks.h"
#include "query/view/view_content.h"

typedef struct view_writer {
  const cst_view *view;
  cst__arena arena;
  cst__message *content;
  cst_error *error;
} view_writer;

static bool write_view_text(view_writer *w, cst__message *to, int32_t number, const char *text) {
  return text == NULL || cst__message_put_bytes(&w->arena, to, number, text, strlen(text));
}

/* ---- which descriptors a query needs ---- */

/* A source tree that picks what is looked up in another. */
typedef struct picking_tree {
  cst__source_tree tree;
  const cst__source_tree *inner;
  cst__descriptor_picks *picks;
} picking_tree;

static cst_status pick_field(const picking_tree *picking, const void *below,
                             const cst__source_field *field, cst_status status) {
  if (status == CST_OK && field->name != NULL) {
    (void)cst__descriptor_picks_field(picking->picks, below, field->name);
  }
  return status;
}

static cst_status find_and_pick(cst__source_lookup *lookup, const void *below, const char *name,
                                cst__source_field *out) {
  const picking_tree *picking = lookup->tree->ctx;
  return pick_field(picking, below, out, picking->inner->find(lookup, below, name, out));
}

static cst_status nth_and_pick(cst__source_lookup *lookup, const void *below, size_t i,
                               cst__source_field *out) {
  const picking_tree *picking = lookup->tree->ctx;
  return pick_field(picking, below, out, picking->inner->nth(lookup, below, i, out));
}

/* Binds the query once more, to see what it looks up. */
static cst_status pick_what_is_looked_up(view_writer *w, cst__descriptor_picks *picks) {
  const cst_view *view = w->view;
  cst__source_tree inner;
  cst__query_plan *plan;
  CST__TRY(cst__query_view_input_tree(&view->input, &inner, w->error));
  picking_tree picking = {.tree = inner, .inner = &inner, .picks = picks};
  picking.tree.ctx = &picking;
  picking.tree.find = find_and_pick;
  picking.tree.nth = nth_and_pick;
  const cst__query_plan_options options = {.query = view->query,
                                           .tree = &picking.tree,
                                           .params = view->params,
                                           .num_params = view->num_params,
                                           .outputs = view->wanted,
                                           .num_outputs = view->num_wanted,
                                           .allocator = &w->arena.allocator};
  CST__TRY(cst__query_plan_new(&options, &plan, w->error));
  size_t count;
  const char *const *paths = cst__query_plan_paths(plan, &count);
  for (size_t i = 0; i < count; i++) {
    (void)cst__descriptor_picks_path(picks, paths[i], true);
  }
  cst__query_plan_release(plan);
  return CST_OK;
}

/* What a record says by name needs all fields. */
static cst_status pick_descriptors(view_writer *w, cst__descriptor_picks *picks) {
  const cst_message_options *message = w->view->input.message;
  bool by_name = message->form == CST_MESSAGE_TEXT || message->form == CST_MESSAGE_JSON;
  if (by_name) {
    if (cst__descriptor_picks_message(picks)) {
      cst__descriptor_picks_all(picks);
    }
    return CST_OK;
  }
  return pick_what_is_looked_up(w, picks);
}

static cst_status write_descriptors(view_writer *w, cst__message *to) {
  const cst_message_options *message = w->view->input.message;
  const cst__message_def *def =
      cst__descriptors_find(message->descriptors, message->message, strlen(message->message));
  cst__descriptor_picks *picks;
  char *bytes = NULL;
  size_t size = 0;
  CST__TRY(
      cst__descriptor_picks_new(message->descriptors, def, &w->arena.allocator, &picks, w->error));
  cst_status status = pick_descriptors(w, picks);
  if (status == CST_OK) {
    status = cst__descriptor_picks_write(picks, &bytes, &size, w->error);
  }
  if (status == CST_OK &&
      !cst__message_put_bytes(&w->arena, to, CST__VIEW_MESSAGE_DESCRIPTORS, bytes, size)) {
    status = cst__fail_memory(w->error, size);
  }
  cst_free(bytes);
  cst__descriptor_picks_free(picks);
  return status;
}

/* ---- the content ---- */

/* The options that are not the usual ones, so that it does not matter who sets them. */
static bool write_options(view_writer *w, cst__message *to) {
  const cst_message_options *message = w->view->input.message;
  const cst_message_options usual = cst__message_options_usual();
  const cst__message_option *option;
  int64_t flags = 0; /* bits of one number */
  bool ok = true;
  for (size_t i = 0; ok && (option = cst__message_option_at(i)) != NULL; i++) {
    char room[CST__OPTION_ROOM];
    if (cst__option_equal(&option->own, message, &usual)) {
      continue;
    }
    if (option->own.info.kind == CST_OPTION_TEXT) {
      const char *text = cst__option_text(&option->own, message, room);
      ok = write_view_text(w, to, option->saved_number, text);
      continue;
    }
    int64_t number = cst__option_number(&option->own, message);
    if (option->own.info.kind == CST_OPTION_SWITCH) {
      flags |= number != 0 ? option->own.bit : 0;
      number = flags;
    }
    ok = cst__message_put_int(&w->arena, to, option->saved_number, number);
  }
  return ok;
}

static cst_status write_message(view_writer *w) {
  cst__message *to = cst__message_put_child(&w->arena, w->content, CST__VIEW_MESSAGE);
  bool ok = to != NULL &&
            write_view_text(w, to, CST__VIEW_MESSAGE_NAME, w->view->input.message->message) &&
            write_options(w, to);
  return ok ? write_descriptors(w, to) : cst__fail_memory(w->error, sizeof *to);
}

static cst_status write_input(view_writer *w) {
  const cst__query_view_input *input = &w->view->input;
  if (input->message != NULL) {
    return write_message(w);
  }
  if (input->schema == NULL) {
    return cst__query_view_put_type(&input->type, &w->arena, w->content, CST__VIEW_TYPE)
               ? CST_OK
               : cst__fail_memory(w->error, sizeof *w->content);
  }
  char *bytes;
  size_t size;
  CST__TRY(cst_schema_to_bytes(input->schema, &bytes, &size, w->error));
  bool ok = cst__message_put_bytes(&w->arena, w->content, CST__VIEW_SCHEMA, bytes, size);
  cst_free(bytes);
  return ok ? CST_OK : cst__fail_memory(w->error, size);
}

static bool write_params(view_writer *w) {
  for (size_t i = 0; i < w->view->num_params; i++) {
    const cst_query_value *param = &w->view->params[i];
    cst__message *to = cst__message_put_child(&w->arena, w->content, CST__VIEW_PARAMS);
    if (to == NULL || !write_view_text(w, to, CST__VIEW_PARAM_NAME, param->name) ||
        !write_view_text(w, to, CST__VIEW_PARAM_VALUE, param->value)) {
      return false;
    }
  }
  return true;
}

/* All outputs in their order are what a view has for which none are chosen. */
static cst_status find_chosen(view_writer *w, bool *is_chosen) {
  const cst_view *view = w->view;
  cst__source_tree tree;
  cst__query_plan *plan;
  *is_chosen = view->wanted != NULL;
  if (!*is_chosen) {
    return CST_OK;
  }
  CST__TRY(cst__query_view_input_tree(&view->input, &tree, w->error));
  const cst__query_plan_options options = {.query = view->query,
                                           .tree = &tree,
                                           .params = view->params,
                                           .num_params = view->num_params,
                                           .allocator = &w->arena.allocator};
  CST__TRY(cst__query_plan_new(&options, &plan, w->error));
  size_t count;
  const cst__query_output *outputs = cst__query_plan_outputs(plan, &count);
  *is_chosen = count != view->num_wanted;
  for (size_t i = 0; !*is_chosen && i < count; i++) {
    *is_chosen = strcmp(outputs[i].name, view->wanted[i]) != 0;
  }
  cst__query_plan_release(plan);
  return CST_OK;
}

static cst_status write_chosen(view_writer *w) {
  bool is_chosen;
  CST__TRY(find_chosen(w, &is_chosen));
  bool ok = cst__message_put_int(&w->arena, w->content, CST__VIEW_IS_CHOSEN, is_chosen);
  for (size_t i = 0; ok && is_chosen && i < w->view->num_wanted; i++) {
    ok = write_view_text(w, w->content, CST__VIEW_CHOSEN, w->view->wanted[i]);
  }
  return ok ? CST_OK : cst__fail_memory(w->error, sizeof *w->content);
}

static cst_status write_content(view_writer *w) {
  const cst_view *view = w->view;
  const char *from = cst__query_from_name(view->input.from);
  char producer[64] = "columnstone ";
  strncat(producer, cst_version(), sizeof producer - strlen(producer) - 1);
  w->content = cst__message_new(&w->arena, cst__query_view_def);
  if (w->content == NULL || !write_view_text(w, w->content, CST__VIEW_PRODUCER, producer) ||
      !write_view_text(w, w->content, CST__VIEW_QUERY, view->text) ||
      !write_view_text(w, w->content, CST__VIEW_FROM, from) || !write_params(w) ||
      !cst__query_view_put_outputs(view, &w->arena, w->content)) {
    return cst__fail_memory(w->error, sizeof *w->content);
  }
  CST__TRY(write_chosen(w));
  return write_input(w);
}

/* ---- the saved form ---- */

static cst_status make_saved(cst_view *view, cst_error *error) {
  view_writer w = {.view = view, .error = error};
  if (view->query->num_functions > 0) {
    return cst__fail(error, CST_UNSUPPORTED, "use functions of the language only",
                     "cannot save a view that uses the caller's functions");
  }
  cst__arena_init(&w.arena, &view->arena.allocator);
  cst_status status = write_content(&w);
  if (status == CST_OK) {
    status = cst__query_view_file_write(w.content, &view->saved, &view->saved_size, error);
  }
  cst__arena_reset(&w.arena);
  if (status == CST_OK) {
    const cst_bytes saved = {(const uint8_t *)view->saved, view->saved_size};
    cst__query_view_file_digest(saved, view->digest);
  }
  return status;
}

cst_status cst__query_view_saved(const cst_view *view, cst_bytes *out, cst_error *error) {
  cst_view *shared = (cst_view *)(uintptr_t)view; /* what its lock guards */
  cst__mutex_lock(&shared->lock);
  cst_status status = shared->saved == NULL ? make_saved(shared, error) : CST_OK;
  cst__mutex_unlock(&shared->lock);
  *out = (cst_bytes){(const uint8_t *)shared->saved, shared->saved_size};
  return status;
}

cst_status cst_view_to_bytes(const cst_view *view, void **bytes, size_t *size, cst_error *error) {
  cst_bytes saved;
  CST__CLEAR(bytes);
  CST__CLEAR(size);
  if (view == NULL || bytes == NULL || size == NULL) {
    return cst__missing(view == NULL ? "view" : bytes == NULL ? "bytes" : "size", error);
  }
  CST__TRY(cst__query_view_saved(view, &saved, error));
  cst__text copy = {0};
  char *out;
  cst__text_append(&copy, saved.data, saved.size);
  CST__TRY(cst__text_finish(&copy, &out, size, error));
  *bytes = out;
  return CST_OK;
}

cst_status cst_view_save(const cst_view *view, const char *path, cst_error *error) {
  cst_bytes bytes;
  cst__output *output;
  if (view == NULL || path == NULL) {
    return cst__missing(view == NULL ? "view" : "path", error);
  }
  CST__TRY(cst__query_view_saved(view, &bytes, error));
  CST__TRY(cst__output_open(path, CST_COMPRESSION_NONE, 0, &view->arena.allocator, &output, error));
  cst_status status = cst__output_write(output, bytes.data, bytes.size, error);
  if (status == CST_OK) {
    status = cst__output_finish(output, error);
  }
  cst__output_free(output);
  return status;
}

const char *cst_view_digest(const cst_view *view) {
  cst_bytes bytes;
  return view != NULL && cst__query_view_saved(view, &bytes, NULL) == CST_OK ? view->digest : NULL;
}
