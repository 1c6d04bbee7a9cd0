/* The layout of a graph, in steps: circles, layers, parts, cells, order, heights, and where the
 * parts go.
 *
 * A cell is what takes room in a layer: a node, or the place where edges of one node run past the
 * nodes of the layer. A row is a layer of one part, with its cells from top to bottom. Links go
 * from a cell to one of the next row.
 */
#include "lineage/graph/graph_layout.h"

#include <math.h>
#include <stdlib.h>

enum {
  SWEEPS = 8,      /* over the rows, for their order */
  SETTLES = 6,     /* and for heights */
  FAR = 32,        /* an edge over more layers than these runs straight */
  BESIDE = 12,     /* pixels between edges that run past a layer */
  PART_SPACE = 24, /* between parts */
  PORT = 11        /* between edges that end at one node, if there is room */
};

/* Lists of numbers, one for each of `count` keys: items [first[k], first[k + 1]). */
typedef struct lists {
  uint32_t *first;
  uint32_t *items;
} lists;

typedef struct row {
  uint32_t begin, end; /* of cells */
  uint32_t layer;
} row;

typedef struct part {
  uint32_t first_row, end_row;
  uint32_t first_node;
  int32_t width, height, x, y;
} part;

typedef struct drawing {
  cst__arena *arena;
  cst__graph_layout *out;
  bool *is_reversed; /* of edges */
  lists after;       /* of nodes: the edges that leave them, reversed ones turned */
  uint32_t *layer;   /* of cells; the first cells are the nodes */
  uint32_t *chain;   /* of nodes: the first cell that their edges run through, one a layer */
  uint32_t *part_of; /* of cells */
  uint32_t num_cells;
  lists down, up;     /* of cells: cells in the next row, and in the one before */
  uint32_t *cells;    /* in the order of rows */
  uint32_t *position; /* of cells in their row */
  row *rows;
  uint32_t num_rows;
  part *parts;
  uint32_t num_parts;
  double *height; /* of cells: their middle */
} drawing;

static void *take(const drawing *d, size_t count, size_t size) {
  return cst__arena_take_items(d->arena, (int64_t)(count + 1), size);
}

/* Where an edge begins and ends, without circles. */
static uint32_t tail(const drawing *d, size_t e) {
  return d->is_reversed[e] ? d->out->edges[e].to : d->out->edges[e].from;
}
static uint32_t head(const drawing *d, size_t e) {
  return d->is_reversed[e] ? d->out->edges[e].from : d->out->edges[e].to;
}
static bool is_loop(const drawing *d, size_t e) {
  return d->out->edges[e].from == d->out->edges[e].to;
}

/* Lists by `key`, in the order of items; SIZE32 as a key: in no list. `value` NULL: numbers. */
enum { NOWHERE = 0xffffffff };
static bool make_lists(const drawing *d, size_t count, size_t num_items, const uint32_t *key,
                       const uint32_t *value, lists *out) {
  out->first = take(d, count + 1, sizeof *out->first);
  out->items = take(d, num_items, sizeof *out->items);
  if (out->first == NULL || out->items == NULL) {
    return false;
  }
  memset(out->first, 0, (count + 2) * sizeof *out->first);
  for (size_t i = 0; i < num_items; i++) {
    out->first[key[i] == (uint32_t)NOWHERE ? count + 1 : key[i] + 1]++;
  }
  for (size_t k = 0; k < count; k++) {
    out->first[k + 1] += out->first[k];
  }
  for (size_t i = 0; i < num_items; i++) {
    if (key[i] != (uint32_t)NOWHERE) {
      out->items[out->first[key[i]]++] = value != NULL ? value[i] : (uint32_t)i;
    }
  }
  memmove(out->first + 1, out->first, count * sizeof *out->first);
  out->first[0] = 0;
  return true;
}

/* ---- circles and layers ---- */

/* The edges that leave each node. */
static bool list_edges(drawing *d) {
  const size_t count = d->out->num_edges;
  uint32_t *key = take(d, count, sizeof *key);
  if (key == NULL) {
    return false;
  }
  for (size_t e = 0; e < count; e++) {
    key[e] = is_loop(d, e) ? (uint32_t)NOWHERE : tail(d, e);
  }
  return make_lists(d, d->out->num_nodes, count, key, NULL, &d->after);
}

