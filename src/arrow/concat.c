/* Concatenation: every array of the result is built from the slots of the pieces, level by level.
 *
 * A level is the pieces of one array: slots of views of one type. What they refer to below is again
 * a level, so that only what the slots reach is copied.
 */
#include "arrow/concat.h"

#include <string.h>

#include "arrow/concat_dictionaries.h"
#include "arrow/concat_views.h"
#include "arrow/owned.h"
#include "base/interrupt.h"

enum { PIECE_WORK = 64 /* that a piece makes besides its bytes */ };

/* ---- what all layouts share ---- */

static cst_status count_slots(const cst__level *level, int64_t *out, cst_error *error) {
  *out = 0;
  for (size_t i = 0; i < level->count; i++) {
    *out += level->pieces[i].length; /* two lengths do not overflow */
    if (*out > CST__MAX_SLOTS) {
      return cst__fail(error, CST_LIMIT, "use smaller batches",
                       "more slots than an array can have");
    }
  }
  return CST_OK;
}

static int64_t count_nulls(const cst__piece *piece) {
  const cst__view *view = piece->view;
  if (view->validity == NULL || piece->length == 0) {
    return 0;
  }
  return piece->length -
         cst__bitmap_count(view->validity, view->offset + piece->begin, piece->length);
}

static void join_validity(const cst__level *level, uint8_t *bitmap) {
  int64_t at = 0;
  for (size_t i = 0; i < level->count; i++) {
    const cst__piece *piece = &level->pieces[i];
    const cst__view *view = piece->view;
    if (view->validity != NULL) {
      cst__bits_copy(bitmap, at, view->validity, view->offset + piece->begin, piece->length);
    } else {
      cst__bits_set(bitmap, at, piece->length);
    }
    at += piece->length;
  }
}

static cst_status concat_take_validity(const cst__level *level, struct ArrowArray *out,
                                       cst_error *error) {
  for (size_t i = 0; i < level->count; i++) {
    out->null_count += count_nulls(&level->pieces[i]);
  }
  if (out->null_count == 0) {
    return CST_OK;
  }
  uint8_t *bitmap = cst__level_take(out, 0, (int64_t)cst__bits_size(out->length), 1, error);
  if (bitmap == NULL) {
    return CST_NO_MEMORY;
  }
  join_validity(level, bitmap);
  return CST_OK;
}

/* ---- fixed widths ---- */

static cst_status join_bits(const cst__level *level, struct ArrowArray *out, cst_error *error) {
  uint8_t *bits = cst__level_take(out, 1, (int64_t)cst__bits_size(out->length), 1, error);
  int64_t at = 0;
  if (bits == NULL) {
    return CST_NO_MEMORY;
  }
  for (size_t i = 0; i < level->count; i++) {
    const cst__piece *piece = &level->pieces[i];
    cst__bits_copy(bits, at, piece->view->data, piece->view->offset + piece->begin, piece->length);
    at += piece->length;
  }
  return CST_OK;
}

static cst_status join_fixed(const cst__level *level, size_t width, struct ArrowArray *out,
                             cst_error *error) {
  uint8_t *to = cst__level_take(out, 1, out->length, width, error);
  if (to == NULL) {
    return CST_NO_MEMORY;
  }
  size_t done = 0;
  for (size_t i = 0; i < level->count; i++) {
    const cst__piece *piece = &level->pieces[i];
    size_t bytes = (size_t)piece->length * width;
    if (cst__stretch_is_over(&done, bytes + PIECE_WORK)) {
      CST__TRY(cst__interrupted(error));
    }
    if (bytes > 0) {
      const uint8_t *from = piece->view->data;
      memcpy(to, from + (size_t)(piece->view->offset + piece->begin) * width, bytes);
      to += bytes;
    }
  }
  return CST_OK;
}

/* ---- offsets ---- */

static int64_t concat_offset_at(const cst__piece *piece, int64_t i) {
  const cst__view *view = piece->view;
  return cst__view_entry(view->offsets, view->offset_width, view->offset + piece->begin + i);
}

/* The range of items or bytes that all slots of the piece span, null ones included. */
static void span_of(const cst__piece *piece, int64_t *begin, int64_t *size) {
  *begin = piece->length > 0 ? concat_offset_at(piece, 0) : 0;
  *size = piece->length > 0 ? concat_offset_at(piece, piece->length) - *begin : 0;
}

/* Writes the ends of the piece's slots, moved so that the first slot begins at `base`. */
static void move_offsets(const cst__piece *piece, int64_t base, int64_t slot, void *to) {
  const cst__view *view = piece->view;
  int64_t first = view->offset + piece->begin;
  if (view->offset_width == 8) {
    const int64_t *from = (const int64_t *)view->offsets + first;
    int64_t *entries = (int64_t *)to + slot;
    int64_t move = base - from[0];
    for (int64_t i = 1; i <= piece->length; i++) {
      entries[i] = from[i] + move;
    }
  } else {
    const int32_t *from = (const int32_t *)view->offsets + first;
    int32_t *entries = (int32_t *)to + slot;
    int32_t move = (int32_t)(base - from[0]);
    for (int64_t i = 1; i <= piece->length; i++) {
      entries[i] = from[i] + move;
    }
  }
}

