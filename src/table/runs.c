/* Runs of slots: the walk down, and what it ends with as an array of its own. */
#include "table/runs.h"

#include "arrow/concat.h"
#include "arrow/owned.h"
#include "base/interrupt.h"

/* ---- the walk ---- */

static cst_status runs_add_run(cst__runs *runs, int64_t begin, int64_t length, cst_error *error) {
  if (length == 0) {
    return CST_OK;
  }
  if (__builtin_add_overflow(runs->total, length, &runs->total)) {
    return cst__fail(error, CST_LIMIT, "use smaller batches", "more items than 64 bits count");
  }
  cst__slot_run *last = runs->count > 0 ? &runs->items[runs->count - 1] : NULL;
  if (last != NULL && last->begin + last->length == begin) {
    last->length += length;
    return CST_OK;
  }
  if (runs->items == NULL || runs->count == runs->capacity) {
    size_t capacity = runs->capacity == 0 ? 4 : 2 * runs->capacity;
    cst__slot_run *items = cst__arena_take(runs->arena, capacity * sizeof *items);
    if (items == NULL) {
      return cst__fail_memory(error, capacity * sizeof *items);
    }
    if (runs->items != NULL) {
      memcpy(items, runs->items, runs->count * sizeof *items);
    }
    runs->items = items;
    runs->capacity = capacity;
  }
  runs->items[runs->count++] = (cst__slot_run){begin, length};
  return CST_OK;
}

cst_status cst__runs_all(const cst__node *node, cst__arena *arena, cst__runs *out,
                         cst_error *error) {
  *out = (cst__runs){.arena = arena, .node = *node};
  return runs_add_run(out, 0, node->view->length, error);
}

cst_status cst__runs_enter(cst__runs *runs, int64_t i, cst_error *error) {
  if (runs->node.view->null_count > 0) {
    cst__veil *veil = cst__arena_take(runs->arena, sizeof *veil);
    if (veil == NULL) {
      return cst__fail_memory(error, sizeof *veil);
    }
    *veil = (cst__veil){runs->node.view, runs->veil};
    runs->veil = veil;
  }
  runs->node = cst__node_child(&runs->node, i);
  return CST_OK;
}

bool cst__runs_is_null(const cst__runs *runs, int64_t slot) {
  return cst__veil_hides(runs->veil, slot) || cst__view_is_null(runs->node.view, slot);
}

/* Where the items of one run begin, after `splits[0]`; its lists have offsets and no nulls. */
static cst_status split_plain(const cst__view *view, const cst__slot_run *run, int64_t *splits,
                              cst_error *error) {
  int64_t at = view->offset + run->begin;
  int64_t move = splits[0] - cst__view_entry(view->offsets, view->offset_width, at);
  const int64_t *wide = (const int64_t *)view->offsets + at;
  const int32_t *narrow = (const int32_t *)view->offsets + at;
  for (int64_t i = 1, end = 1; i <= run->length;) {
    CST__TRY(cst__next_stretch(&end, run->length + 1, error));
    for (; i < end && view->offset_width == 8; i++) {
      splits[i] = wide[i] + move;
    }
    for (; i < end; i++) {
      splits[i] = narrow[i] + move;
    }
  }
  return CST_OK;
}

static cst_status runs_open_plain(const cst__runs *lists, const cst__slot_run *run, int64_t *splits,
                                  cst__runs *items, cst_error *error) {
  const cst__view *view = lists->node.view;
  int64_t at = view->offset + run->begin;
  int64_t begin = cst__view_entry(view->offsets, view->offset_width, at);
  int64_t end = cst__view_entry(view->offsets, view->offset_width, at + run->length);
  if (splits != NULL) {
    CST__TRY(split_plain(view, run, splits, error));
  }
  return runs_add_run(items, begin, end - begin, error);
}

enum { LIST_WORK = 16 /* that a list makes */ };

static cst_status open_each(const cst__runs *lists, const cst__slot_run *run, int64_t *splits,
                            cst__runs *items, cst_error *error) {
  size_t work = 0;
  for (int64_t i = 0; i < run->length; i++) {
    int64_t begin = 0;
    int64_t end = 0;
    if (cst__stretch_is_over(&work, LIST_WORK)) {
      CST__TRY(cst__interrupted(error));
    }
    if (lists->veil == NULL || !cst__runs_is_null(lists, run->begin + i)) {
      cst__view_list(lists->node.view, run->begin + i, &begin, &end);
    }
    CST__TRY(runs_add_run(items, begin, end - begin, error));
    if (splits != NULL) {
      splits[i + 1] = items->total;
    }
  }
  return CST_OK;
}