/* Goes along the edges, depth first; one that comes back to where it is under way closes a circle.
 */
static bool break_circles(drawing *d) {
  enum { NEW, UNDER_WAY, DONE };
  const size_t n = d->out->num_nodes;
  uint8_t *state = take(d, n, 1);
  uint32_t *next = take(d, n, sizeof *next);
  uint32_t *stack = take(d, n, sizeof *stack);
  if (d->after.first == NULL || state == NULL || next == NULL || stack == NULL) {
    return false;
  }
  memset(state, NEW, n);
  for (uint32_t root = 0; root < n; root++) {
    size_t depth = 0;
    if (state[root] == NEW) {
      stack[depth++] = root;
      state[root] = UNDER_WAY;
      next[root] = d->after.first[root];
    }
    while (depth > 0) {
      const uint32_t node = stack[depth - 1];
      if (next[node] == d->after.first[node + 1]) {
        state[node] = DONE;
        depth--;
        continue;
      }
      const uint32_t e = d->after.items[next[node]++];
      const uint32_t to = d->out->edges[e].to;
      if (state[to] == UNDER_WAY) {
        d->is_reversed[e] = true;
      } else if (state[to] == NEW) {
        state[to] = UNDER_WAY;
        next[to] = d->after.first[to];
        stack[depth++] = to;
      }
    }
  }
  return true;
}

/* Each node one layer after the last of those before it; one with nothing before it stands next to
 * the first that came of it. */
static bool find_layers(drawing *d) {
  const size_t n = d->out->num_nodes;
  uint32_t *waits = take(d, n, sizeof *waits);
  uint32_t *sorted = take(d, n, sizeof *sorted); /* each node after those before it */
  d->layer = take(d, n, sizeof *d->layer);
  if (d->after.first == NULL || waits == NULL || sorted == NULL || d->layer == NULL) {
    return false;
  }
  memset(waits, 0, n * sizeof *waits);
  memset(d->layer, 0, n * sizeof *d->layer);
  for (size_t e = 0; e < d->out->num_edges; e++) {
    waits[head(d, e)] += !is_loop(d, e);
  }
  size_t end = 0;
  for (uint32_t node = 0; node < n; node++) {
    if (waits[node] == 0) {
      sorted[end++] = node;
    }
  }
  const size_t num_first = end;
  for (size_t at = 0; at < end; at++) {
    const uint32_t node = sorted[at];
    for (uint32_t i = d->after.first[node]; i < d->after.first[node + 1]; i++) {
      const uint32_t to = head(d, d->after.items[i]);
      d->layer[to] = d->layer[to] > d->layer[node] ? d->layer[to] : d->layer[node] + 1;
      if (--waits[to] == 0) {
        sorted[end++] = to;
      }
    }
  }
  for (size_t at = 0; at < num_first; at++) {
    const uint32_t node = sorted[at];
    uint32_t nearest = (uint32_t)NOWHERE;
    for (uint32_t i = d->after.first[node]; i < d->after.first[node + 1]; i++) {
      const uint32_t layer = d->layer[head(d, d->after.items[i])];
      nearest = layer < nearest ? layer : nearest;
    }
    d->layer[node] = nearest == (uint32_t)NOWHERE ? 0 : nearest - 1;
  }
  return true;
}

/* ---- cells and links ---- */

/* How many layers lie between the ends of an edge that runs past them. */
static uint32_t layers_past(const drawing *d, size_t e) {
  const uint32_t span = is_loop(d, e) ? 0 : d->layer[head(d, e)] - d->layer[tail(d, e)];
  return span > 1 && span <= FAR ? span - 1 : 0;
}