/* The offsets of the result; *total is their last. */
static cst_status join_offsets(const cst__level *level, const char *what, struct ArrowArray *out,
                               int64_t *total, cst_error *error) {
  int width = level->pieces[0].view->offset_width;
  int64_t slot = 0;
  size_t done = 0;
  void *offsets = cst__level_take(out, 1, out->length + 1, (size_t)width, error);
  if (offsets == NULL) {
    return CST_NO_MEMORY;
  }
  memset(offsets, 0, (size_t)width);
  *total = 0;
  for (size_t i = 0; i < level->count; i++) {
    const cst__piece *piece = &level->pieces[i];
    int64_t begin;
    int64_t size;
    span_of(piece, &begin, &size);
    CST__TRY(cst__level_add(total, size, width, what, error));
    if (cst__stretch_is_over(&done, (size_t)piece->length * (size_t)width + PIECE_WORK)) {
      CST__TRY(cst__interrupted(error));
    }
    if (piece->length > 0) {
      move_offsets(piece, *total - size, slot, offsets);
    }
    slot += piece->length;
  }
  return CST_OK;
}

static cst_status join_binary(const cst__level *level, struct ArrowArray *out, cst_error *error) {
  int64_t total;
  CST__TRY(join_offsets(level, "bytes", out, &total, error));
  uint8_t *to = cst__level_take(out, 2, total, 1, error);
  if (to == NULL) {
    return CST_NO_MEMORY;
  }
  size_t done = 0;
  for (size_t i = 0; i < level->count; i++) {
    const cst__piece *piece = &level->pieces[i];
    int64_t begin;
    int64_t size;
    span_of(piece, &begin, &size);
    if (cst__stretch_is_over(&done, (size_t)size + PIECE_WORK)) {
      CST__TRY(cst__interrupted(error));
    }
    if (size > 0) {
      memcpy(to, (const uint8_t *)piece->view->data + begin, (size_t)size);
      to += size;
    }
  }
  return CST_OK;
}

/* ---- nested ---- */

static cst_status concat_join(const cst__level *level, struct ArrowArray *out, cst_error *error);

/* The level below, with room for as many pieces. */
static cst_status level_below(const cst__level *level, cst__piece **below, cst_error *error) {
  size_t size = level->count * sizeof **below;
  *below = cst__new(level->allocator, size);
  return *below != NULL ? CST_OK : cst__fail_memory(error, size);
}

static cst_status join_fields(const cst__level *level, struct ArrowArray *out, cst_error *error) {
  cst__piece *pieces;
  CST__TRY(level_below(level, &pieces, error));
  cst__level below = {pieces, level->count, level->allocator};
  cst_status status = CST_OK;
  for (int64_t i = 0; i < out->n_children && status == CST_OK; i++) {
    for (size_t j = 0; j < level->count; j++) {
      pieces[j] = level->pieces[j];
      pieces[j].view = &level->pieces[j].view->children[i];
    }
    status = concat_join(&below, out->children[i], error);
    if (status != CST_OK) {
      const char *name = pieces[0].view->name;
      cst__error_add_path(error, name, strlen(name));
    }
  }
  cst__delete(pieces);
  return status;
}

/* The items that a piece of lists reaches. */
static cst__piece concat_items_of(const cst__piece *piece) {
  const cst__view *view = piece->view;
  cst__piece items = {&view->children[0], 0, 0};
  switch (view->layout) {
    case CST__LAYOUT_FIXED_LIST:
      items.begin = (view->offset + piece->begin) * view->fixed_size;
      items.length = piece->length * view->fixed_size;
      break;
    case CST__LAYOUT_LIST_VIEW:
      cst__list_views_span(piece, &items.begin, &items.length);
      break;
    default:
      span_of(piece, &items.begin, &items.length);
      break;
  }
  return items;
}

static cst_status join_items(const cst__level *level, struct ArrowArray *out, cst_error *error) {
  cst__piece *pieces;
  CST__TRY(level_below(level, &pieces, error));
  cst__level below = {pieces, level->count, level->allocator};
  for (size_t i = 0; i < level->count; i++) {
    pieces[i] = concat_items_of(&level->pieces[i]);
  }
  cst_status status = concat_join(&below, out->children[0], error);
  cst__delete(pieces);
  return status;
}

static cst_status join_lists(const cst__level *level, struct ArrowArray *out, cst_error *error) {
  int64_t total;
  CST__TRY(join_offsets(level, "list items", out, &total, error));
  return join_items(level, out, error);
}

