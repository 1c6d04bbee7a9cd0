/* Pictures of lineage: the layout of graphs of any shape, and what the formats hold. What the page
 * does is tested in a browser: python/tests/test_lineage_page.py. */
#include <columnstone/lineage.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness.h"
#include "lineage/graph/graph_layout.h"

/* ---- the layout ---- */

static uint32_t next_random(uint64_t *state, uint32_t below) {
  *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (uint32_t)((*state >> 33) % below);
}

static void lay_out(cst__arena *arena, cst__graph_layout *layout) {
  cst__arena_init(arena, NULL);
  CHECK_EQ(cst__graph_lay_out(arena, layout, NULL), CST_OK);
}

static bool overlap(cst__layout_point a, cst__layout_point b) {
  return abs(a.x - b.x) < CST__BOX_WIDTH && abs(a.y - b.y) < CST__BOX_HEIGHT;
}

static size_t count_overlaps(const cst__graph_layout *layout) {
  size_t count = 0;
  for (size_t a = 0; a < layout->num_nodes; a++) {
    for (size_t b = a + 1; b < layout->num_nodes; b++) {
      count += overlap(layout->corners[a], layout->corners[b]);
    }
  }
  return count;
}

/* Edges begin and end at the sides of their nodes, and all is within the picture. */
static size_t count_faults(const cst__graph_layout *layout) {
  size_t faults = 0;
  for (size_t i = 0; i < layout->num_nodes; i++) {
    const cst__layout_point at = layout->corners[i];
    faults += at.x < 0 || at.y < 0 || at.x + CST__BOX_WIDTH > layout->width ||
              at.y + CST__BOX_HEIGHT > layout->height;
  }
  for (size_t e = 0; e < layout->num_edges; e++) {
    const cst__layout_edge *edge = &layout->edges[e];
    const cst__layout_point from = layout->corners[edge->from], to = layout->corners[edge->to];
    const cst__layout_point begin = layout->points[edge->first];
    const cst__layout_point end = layout->points[edge->end - 1];
    const bool is_forward = edge->from == edge->to || from.x < to.x;
    faults += begin.x != from.x + (is_forward ? CST__BOX_WIDTH : 0);
    faults += end.x != to.x + (is_forward ? 0 : CST__BOX_WIDTH);
    faults += begin.y < from.y || begin.y > from.y + CST__BOX_HEIGHT;
    faults += end.y < to.y || end.y > to.y + CST__BOX_HEIGHT;
    faults += (edge->end - edge->first) % 2;
  }
  return faults;
}

/* How many nodes the middle of an edge runs through: cells beside them are theirs. */
static size_t count_hits(const cst__graph_layout *layout) {
  size_t hits = 0;
  for (size_t e = 0; e < layout->num_edges; e++) {
    const cst__layout_edge *edge = &layout->edges[e];
    for (size_t p = edge->first + 1; p + 1 < edge->end; p++) {
      for (size_t i = 0; i < layout->num_nodes; i++) {
        const cst__layout_point at = layout->corners[i], point = layout->points[p];
        hits += point.x >= at.x && point.x <= at.x + CST__BOX_WIDTH && point.y > at.y &&
                point.y < at.y + CST__BOX_HEIGHT;
      }
    }
  }
  return hits;
}

TEST(random_graphs) {
  for (uint64_t seed = 1; seed <= 60; seed++) {
    uint64_t state = seed;
    const uint32_t nodes = 1 + next_random(&state, seed % 10 == 0 ? 300 : 30);
    const uint32_t edges = next_random(&state, 3 * nodes);
    cst__layout_edge list[900], again[900];
    for (uint32_t e = 0; e < edges; e++) { /* circles, loops and doubles among them */
      list[e] = (cst__layout_edge){next_random(&state, nodes), next_random(&state, nodes), 0, 0, 0};
      again[e] = list[e];
    }
    cst__graph_layout layout = {.num_nodes = nodes, .num_edges = edges, .edges = list};
    cst__graph_layout other = {.num_nodes = nodes, .num_edges = edges, .edges = again};
    cst__arena arena, second;
    lay_out(&arena, &layout);
    lay_out(&second, &other);
    CHECK_EQ(count_overlaps(&layout), 0);
    CHECK_EQ(count_faults(&layout), 0);
    CHECK_EQ(count_hits(&layout), 0);
    CHECK_MEM(layout.corners, other.corners, nodes * sizeof *layout.corners);
    CHECK_MEM(list, again, edges * sizeof *list);
    cst__arena_reset(&arena);
    cst__arena_reset(&second);
  }
}