static bool make_cells(drawing *d) {
  const uint32_t n = (uint32_t)d->out->num_nodes;
  uint32_t *longest = take(d, n, sizeof *longest);
  d->chain = take(d, n, sizeof *d->chain);
  if (longest == NULL || d->chain == NULL) {
    return false;
  }
  memset(longest, 0, n * sizeof *longest);
  for (size_t e = 0; e < d->out->num_edges; e++) {
    const uint32_t past = layers_past(d, e);
    longest[tail(d, e)] = past > longest[tail(d, e)] ? past : longest[tail(d, e)];
  }
  d->num_cells = n;
  for (uint32_t node = 0; node < n; node++) {
    d->chain[node] = d->num_cells;
    d->num_cells += longest[node];
  }
  const uint32_t most_links = (uint32_t)d->out->num_edges + d->num_cells - n;
  uint32_t *layer = take(d, d->num_cells, sizeof *layer);
  uint32_t *from = take(d, most_links, sizeof *from);
  uint32_t *to = take(d, most_links, sizeof *to);
  uint32_t num_links = 0;
  if (layer == NULL || from == NULL || to == NULL) {
    return false;
  }
  memcpy(layer, d->layer, n * sizeof *layer);
  d->layer = layer;
  for (uint32_t node = 0; node < n; node++) {
    for (uint32_t i = 0; i < longest[node]; i++) {
      d->layer[d->chain[node] + i] = d->layer[node] + 1 + i;
      from[num_links] = i == 0 ? node : d->chain[node] + i - 1;
      to[num_links++] = d->chain[node] + i;
    }
  }
  for (size_t e = 0; e < d->out->num_edges; e++) {
    const uint32_t past = layers_past(d, e);
    if (past > 0 || (!is_loop(d, e) && d->layer[head(d, e)] - d->layer[tail(d, e)] == 1)) {
      from[num_links] = past > 0 ? d->chain[tail(d, e)] + past - 1 : tail(d, e);
      to[num_links++] = head(d, e);
    }
  }
  return make_lists(d, d->num_cells, num_links, from, to, &d->down) &&
         make_lists(d, d->num_cells, num_links, to, from, &d->up);
}

/* ---- parts and rows ---- */

static uint32_t find_root(uint32_t *parent, uint32_t node) {
  while (parent[node] != node) {
    parent[node] = parent[parent[node]];
    node = parent[node];
  }
  return node;
}

/* Cells in the order in which a walk over the links comes to them, so that what belongs together
 * begins together. */
static bool walk(drawing *d, uint32_t *visited) {
  bool *is_seen = take(d, d->num_cells, sizeof *is_seen);
  uint32_t *stack = take(d, d->num_cells + 2 * (size_t)d->down.first[d->num_cells], sizeof *stack);
  if (is_seen == NULL || stack == NULL) {
    return false;
  }
  memset(is_seen, 0, d->num_cells * sizeof *is_seen);
  uint32_t count = 0;
  for (uint32_t root = 0; root < d->num_cells; root++) {
    size_t depth = 0;
    stack[depth++] = root;
    while (depth > 0) {
      const uint32_t cell = stack[--depth];
      if (is_seen[cell]) {
        continue;
      }
      is_seen[cell] = true;
      visited[count++] = cell;
      for (uint32_t i = d->up.first[cell + 1]; i > d->up.first[cell]; i--) {
        stack[depth++] = d->up.items[i - 1];
      }
      for (uint32_t i = d->down.first[cell + 1]; i > d->down.first[cell]; i--) {
        stack[depth++] = d->down.items[i - 1];
      }
    }
  }
  return true;
}

static bool find_parts(drawing *d) {
  const uint32_t n = (uint32_t)d->out->num_nodes;
  uint32_t *parent = take(d, n, sizeof *parent);
  d->part_of = take(d, d->num_cells, sizeof *d->part_of);
  if (parent == NULL || d->part_of == NULL) {
    return false;
  }
  for (uint32_t node = 0; node < n; node++) {
    parent[node] = node;
  }
  for (size_t e = 0; e < d->out->num_edges; e++) {
    const uint32_t a = find_root(parent, d->out->edges[e].from);
    const uint32_t b = find_root(parent, d->out->edges[e].to);
    parent[a > b ? a : b] = a > b ? b : a;
  }
  for (uint32_t node = 0; node < n; node++) {
    const uint32_t root = find_root(parent, node); /* the first of its part */
    d->part_of[node] = root == node ? d->num_parts++ : d->part_of[root];
    const uint32_t end = node + 1 < n ? d->chain[node + 1] : d->num_cells;
    for (uint32_t cell = d->chain[node]; cell < end; cell++) {
      d->part_of[cell] = d->part_of[node];
    }
  }
  return true;
}