static cst_status take_splits(const cst__runs *runs, int64_t **out, cst_error *error) {
  size_t bytes = SIZE_MAX;
  *out = cst__mul((size_t)runs->total + 1, sizeof **out, &bytes)
             ? cst__arena_take(runs->arena, bytes)
             : NULL;
  if (*out == NULL) {
    return cst__fail_memory(error, bytes);
  }
  (*out)[0] = 0;
  return CST_OK;
}

/* List views may hold the same items again and again, below each other with each level more: all
 * levels together are limited, as one is by cst__view_most_items. */
static cst_status runs_check_views(const cst__runs *lists, const cst__runs *items,
                                   cst_error *error) {
  const cst__view *view = lists->node.view;
  int64_t most = lists->view_slots < INT64_MAX / 256 ? lists->view_slots * 64 : INT64_MAX / 4;
  if (view->layout != CST__LAYOUT_LIST_VIEW ||
      items->total <= cst__view_most_items(view) + most - lists->view_items) {
    return CST_OK;
  }
  return cst__fail(error, CST_LIMIT, "cast the list views to large_list",
                   "%lld lists share %lld items so often that they hold %lld",
                   (long long)view->length, (long long)view->children[0].length,
                   (long long)items->total);
}

/* What the list views on the way have held so far. */
static void runs_count_views(const cst__runs *lists, cst__runs *items) {
  const cst__view *view = lists->node.view;
  bool is_view = view->layout == CST__LAYOUT_LIST_VIEW;
  items->view_items = lists->view_items + (is_view ? items->total : 0);
  items->view_slots = lists->view_slots + (is_view ? view->length + view->children[0].length : 0);
}

/* True if the lists have offsets that are theirs alone, and none is null. */
static bool runs_are_plain(const cst__runs *lists) {
  const cst__view *view = lists->node.view;
  return view->layout == CST__LAYOUT_LIST && view->null_count == 0 && lists->veil == NULL;
}

cst_status cst__runs_open(cst__runs *runs, int64_t **splits, cst_error *error) {
  bool is_plain = runs_are_plain(runs);
  cst__runs items = {.arena = runs->arena, .node = cst__node_child(&runs->node, 0)};
  int64_t *at = NULL;
  if (splits != NULL) {
    CST__TRY(take_splits(runs, &at, error));
    *splits = at;
  }
  for (size_t i = 0; i < runs->count; i++) {
    const cst__slot_run *run = &runs->items[i];
    CST__TRY(is_plain ? runs_open_plain(runs, run, at, &items, error)
                      : open_each(runs, run, at, &items, error));
    at = at != NULL ? at + run->length : NULL;
    CST__TRY(runs_check_views(runs, &items, error));
  }
  runs_count_views(runs, &items);
  *runs = items;
  return CST_OK;
}

/* Looks where the lists' own offsets lead, without a copy of all of them. */
static cst_status descend_plain(const cst__runs *lists, int64_t *splits, int64_t count,
                                cst_error *error) {
  const cst__view *view = lists->node.view;
  int64_t at = view->offset + (lists->count > 0 ? lists->items[0].begin : 0);
  int64_t first = cst__view_entry(view->offsets, view->offset_width, at);
  const int64_t *wide = (const int64_t *)view->offsets + at;
  const int32_t *narrow = (const int32_t *)view->offsets + at;
  for (int64_t i = 0, end = 0; i <= count;) {
    CST__TRY(cst__next_stretch(&end, count + 1, error));
    for (; i < end && view->offset_width == 8; i++) {
      splits[i] = wide[splits[i]] - first;
    }
    for (; i < end; i++) {
      splits[i] = narrow[splits[i]] - first;
    }
  }
  return CST_OK;
}

cst_status cst__runs_descend(cst__runs *runs, int64_t *splits, int64_t count, cst_error *error) {
  int64_t *inner;
  if (runs_are_plain(runs) && runs->count == 1) {
    CST__TRY(descend_plain(runs, splits, count, error));
    return cst__runs_open(runs, NULL, error);
  }
  CST__TRY(cst__runs_open(runs, &inner, error));
  for (int64_t i = 0; i <= count; i++) {
    splits[i] = inner[splits[i]];
  }
  return CST_OK;
}

/* ---- arrays ---- */

static cst_status fail_nulls(const cst__node *node, cst_error *error) {
  char type[64];
  cst__view_type_name(node->view, type, sizeof type);
  return cst__fail(error, CST_UNSUPPORTED, "cast the column, or leave it out",
                   "null structs hide values of type %s, which has no nulls of its own", type);
}