static cst_status join_list_views(const cst__level *level, struct ArrowArray *out,
                                  cst_error *error) {
  CST__TRY(cst__join_list_views(level, out, error));
  return join_items(level, out, error);
}

static cst_status join_encoded(const cst__level *level, struct ArrowArray *out, cst_error *error) {
  cst__merged_values merged;
  cst_status status = cst__merge_dictionaries(level, out, &merged, error);
  if (status == CST_OK) {
    const cst__level values = {merged.runs, merged.count, level->allocator};
    status = concat_join(&values, out->dictionary, error);
  }
  cst__delete(merged.runs);
  return status;
}

/* ---- the walk ---- */

int64_t cst__layout_buffers(const cst__view *view) {
  switch (view->layout) {
    case CST__LAYOUT_NULL:
      return 0;
    case CST__LAYOUT_STRUCT:
    case CST__LAYOUT_FIXED_LIST:
      return 1;
    case CST__LAYOUT_BINARY:
    case CST__LAYOUT_LIST_VIEW:
      return 3;
    default:
      return 2;
  }
}

static cst_status join_values(const cst__level *level, struct ArrowArray *out, cst_error *error) {
  const cst__view *view = level->pieces[0].view;
  switch (view->layout) {
    case CST__LAYOUT_BOOL:
      return join_bits(level, out, error);
    case CST__LAYOUT_NUMBER:
      return join_fixed(level, cst_dtype_width(view->dtype), out, error);
    case CST__LAYOUT_HALF:
      return join_fixed(level, 2, out, error);
    case CST__LAYOUT_FIXED_BINARY:
    case CST__LAYOUT_OPAQUE:
      return join_fixed(level, (size_t)view->fixed_size, out, error);
    case CST__LAYOUT_BINARY:
      return join_binary(level, out, error);
    case CST__LAYOUT_LIST:
      return join_lists(level, out, error);
    case CST__LAYOUT_LIST_VIEW:
      return join_list_views(level, out, error);
    case CST__LAYOUT_FIXED_LIST:
      return join_items(level, out, error);
    case CST__LAYOUT_STRUCT:
      return join_fields(level, out, error);
    case CST__LAYOUT_NULL:
      out->null_count = out->length;
      break;
    case CST__LAYOUT_OTHER: /* dictionary-encoded: others are refused before */
      return join_encoded(level, out, error);
    case CST__LAYOUT_BINARY_VIEW: /* has buffers of its own number: joined before */
      break;
  }
  return CST_OK;
}

cst_status cst__fail_layout(const cst__view *view, cst_error *error) {
  char type[64];
  cst__view_type_name(view, type, sizeof type);
  return cst__fail(error, CST_UNSUPPORTED, "cast the column, or leave it out",
                   "cannot copy a column of type %s", type);
}

/* All pieces have one layout: their views are of one schema. */
static cst_status concat_join(const cst__level *level, struct ArrowArray *out, cst_error *error) {
  const cst__view *view = level->pieces[0].view;
  int64_t length;
  CST__TRY(cst__interrupted(error));
  if (view->layout == CST__LAYOUT_OTHER && view->dictionary == NULL) {
    return cst__fail_layout(view, error);
  }
  CST__TRY(count_slots(level, &length, error));
  if (view->layout == CST__LAYOUT_BINARY_VIEW) {
    CST__TRY(cst__join_binary_views(level, length, out, error));
  } else {
    CST__TRY(cst__owned_new(level->allocator, cst__layout_buffers(view), view->num_children,
                            view->dictionary != NULL, out, error));
  }
  out->length = length;
  cst_status status =
      view->layout == CST__LAYOUT_NULL ? CST_OK : concat_take_validity(level, out, error);
  if (status == CST_OK) {
    status = join_values(level, out, error);
  }
  if (status != CST_OK) {
    cst__array_release(out);
  }
  return status;
}

/* Without pieces there is a view of zero slots. */
static cst_status join_nothing(const struct ArrowSchema *schema, const cst_allocator *allocator,
                               struct ArrowArray *out, cst_error *error) {
  cst__arena arena;
  cst__view view;
  cst_allocator own = cst__allocator_of(allocator);
  cst__arena_init(&arena, &own);
  cst__piece piece = {&view, 0, 0};
  cst__level level = {&piece, 1, allocator};
  cst_status status = cst__view_init_schema(&view, schema, &arena, error);
  if (status == CST_OK) {
    status = concat_join(&level, out, error);
  }
  cst__arena_reset(&arena);
  return status;
}

cst_status cst__concat(const struct ArrowSchema *schema, const cst__piece *pieces,
                       size_t num_pieces, const cst_allocator *allocator, struct ArrowArray *out,
                       cst_error *error) {
  *out = (struct ArrowArray){0};
  if (num_pieces == 0) {
    return join_nothing(schema, allocator, out, error);
  }
  cst__level level = {pieces, num_pieces, allocator};
  return concat_join(&level, out, error);
}