/* Cells by part, by layer, and as the walk has them. */
static bool make_rows(drawing *d) {
  uint32_t *visited = take(d, d->num_cells, sizeof *visited);
  uint32_t *key = take(d, d->num_cells, sizeof *key);
  d->cells = take(d, d->num_cells, sizeof *d->cells);
  d->position = take(d, d->num_cells, sizeof *d->position);
  d->rows = take(d, d->num_cells, sizeof *d->rows);
  d->parts = take(d, d->num_parts, sizeof *d->parts);
  lists by_layer, by_part;
  if (visited == NULL || key == NULL || d->cells == NULL || d->position == NULL ||
      d->rows == NULL || d->parts == NULL || !walk(d, visited)) {
    return false;
  }
  for (uint32_t i = 0; i < d->num_cells; i++) {
    key[i] = d->layer[visited[i]];
  }
  if (!make_lists(d, d->num_cells, d->num_cells, key, visited, &by_layer)) {
    return false;
  }
  for (uint32_t i = 0; i < d->num_cells; i++) {
    key[i] = d->part_of[by_layer.items[i]];
  }
  if (!make_lists(d, d->num_parts, d->num_cells, key, by_layer.items, &by_part)) {
    return false;
  }
  memcpy(d->cells, by_part.items, d->num_cells * sizeof *d->cells);
  for (uint32_t p = 0; p < d->num_parts; p++) {
    d->parts[p] = (part){.first_row = d->num_rows, .first_node = d->cells[by_part.first[p]]};
    for (uint32_t i = by_part.first[p]; i < by_part.first[p + 1]; i++) {
      const uint32_t layer = d->layer[d->cells[i]];
      const bool begins = i == by_part.first[p] || d->rows[d->num_rows - 1].layer != layer;
      if (begins) {
        d->rows[d->num_rows++] = (row){i, i, layer};
      }
      d->rows[d->num_rows - 1].end = i + 1;
      d->position[d->cells[i]] = i - d->rows[d->num_rows - 1].begin;
    }
    d->parts[p].end_row = d->num_rows;
  }
  return true;
}

/* ---- order ---- */

typedef struct wish {
  double place;
  uint32_t cell, position;
} wish;

static int compare_wishes(const void *left, const void *right) {
  const wish *a = left, *b = right;
  if (a->place != b->place) {
    return a->place < b->place ? -1 : 1;
  }
  return a->position < b->position ? -1 : a->position > b->position;
}

/* Each cell of a row to the mean position of its neighbours in the row before or after it. */
static void order_row(const drawing *d, const row *r, const lists *neighbours, wish *wishes) {
  for (uint32_t i = r->begin; i < r->end; i++) {
    const uint32_t cell = d->cells[i];
    const uint32_t begin = neighbours->first[cell], end = neighbours->first[cell + 1];
    double sum = 0;
    for (uint32_t k = begin; k < end; k++) {
      sum += d->position[neighbours->items[k]];
    }
    wishes[i - r->begin] =
        (wish){end > begin ? sum / (end - begin) : d->position[cell], cell, d->position[cell]};
  }
  qsort(wishes, r->end - r->begin, sizeof *wishes, compare_wishes);
  for (uint32_t i = r->begin; i < r->end; i++) {
    d->cells[i] = wishes[i - r->begin].cell;
    d->position[d->cells[i]] = i - r->begin;
  }
}

/* How many links cross each other between a row and the next. `sums` has room for the positions of
 * a row, as a tree of sums (Fenwick). */
static uint64_t count_crossings(const drawing *d, const row *r, uint32_t *sums) {
  const uint32_t size = r[1].end - r[1].begin;
  uint64_t crossings = 0;
  uint32_t num_links = 0;
  memset(sums, 0, (size + 1) * sizeof *sums);
  for (uint32_t i = r->begin; i < r->end; i++) {
    const uint32_t cell = d->cells[i];
    for (uint32_t k = d->down.first[cell]; k < d->down.first[cell + 1]; k++) {
      crossings += num_links;
      for (uint32_t at = d->position[d->down.items[k]] + 1; at > 0; at &= at - 1) {
        crossings -= sums[at];
      }
    }
    for (uint32_t k = d->down.first[cell]; k < d->down.first[cell + 1]; k++) {
      num_links++;
      for (uint32_t at = d->position[d->down.items[k]] + 1; at <= size; at += at & (~at + 1)) {
        sums[at]++;
      }
    }
  }
  return crossings;
}