/* bits &= from, of `count` bits. */
static void runs_and_bits(uint8_t *bits, int64_t to, const uint8_t *from, int64_t begin,
                          int64_t count) {
  enum { CHUNK = 1024 };
  uint8_t part[CHUNK / 8 + 1];
  while (count > 0) {
    int64_t shift = to & 7;
    int64_t some = count < CHUNK - shift ? count : CHUNK - shift;
    size_t bytes = cst__bits_size(shift + some);
    memset(part, 0xff, bytes);
    cst__bits_copy(part, shift, from, begin, some);
    for (size_t i = 0; i < bytes; i++) {
      bits[(size_t)(to >> 3) + i] &= part[i];
    }
    to += some;
    begin += some;
    count -= some;
  }
}

void cst__runs_valid_bits(const cst__runs *runs, uint8_t *bits, int64_t to) {
  const cst__view *view = runs->node.view;
  for (size_t i = 0; i < runs->count && view->layout != CST__LAYOUT_NULL; i++) {
    const cst__slot_run *run = &runs->items[i];
    if (view->validity != NULL) {
      cst__bits_copy(bits, to, view->validity, view->offset + run->begin, run->length);
    } else {
      cst__bits_set(bits, to, run->length);
    }
    for (const cst__veil *veil = runs->veil; veil != NULL; veil = veil->outer) {
      if (veil->view->validity != NULL) {
        runs_and_bits(bits, to, veil->view->validity, veil->view->offset + run->begin, run->length);
      }
    }
    to += run->length;
  }
}

cst_status cst__runs_hide(const cst__runs *runs, struct ArrowArray *out, cst_error *error) {
  size_t size = cst__bits_size(out->offset + out->length);
  uint8_t *bits = cst__owned_buffer(out, 0, size);
  if (bits == NULL) {
    return cst__fail_memory(error, size);
  }
  memset(bits, 0, size);
  cst__runs_valid_bits(runs, bits, out->offset);
  out->null_count = out->length - cst__bitmap_count(bits, out->offset, out->length);
  return CST_OK;
}

static bool is_veiled(const cst__runs *runs) {
  return runs->veil != NULL && runs->node.view->layout != CST__LAYOUT_NULL;
}

static void release_root(void *root) { cst__array_handle_release(root); }

/* A root of its own for the shared parts, so that it can have a bitmap of its own. */
static cst_status own_root(const cst_array *root, struct ArrowArray *shared, cst_error *error) {
  struct ArrowArray own;
  cst_status status =
      cst__owned_new(&root->allocator, shared->n_buffers, shared->n_children, false, &own, error);
  if (status != CST_OK) {
    cst__array_release(shared);
    return status;
  }
  for (int64_t i = 1; i < shared->n_buffers; i++) {
    own.buffers[i] = shared->buffers[i];
  }
  for (int64_t i = 0; i < shared->n_children; i++) {
    *own.children[i] = *shared->children[i];
    shared->children[i]->release = NULL;
  }
  own.length = shared->length;
  own.offset = shared->offset;
  cst__owned_keep(&own, cst__array_retain(root), release_root);
  cst__array_release(shared);
  *shared = own;
  return CST_OK;
}

static cst_status share_run(const cst__runs *runs, const cst_array *root, struct ArrowArray *out,
                            cst_error *error) {
  const cst__node *node = &runs->node;
  int64_t begin = runs->count > 0 ? runs->items[0].begin : 0;
  const cst__array_part part = {node->schema, node->array,
                                node->view->offset + begin - node->array->offset, runs->total};
  CST__TRY(cst__array_share(root, &part, out, error));
  if (node->view->layout == CST__LAYOUT_NULL) {
    out->null_count = out->length;
  }
  return is_veiled(runs) ? own_root(root, out, error) : CST_OK;
}

static cst_status copy_runs(const cst__runs *runs, const cst_allocator *allocator,
                            struct ArrowArray *out, cst_error *error) {
  cst__piece *pieces = cst__new(allocator, runs->count * sizeof *pieces);
  if (pieces == NULL) {
    return cst__fail_memory(error, runs->count * sizeof *pieces);
  }
  for (size_t i = 0; i < runs->count; i++) {
    pieces[i] = (cst__piece){runs->node.view, runs->items[i].begin, runs->items[i].length};
  }
  cst_status status = cst__concat(runs->node.schema, pieces, runs->count, allocator, out, error);
  cst__delete(pieces);
  return status;
}

cst_status cst__runs_array(const cst__runs *runs, const cst_array *root, struct ArrowArray *out,
                           cst_error *error) {
  if (is_veiled(runs) && runs->node.view->layout == CST__LAYOUT_OTHER) {
    return fail_nulls(&runs->node, error);
  }
  CST__TRY(runs->count <= 1 ? share_run(runs, root, out, error)
                            : copy_runs(runs, &root->allocator, out, error));
  cst_status status = is_veiled(runs) ? cst__runs_hide(runs, out, error) : CST_OK;
  if (status != CST_OK) {
    cst__array_release(out);
  }
  return status;
}