/* What came of something stands to the right of it; a second input next to what it went into. */
TEST(layers) {
  cst__layout_edge edges[] = {
      {0, 1, 0, 0, 0}, {1, 2, 0, 0, 0}, {3, 2, 0, 0, 0}, {0, 2, 0, 0, 0}, {2, 0, 0, 0, 0}};
  cst__graph_layout layout = {.num_nodes = 5, .num_edges = 5, .edges = edges};
  cst__arena arena;
  lay_out(&arena, &layout);
  const int32_t step = CST__BOX_WIDTH + CST__BOX_GAP;
  CHECK_EQ(layout.corners[0].x, 0);
  CHECK_EQ(layout.corners[1].x, step);
  CHECK_EQ(layout.corners[2].x, 2 * step);
  CHECK_EQ(layout.corners[3].x, step);
  CHECK_EQ(edges[3].end - edges[3].first, 4);          /* past node 1 */
  CHECK_EQ(layout.points[edges[4].first].x, 2 * step); /* closes a circle: it runs back */
  CHECK_EQ(layout.points[edges[4].end - 1].x, CST__BOX_WIDTH);
  cst__arena_reset(&arena);
}

/* A tree whose order is given at random is drawn without crossings. */
TEST(trees_do_not_cross) {
  enum { NODES = 127 };
  cst__layout_edge edges[NODES - 1];
  for (uint32_t i = 1; i < NODES; i++) {
    edges[(i * 37) % (NODES - 1)] = (cst__layout_edge){(i - 1) / 2, i, 0, 0, 0};
  }
  cst__graph_layout layout = {.num_nodes = NODES, .num_edges = NODES - 1, .edges = edges};
  cst__arena arena;
  lay_out(&arena, &layout);
  for (size_t a = 0; a < NODES - 1; a++) {
    for (size_t b = 0; b < NODES - 1; b++) {
      const cst__layout_point *from = layout.corners;
      if (from[edges[a].from].x == from[edges[b].from].x &&
          from[edges[a].from].y < from[edges[b].from].y) {
        CHECK(from[edges[a].to].y < from[edges[b].to].y);
      }
    }
  }
  cst__arena_reset(&arena);
}

TEST(five_thousand_nodes) {
  enum { NODES = 5000 };
  static cst__layout_edge edges[3 * NODES];
  uint64_t state = 7;
  size_t count = 0;
  for (uint32_t i = 1; i < NODES; i++) {
    edges[count++] = (cst__layout_edge){i - 1 - next_random(&state, i < 40 ? i : 40), i, 0, 0, 0};
    edges[count++] = (cst__layout_edge){next_random(&state, 3) % i, i, 0, 0, 0};
  }
  cst__graph_layout layout = {.num_nodes = NODES, .num_edges = count, .edges = edges};
  cst__arena arena;
  lay_out(&arena, &layout);
  CHECK_EQ(count_overlaps(&layout), 0);
  CHECK_EQ(count_faults(&layout), 0);
  cst__arena_reset(&arena);
}

static int lay_out_without_memory(void *context) {
  cst__layout_edge edges[] = {{0, 1, 0, 0, 0}, {1, 2, 0, 0, 0}, {0, 2, 0, 0, 0}};
  cst__graph_layout layout = {.num_nodes = 3, .num_edges = 3, .edges = edges};
  cst__arena arena;
  (void)context;
  cst__arena_init(&arena, NULL);
  const cst_status status = cst__graph_lay_out(&arena, &layout, NULL);
  cst__arena_reset(&arena);
  return (int)status;
}

TEST(layout_without_memory) {
  FOR_EACH_ALLOCATION_FAILURE(lay_out_without_memory, NULL, CST_NO_MEMORY);
}

/* ---- the formats ---- */