static bool order_rows(drawing *d) {
  wish *wishes = take(d, d->num_cells, sizeof *wishes);
  uint32_t *sums = take(d, d->num_cells + 1, sizeof *sums);
  uint32_t *best = take(d, d->num_cells, sizeof *best); /* order so far */
  if (wishes == NULL || sums == NULL || best == NULL) {
    return false;
  }
  memcpy(best, d->cells, d->num_cells * sizeof *best);
  for (uint32_t p = 0; p < d->num_parts; p++) {
    const part *of = &d->parts[p];
    const uint32_t begin = d->rows[of->first_row].begin, end = d->rows[of->end_row - 1].end;
    uint64_t fewest = UINT64_MAX;
    for (int sweep = 0; sweep <= SWEEPS && end - begin > 1 && fewest > 0; sweep++) {
      uint64_t crossings = 0;
      for (uint32_t r = of->first_row; r + 1 < of->end_row; r++) {
        crossings += count_crossings(d, &d->rows[r], sums);
      }
      if (crossings < fewest) {
        fewest = crossings;
        memcpy(best + begin, d->cells + begin, (end - begin) * sizeof *best);
      }
      for (uint32_t r = of->first_row; r < of->end_row; r++) {
        const row *wanted = &d->rows[sweep % 2 == 0 ? r : of->end_row - 1 - (r - of->first_row)];
        order_row(d, wanted, sweep % 2 == 0 ? &d->up : &d->down, wishes);
      }
    }
  }
  memcpy(d->cells, best, d->num_cells * sizeof *d->cells);
  for (uint32_t r = 0; r < d->num_rows; r++) {
    for (uint32_t i = d->rows[r].begin; i < d->rows[r].end; i++) {
      d->position[d->cells[i]] = i - d->rows[r].begin;
    }
  }
  return true;
}

/* ---- heights ---- */

static double room_of(const drawing *d, uint32_t cell) {
  return cell < d->out->num_nodes ? (CST__BOX_HEIGHT + CST__BOX_SPACE) / 2.0 : BESIDE / 2.0;
}

/* Cells that stand as one, since their wishes overlap: their height, without the room of those
 * above. */
typedef struct block {
  double height, weight;
  uint32_t end; /* in the row */
} block;

/* Each cell of a row as near as its order allows to the mean of its neighbours: the squares of what
 * lacks are least (pool adjacent violators). Edges that run past want to be straight more than
 * nodes want their middle. */
static void settle_row(const drawing *d, const row *r, const lists *neighbours[2], block *blocks) {
  size_t count = 0;
  double room = 0;
  for (uint32_t i = r->begin; i < r->end; i++) {
    const uint32_t cell = d->cells[i];
    double sum = 0, weight = 0;
    for (int side = 0; side < 2; side++) {
      const lists *of = neighbours[side];
      for (uint32_t k = of->first[cell]; k < of->first[cell + 1]; k++) {
        const bool is_past = cell >= d->out->num_nodes || of->items[k] >= d->out->num_nodes;
        sum += (is_past ? 3 : 1) * d->height[of->items[k]];
        weight += is_past ? 3 : 1;
      }
    }
    room += i > r->begin ? room_of(d, d->cells[i - 1]) + room_of(d, cell) : 0;
    block next = {(weight > 0 ? sum / weight : d->height[cell]) - room, weight > 0 ? weight : 0.1,
                  i + 1};
    for (; count > 0 && blocks[count - 1].height >= next.height; count--) {
      const block *above = &blocks[count - 1];
      const double both = above->weight + next.weight;
      next.height = (above->height * above->weight + next.height * next.weight) / both;
      next.weight = both;
    }
    blocks[count++] = next;
  }
  size_t b = 0;
  room = 0;
  for (uint32_t i = r->begin; i < r->end; i++) {
    room += i > r->begin ? room_of(d, d->cells[i - 1]) + room_of(d, d->cells[i]) : 0;
    b += i == blocks[b].end;
    d->height[d->cells[i]] = blocks[b].height + room;
  }
}

static void settle_part(const drawing *d, part *of, block *blocks) {
  const lists *sides[3][2] = {{&d->up, &d->up}, {&d->down, &d->down}, {&d->up, &d->down}};
  for (int sweep = 0; sweep < SETTLES; sweep++) {
    const bool is_down = sweep % 2 == 0;
    for (uint32_t r = of->first_row; r < of->end_row; r++) {
      const row *wanted = &d->rows[is_down ? r : of->end_row - 1 - (r - of->first_row)];
      settle_row(d, wanted, sides[sweep >= SETTLES - 2 ? 2 : !is_down], blocks);
    }
  }
  double top = INFINITY, bottom = -INFINITY;
  for (uint32_t i = d->rows[of->first_row].begin; i < d->rows[of->end_row - 1].end; i++) {
    const double half = room_of(d, d->cells[i]);
    top = fmin(top, d->height[d->cells[i]] - half);
    bottom = fmax(bottom, d->height[d->cells[i]] + half);
  }
  for (uint32_t i = d->rows[of->first_row].begin; i < d->rows[of->end_row - 1].end; i++) {
    d->height[d->cells[i]] -= top;
  }
  const uint32_t layers = d->rows[of->end_row - 1].layer - d->rows[of->first_row].layer;
  of->width = (int32_t)layers * (CST__BOX_WIDTH + CST__BOX_GAP) + CST__BOX_WIDTH;
  of->height = (int32_t)ceil(bottom - top);
}

static bool settle(drawing *d) {
  block *blocks = take(d, d->num_cells, sizeof *blocks);
  d->height = take(d, d->num_cells, sizeof *d->height);
  if (blocks == NULL || d->height == NULL) {
    return false;
  }
  for (uint32_t r = 0; r < d->num_rows; r++) {
    double height = 0;
    for (uint32_t i = d->rows[r].begin; i < d->rows[r].end; i++) {
      height += room_of(d, d->cells[i]);
      d->height[d->cells[i]] = height;
      height += room_of(d, d->cells[i]);
    }
  }
  for (uint32_t p = 0; p < d->num_parts; p++) {
    settle_part(d, &d->parts[p], blocks);
  }
  return true;
}

/* ---- where the parts go ---- */

static int compare_parts(const void *left, const void *right) {
  const part *a = left, *b = right;
  if (a->height != b->height) {
    return a->height > b->height ? -1 : 1;
  }
  if (a->width != b->width) {
    return a->width > b->width ? -1 : 1;
  }
  return a->first_node < b->first_node ? -1 : a->first_node > b->first_node;
}

/* On shelves, the highest first, about twice as wide as high. */
static bool pack(drawing *d) {
  part *sorted = take(d, d->num_parts, sizeof *sorted);
  if (sorted == NULL) {
    return false;
  }
  double area = 0;
  int32_t widest = 0;
  for (uint32_t p = 0; p < d->num_parts; p++) {
    sorted[p] = d->parts[p];
    sorted[p].x = (int32_t)p; /* which it is */
    area += (double)(sorted[p].width + PART_SPACE) * (sorted[p].height + PART_SPACE);
    widest = widest > sorted[p].width ? widest : sorted[p].width;
  }
  qsort(sorted, d->num_parts, sizeof *sorted, compare_parts);
  const int32_t wanted = (int32_t)fmax(widest, sqrt(2 * area));
  int32_t x = 0, y = 0, shelf = 0;
  for (uint32_t p = 0; p < d->num_parts; p++) {
    if (x > 0 && x + sorted[p].width > wanted) {
      y += shelf + PART_SPACE;
      x = shelf = 0;
    }
    part *of = &d->parts[sorted[p].x];
    of->x = x;
    of->y = y;
    shelf = shelf > of->height ? shelf : of->height;
    x += of->width + PART_SPACE;
    d->out->width = d->out->width > of->x + of->width ? d->out->width : of->x + of->width;
    d->out->height = d->out->height > y + shelf ? d->out->height : y + shelf;
  }
  return true;
}

/* ---- nodes and edges ---- */

static cst__layout_point left_middle(const drawing *d, uint32_t cell) {
  const part *of = &d->parts[d->part_of[cell]];
  const uint32_t layer = d->layer[cell] - d->rows[of->first_row].layer;
  return (cst__layout_point){of->x + (int32_t)layer * (CST__BOX_WIDTH + CST__BOX_GAP),
                             of->y + (int32_t)lround(d->height[cell])};
}

static void place_nodes(const drawing *d) {
  for (uint32_t node = 0; node < d->out->num_nodes; node++) {
    cst__layout_point at = left_middle(d, node);
    at.y -= CST__BOX_HEIGHT / 2;
    d->out->corners[node] = at;
  }
}