static cst_lineage *new_store(const char *name) {
  cst_lineage_options options = CST_LINEAGE_OPTIONS_INIT;
  cst_lineage *store;
  options.mode = CST_LINEAGE_CREATE;
  CHECK_EQ(cst_lineage_open(harness_temp_path(name), &options, &store, NULL), CST_OK);
  return store;
}

static int64_t add(cst_lineage *store, const char *type, const char *name,
                   const cst_lineage_reference *reference) {
  cst_lineage_artifact artifact = CST_LINEAGE_ARTIFACT_INIT;
  const cst_lineage_property span = {.name = "span", .kind = CST_LINEAGE_INT, .number = 12};
  int64_t id = 0;
  artifact.type = type;
  artifact.name = name;
  artifact.properties = &span;
  artifact.num_properties = 1;
  artifact.references = reference;
  artifact.num_references = reference != NULL;
  CHECK_EQ(cst_lineage_add(store, &artifact, &id, NULL, NULL), CST_OK);
  return id;
}

/* A note that some data needs, a training with it, and its model. */
static cst_lineage *small_store(const char *name) {
  cst_lineage *store = new_store(name);
  const cst_lineage_reference needs = {"note", add(store, "Note", "note", NULL)};
  const cst_lineage_event input = {add(store, "Data", "sessions", &needs), "examples"};
  cst_lineage_execution train = CST_LINEAGE_EXECUTION_INIT;
  int64_t id;
  train.type = "train";
  train.inputs = &input;
  train.num_inputs = 1;
  CHECK_EQ(cst_lineage_start(store, &train, &id, NULL), CST_OK);
  CHECK_EQ(cst_lineage_output(store, id, add(store, "Model", "ranker", NULL), NULL, NULL), CST_OK);
  CHECK_EQ(cst_lineage_end(store, id, CST_LINEAGE_COMPLETE, NULL), CST_OK);
  return store;
}

static char *graph(cst_lineage *store, const char *format) {
  cst_lineage_graph_options options = CST_LINEAGE_GRAPH_OPTIONS_INIT;
  char *text = NULL;
  size_t size = 0;
  options.format = format;
  CHECK_EQ(cst_lineage_graph(store, &options, &text, &size, NULL), CST_OK);
  CHECK_EQ(strlen(text), size);
  return text;
}

/* Elements end in the order in which they begin, and what has to be escaped is; NULL: all is well,
 * or where it is not. */
static const char *check_xml(const char *at) {
  const char *open[32];
  size_t depth = 0;
  for (; *at != '\0'; at++) {
    if ((unsigned char)*at < 0x20 && *at != '\n') {
      return at;
    }
    if (*at == '&') {
      const char *entities[] = {"&amp;", "&lt;", "&gt;", "&quot;"};
      bool is_known = false;
      for (size_t i = 0; i < 4; i++) {
        is_known = is_known || strncmp(at, entities[i], strlen(entities[i])) == 0;
      }
      if (!is_known) {
        return at;
      }
    }
    if (*at != '<') {
      continue;
    }
    const char *begin = at;
    const char *end = at + 1;
    for (bool is_quoted = false; *end != '\0' && (is_quoted || *end != '>'); end++) {
      is_quoted ^= *end == '"';
      if (*end == '<') {
        return end;
      }
    }
    const size_t length = strcspn(begin + 1, " />");
    if (begin[1] == '/') {
      const size_t closed = strcspn(begin + 2, ">");
      if (depth == 0 || strncmp(open[--depth], begin + 2, closed) != 0) {
        return begin;
      }
    } else if (end[-1] != '/' && length > 0) {
      open[depth++] = begin + 1;
    }
    at = end;
  }
  return depth == 0 ? NULL : open[depth - 1];
}

/* Quotes and brackets of DOT. */
static bool is_dot(const char *at) {
  int brackets = 0, braces = 0;
  bool is_quoted = false;
  for (; *at != '\0'; at++) {
    if (is_quoted && *at == '\\') {
      at++;
    } else if (*at == '"') {
      is_quoted = !is_quoted;
    } else if (!is_quoted) {
      brackets += (*at == '[') - (*at == ']');
      braces += (*at == '{') - (*at == '}');
    }
    if (brackets < 0 || brackets > 1 || *at == '\0') {
      return false;
    }
  }
  return !is_quoted && brackets == 0 && braces == 0;
}