/* What comes before the end of an edge: the last cell that it runs through. */
static uint32_t last_cell(const drawing *d, size_t e) {
  const uint32_t past = layers_past(d, e);
  return past > 0 ? d->chain[tail(d, e)] + past - 1 : tail(d, e);
}

/* Those that end at one node do so below each other, from the highest. */
static bool find_ports(const drawing *d, int32_t *port) {
  const size_t count = d->out->num_edges;
  wish *wishes = take(d, count, sizeof *wishes);
  uint32_t *key = take(d, count, sizeof *key);
  lists ending;
  if (wishes == NULL || key == NULL) {
    return false;
  }
  for (size_t e = 0; e < count; e++) {
    key[e] = is_loop(d, e) ? (uint32_t)NOWHERE : head(d, e);
  }
  if (!make_lists(d, d->out->num_nodes, count, key, NULL, &ending)) {
    return false;
  }
  for (uint32_t node = 0; node < d->out->num_nodes; node++) {
    const uint32_t begin = ending.first[node], size = ending.first[node + 1] - begin;
    for (uint32_t i = 0; i < size; i++) {
      const uint32_t e = ending.items[begin + i];
      wishes[i] = (wish){left_middle(d, last_cell(d, e)).y, e, i};
    }
    qsort(wishes, size, sizeof *wishes, compare_wishes);
    const double most = CST__BOX_HEIGHT - 12.0;
    const double step = size > 1 ? fmin(PORT, most / (size - 1)) : PORT;
    for (uint32_t i = 0; i < size; i++) {
      port[wishes[i].cell] = (int32_t)lround(step * (i - (size - 1) / 2.0));
      d->out->edges[wishes[i].cell].room = (int32_t)step;
    }
  }
  return true;
}

static void turn(cst__layout_point *points, size_t begin, size_t end) {
  for (; begin + 1 < end; begin++, end--) {
    const cst__layout_point point = points[begin];
    points[begin] = points[end - 1];
    points[end - 1] = point;
  }
}

static bool place_edges(drawing *d) {
  const size_t count = d->out->num_edges;
  int32_t *port = take(d, count, sizeof *port);
  size_t num_points = 0;
  for (size_t e = 0; e < count; e++) {
    num_points += 2 + 2 * (size_t)layers_past(d, e);
  }
  d->out->points = take(d, num_points, sizeof *d->out->points);
  if (port == NULL || d->out->points == NULL || !find_ports(d, port)) {
    return false;
  }
  cst__layout_point *points = d->out->points;
  size_t at = 0;
  for (size_t e = 0; e < count; e++) {
    cst__layout_edge *edge = &d->out->edges[e];
    edge->first = at;
    points[at] = left_middle(d, tail(d, e));
    points[at++].x += CST__BOX_WIDTH;
    for (uint32_t i = 0; i < layers_past(d, e); i++) {
      points[at++] = left_middle(d, d->chain[tail(d, e)] + i);
      points[at] = points[at - 1];
      points[at++].x += CST__BOX_WIDTH;
    }
    points[at] = left_middle(d, head(d, e));
    points[at++].y += is_loop(d, e) ? 0 : port[e];
    edge->end = at;
    if (d->is_reversed[e]) {
      turn(points, edge->first, edge->end);
    }
  }
  return true;
}

cst_status cst__graph_lay_out(cst__arena *arena, cst__graph_layout *layout, cst_error *error) {
  drawing d = {.arena = arena, .out = layout};
  layout->width = layout->height = 0;
  layout->corners = take(&d, layout->num_nodes, sizeof *layout->corners);
  d.is_reversed = take(&d, layout->num_edges, sizeof *d.is_reversed);
  if (layout->corners == NULL || d.is_reversed == NULL) {
    return cst__fail_memory(error, layout->num_nodes);
  }
  memset(d.is_reversed, 0, layout->num_edges * sizeof *d.is_reversed);
  if (!list_edges(&d) || !break_circles(&d) || !list_edges(&d) || !find_layers(&d) ||
      !make_cells(&d) || !find_parts(&d) || !make_rows(&d) || !order_rows(&d) || !settle(&d) ||
      !pack(&d)) {
    return cst__fail_memory(error, layout->num_nodes);
  }
  place_nodes(&d);
  return place_edges(&d) ? CST_OK : cst__fail_memory(error, layout->num_edges);
}