TEST(formats) {
  cst_lineage *store = small_store("formats.db");
  char *svg = graph(store, "svg"), *again = graph(store, "svg");
  CHECK_STR(svg, again);
  CHECK_STR(check_xml(svg), NULL);
  CHECK_CONTAINS(svg, "Lineage of formats.db: 3 artifacts, 1 execution<");
  CHECK_CONTAINS(svg, ">sessions@1</text>");
  CHECK_CONTAINS(svg, "<path class=\"e r\"");
  CHECK_CONTAINS(svg, ">note</text>");
  CHECK_CONTAINS(svg, "<title>input: examples</title>");
  CHECK_CONTAINS(svg, "@media (prefers-color-scheme: dark)");
  CHECK(strstr(svg, "light-dark") == NULL);
  cst_free(svg);
  cst_free(again);
  char *dot = graph(store, "dot");
  CHECK(is_dot(dot));
  CHECK_CONTAINS(dot, "artifact1 -> artifact2 [label=\"note\", style=dashed];\n");
  CHECK_CONTAINS(dot, "artifact2 -> execution1 [label=\"examples\"];\n");
  CHECK_CONTAINS(dot, "execution1 -> artifact3;\n");
  cst_free(dot);
  char *html = graph(store, NULL);
  CHECK_CONTAINS(html, "<!doctype html>");
  CHECK_CONTAINS(html, "<svg id=\"picture\"");
  CHECK_CONTAINS(html, "\"properties\":[[\"span\",\"int\",\"12\"]]");
  CHECK_CONTAINS(html, "\"edges\":[[0,1,\"note\",null,true],");
  cst_free(html);
  cst_lineage_free(store);
}

TEST(parts_of_a_store) {
  cst_lineage *store = small_store("parts.db");
  const int64_t model = 3;
  cst_lineage_graph_options options = CST_LINEAGE_GRAPH_OPTIONS_INIT;
  char *text;
  size_t size;
  options.format = "dot";
  options.artifacts = &model;
  options.num_artifacts = 1;
  options.directions = CST_LINEAGE_DOWN;
  CHECK_EQ(cst_lineage_graph(store, &options, &text, &size, NULL), CST_OK);
  CHECK_CONTAINS(text, "1 artifact, 0 executions");
  cst_free(text);
  options.directions = 0;
  CHECK_EQ(cst_lineage_graph(store, &options, &text, &size, NULL), CST_OK);
  CHECK_CONTAINS(text, "3 artifacts, 1 execution");
  cst_free(text);
  cst_lineage_free(store);
}

TEST(nothing) {
  cst_lineage *store = new_store("nothing.db");
  char *svg = graph(store, "svg"), *html = graph(store, "html"), *dot = graph(store, "dot");
  CHECK_STR(check_xml(svg), NULL);
  CHECK_CONTAINS(svg, "There is nothing here yet.");
  CHECK_CONTAINS(html, "\"nodes\":[]");
  CHECK(is_dot(dot));
  cst_free(svg);
  cst_free(html);
  cst_free(dot);
  cst_lineage_free(store);
}

/* What strangers may have in a store: SQLite takes any text. */
TEST(hostile_texts) {
  static const char *const names[] = {"</script><img src=x onerror=alert(1)>",
                                      "\"quoted\" & <b>\\",
                                      "two\nlines\x01\x7f",
                                      "\xff\xfe not UTF-8 \xc3",
                                      "\xe2\x80\xae turned",
                                      "\xef\xbf\xbf",
                                      "a very long name, much too long for the box of its node"};
  enum { NUM_NAMES = sizeof names / sizeof *names };
  cst_lineage *store = new_store("hostile.db");
  for (size_t i = 0; i < NUM_NAMES; i++) {
    char name[8];
    (void)snprintf(name, sizeof name, "n%zu", i);
    add(store, "Note", name, NULL);
  }
  cst_lineage_free(store);
  sqlite3 *db;
  CHECK_EQ(sqlite3_open(harness_temp_path("hostile.db"), &db), SQLITE_OK);
  for (int i = 0; i < NUM_NAMES; i++) {
    sqlite3_stmt *set;
    CHECK_EQ(sqlite3_prepare_v2(db, "UPDATE artifact SET name = ?, state = ?3 WHERE id = ?2", -1,
                                &set, NULL),
             SQLITE_OK);
    sqlite3_bind_text(set, 1, names[i], -1, SQLITE_STATIC);
    sqlite3_bind_int(set, 2, i + 1);
    sqlite3_bind_int(set, 3, i == 0 ? 77 : 0); /* and a state that there is not */
    CHECK_EQ(sqlite3_step(set), SQLITE_DONE);
    sqlite3_finalize(set);
  }
  sqlite3_close(db);
  CHECK_EQ(cst_lineage_open(harness_temp_path("hostile.db"), NULL, &store, NULL), CST_OK);
  char *svg = graph(store, "svg"), *html = graph(store, "html"), *dot = graph(store, "dot");
  CHECK_STR(check_xml(svg), NULL);
  CHECK(is_dot(dot));
  CHECK(strstr(svg, "<img") == NULL && strstr(html, "<img") == NULL);
  CHECK(strstr(svg, "\xe2\x80\xae") == NULL);
  CHECK_CONTAINS(svg, ">a very long na…@1</text>");
  CHECK_CONTAINS(dot, "\\\"quoted\\\" &amp; <b>\\\\@1\\nNote");
  CHECK_CONTAINS(html, "\"label\":\"\\u003c/script>\\u003cimg src=x onerror=alert(1)>@1\"");
  cst_free(svg);
  cst_free(html);
  cst_free(dot);
  cst_lineage_free(store);
}

TEST(too_much) {
  cst_lineage *store = new_store("many.db");
  CHECK_EQ(cst_lineage_begin(store, NULL), CST_OK);
  const cst_lineage_reference needs = {"note", add(store, "Note", "old", NULL)};
  for (int i = 0; i < 2099; i++) {
    add(store, "Note", NULL, i == 2098 ? &needs : NULL);
  }
  CHECK_EQ(cst_lineage_commit(store, NULL), CST_OK);
  char *svg = graph(store, "svg"), *html = graph(store, "html");
  CHECK_CONTAINS(svg, "2000 artifacts, 0 executions");
  CHECK_CONTAINS(svg, ">Not drawn: 100 artifacts and 0 executions, which are older.");
  CHECK_CONTAINS(html, "\"left\":\"Not drawn: 100 artifacts");
  CHECK_CONTAINS(html, "\"away\":[[\"note\",\"old@1\"]]");
  cst_free(svg);
  cst_free(html);
  cst_lineage_free(store);
}

TEST(arguments) {
  cst_lineage *store = new_store("arguments.db");
  cst_lineage_graph_options options = CST_LINEAGE_GRAPH_OPTIONS_INIT;
  const int64_t nobody = 17;
  char *text;
  size_t size;
  CHECK_EQ(cst_lineage_graph(NULL, NULL, &text, &size, NULL), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_lineage_graph(store, NULL, NULL, &size, NULL), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_lineage_graph(store, NULL, &text, NULL, NULL), CST_INVALID_ARGUMENT);
  options.format = "png";
  CHECK_EQ(cst_lineage_graph(store, &options, &text, &size, NULL), CST_INVALID_ARGUMENT);
  options.format = "svg";
  options.artifacts = &nobody;
  options.num_artifacts = 1;
  CHECK_EQ(cst_lineage_graph(store, &options, &text, &size, NULL), CST_NOT_FOUND);
  CHECK(text == NULL);
  cst_lineage_free(store);
}

static int draw_without_memory(void *context) {
  cst_lineage_options options = CST_LINEAGE_OPTIONS_INIT;
  cst_lineage *store = NULL;
  char *text = NULL;
  size_t size;
  (void)context;
  options.mode = CST_LINEAGE_READ;
  cst_status status = cst_lineage_open(harness_temp_path("memory.db"), &options, &store, NULL);
  if (status == CST_OK) {
    status = cst_lineage_graph(store, NULL, &text, &size, NULL);
  }
  cst_free(text);
  cst_lineage_free(store);
  return (int)status;
}

TEST(without_memory) {
  cst_lineage_free(small_store("memory.db"));
  FOR_EACH_ALLOCATION_FAILURE(draw_without_memory, NULL, CST_NO_MEMORY);
}
