/* The types of JSON values, from all of the records: what was seen at each path, with the first
 * place of each kind, and the least type that holds it all.
 *
 * null < bool; null < int64 < uint64 < float64; null < string < binary; lists; structs.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/exact.h"
#include "format/json/json.h"
#include "text/base64.h"
#include "text/number.h"

enum { MAX_NODES = 1 << 20 }; /* paths; beyond it the keys are rather data */

/* What was seen at a path. The order is that of places. */
enum {
  SEEN_BOOL,
  SEEN_INT,
  SEEN_NEGATIVE, /* an integer below 0 */
  SEEN_LARGE,    /* an integer above 2^63 - 1 */
  SEEN_INEXACT,  /* an integer that a float64 does not hold */
  SEEN_FLOAT,
  SEEN_SPECIAL, /* the string "NaN" or one of an infinity */
  SEEN_STRING,  /* any other */
  SEEN_LIST,
  SEEN_MARK, /* an object that stands for bytes */
  SEEN_OBJECT,
  NUM_SEEN
};

typedef struct place {
  size_t file;
  int64_t line;
} place;

typedef struct node {
  uint32_t seen; /* bits */
  uint32_t touched;
  uint32_t next_key;
  bool is_ignored;
  bool has_mark_key; /* a child may make an object stand for bytes */
  cst__json_key_text key;
  struct node *item;      /* of lists */
  struct node **children; /* of objects, by first appearance */
  const char *name;
  size_t name_size;
  place first[NUM_SEEN];
  yyjson_val *pending;
  size_t num_children;
  size_t capacity;
  uint32_t first_key;
  cst__name_map map;
} node;

struct cst__json_infer {
  cst_allocator allocator;
  cst__arena arena;
  const cst__table_files *files;
  const char *const *columns; /* wanted; NULL: all */
  size_t num_columns;
  cst__name_map wanted; /* their names */
  bool skip;
  node root;
  size_t num_nodes;
  cst__json_path path;
  place here;
  yyjson_val *failed;
  cst_error *error; /* of the call at hand */
};

enum { NO_CHILD = UINT32_MAX };

static void node_init(node *n) {
  *n = (node){.touched = NO_CHILD, .next_key = NO_CHILD, .first_key = NO_CHILD};
}

cst_status cst__json_infer_new(const cst__table_options *options, const cst__table_files *files,
                               cst__json_infer **out, cst_error *error) {
  cst__json_infer *infer = cst__new_zero(options->allocator, sizeof *infer);
  if (infer == NULL) {
    return cst__fail_memory(error, sizeof *infer);
  }
  infer->allocator = cst__allocator_of(options->allocator);
  cst__arena_init(&infer->arena, options->allocator);
  infer->files = files;
  infer->columns = options->columns;
  infer->num_columns = options->num_columns;
  infer->skip = options->skip;
  node_init(&infer->root);
  for (size_t i = 0; i < options->num_columns; i++) {
    if (!cst__name_map_add(&infer->wanted, options->columns[i], strlen(options->columns[i]), i)) {
      cst__json_infer_free(infer);
      return cst__fail_memory(error, sizeof(cst__name_slot));
    }
  }
  *out = infer;
  return CST_OK;
}

static void node_reset(node *n) {
  cst__name_map_reset(&n->map);
  for (size_t i = 0; i < n->num_children; i++) {
    node_reset(n->children[i]);
  }
  if (n->item != NULL) {
    node_reset(n->item);
  }
  cst__delete(n->children);
}

void cst__json_infer_free(cst__json_infer *infer) {
  if (infer != NULL) {
    node_reset(&infer->root);
    cst__name_map_reset(&infer->wanted);
    cst__arena_reset(&infer->arena);
    cst__delete(infer);
  }
}

/* ---- nodes ---- */

static node *new_node(cst__json_infer *infer) {
  if (infer->num_nodes >= MAX_NODES) {
    (void)cst__fail(infer->error, CST_LIMIT, "give a schema or types",
                    "more than %d different keys: cannot infer columns", MAX_NODES);
    return NULL;
  }
  node *n = cst__arena_take(&infer->arena, sizeof *n);
  if (n == NULL) {
    (void)cst__fail_memory(infer->error, sizeof *n);
    return NULL;
  }
  infer->num_nodes++;
  node_init(n);
  return n;
}

/* A child for a key that has none yet. */
static node *add_child(cst__json_infer *infer, node *parent, const char *key, size_t size) {
  if (memchr(key, '\0', size) != NULL) {
    (void)cst__fail(infer->error, CST_UNSUPPORTED, "give a schema or types without this key",
                    "a key that contains a NUL byte cannot be a column name");
    return NULL;
  }
  node *child = new_node(infer);
  void *children = parent->children;
  if (child == NULL) {
    return NULL;
  }
  child->name = cst__arena_copy(&infer->arena, key, size);
  child->name_size = size;
  bool ok = child->name != NULL && cst__json_key_init(&child->key, key, size, &infer->arena) &&
            cst__grow(&infer->allocator, &children, &parent->capacity, parent->num_children + 1,
                      sizeof(node *));
  parent->children = children;
  if (!ok || !cst__name_map_add(&parent->map, child->name, size, parent->num_children)) {
    (void)cst__fail_memory(infer->error, size);
    return NULL;
  }
  child->is_ignored = parent == &infer->root && infer->columns != NULL &&
                      cst__name_map_find(&infer->wanted, child->name, size) == SIZE_MAX;
  parent->has_mark_key |= size == 6 && memcmp(key, "base64", 6) == 0;
  parent->children[parent->num_children++] = child;
  return child;
}

/* The child of a key; the one that came here in the object before is tried first. */
static node *json_infer_find_child(cst__json_infer *infer, node *parent, uint32_t *next,
                                   yyjson_val *key) {
  const char *name = unsafe_yyjson_get_str(key);
  size_t size = unsafe_yyjson_get_len(key);
  if (*next != NO_CHILD) {
    node *expected = parent->children[*next];
    if (expected->name_size == size && memcmp(expected->name, name, size) == 0) {
      return expected;
    }
  }
  size_t at = cst__name_map_find(&parent->map, name, size);
  if (at == SIZE_MAX) {
    at = parent->num_children;
    if (add_child(infer, parent, name, size) == NULL) {
      infer->failed = key;
      return NULL;
    }
  }
  *next = (uint32_t)at;
  return parent->children[at];
}

/* ---- conflicts ---- */

static const char *seen_name(int kind) {
  static const char *const names[] = {
      [SEEN_BOOL] = "true or false",
      [SEEN_INT] = "a number",
      [SEEN_NEGATIVE] = "a negative integer",
      [SEEN_LARGE] = "an integer above 2^63-1",
      [SEEN_INEXACT] = "an integer that float64 cannot represent exactly",
      [SEEN_FLOAT] = "a number",
      [SEEN_SPECIAL] = "a string",
      [SEEN_STRING] = "a string",
      [SEEN_LIST] = "a list",
      [SEEN_MARK] = "an object",
      [SEEN_OBJECT] = "an object",
  };
  return names[kind];
}

/* "line 3", or "line 3 of part-2.json". */
static void write_place(const cst__json_infer *infer, place at, char *out, size_t n) {
  int size = snprintf(out, n, "line %" PRId64, at.line);
  if (at.file != infer->here.file && infer->files != NULL) {
    const char *name = infer->files->name(infer->files->ctx, at.file);
    const char *slash = strrchr(name, '/');
    (void)snprintf(out + size, n - (size_t)size, " of %.48s", slash != NULL ? slash + 1 : name);
  }
}

static cst_status fail_conflict(cst__json_infer *infer, const node *n, yyjson_val *value, int now,
                                int before) {
  char where[80];
  infer->failed = value;
  write_place(infer, n->first[before], where, sizeof where);
  return cst__fail(infer->error, CST_SCHEMA, "give a schema or types, or make the values alike",
                   "%s here, but %s in %s", seen_name(now), seen_name(before), where);
}

enum {
  BITS_NUMBER = 1 << SEEN_INT | 1 << SEEN_FLOAT,
  BITS_FLOAT = 1 << SEEN_FLOAT | 1 << SEEN_SPECIAL
};

/* The kinds that cannot stand beside one. */
static uint32_t conflicts_of(int kind) {
  switch (kind) {
    case SEEN_BOOL:
      return ~(1U << SEEN_BOOL);
    case SEEN_INT:
    case SEEN_FLOAT:
      return 1U << SEEN_BOOL | 1U << SEEN_STRING | 1U << SEEN_LIST | 1U << SEEN_MARK |
             1U << SEEN_OBJECT;
    case SEEN_SPECIAL:
      return 1U << SEEN_BOOL | 1U << SEEN_LIST | 1U << SEEN_OBJECT;
    case SEEN_STRING:
      return 1U << SEEN_BOOL | BITS_NUMBER | 1U << SEEN_LIST | 1U << SEEN_OBJECT;
    case SEEN_LIST:
      return ~(1U << SEEN_LIST);
    case SEEN_MARK:
      return 1U << SEEN_BOOL | BITS_NUMBER | 1U << SEEN_LIST;
    default:
      return ~(1U << SEEN_MARK | 1U << SEEN_OBJECT);
  }
}

static int lowest_bit(uint32_t bits) { return __builtin_ctz(bits); }

static void json_infer_note(cst__json_infer *infer, node *n, int kind) {
  if ((n->seen & 1U << kind) == 0) {
    n->seen |= 1U << kind;
    n->first[kind] = infer->here;
  }
}

static cst_status see(cst__json_infer *infer, node *n, int kind, yyjson_val *value) {
  uint32_t against = n->seen & conflicts_of(kind);
  if (against != 0) {
    return fail_conflict(infer, n, value, kind, lowest_bit(against));
  }
  json_infer_note(infer, n, kind);
  return CST_OK;
}

static bool has(const node *n, int kind) { return (n->seen & 1U << kind) != 0; }

/* The kind by which the column has to be float64; -1: it need not. */
static int float_reason(const node *n) {
  if ((n->seen & BITS_FLOAT) != 0) {
    return lowest_bit(n->seen & BITS_FLOAT);
  }
  return has(n, SEEN_LARGE) && has(n, SEEN_NEGATIVE) ? SEEN_NEGATIVE : -1;
}

/* Integers and floats in one column: none of the integers may lose anything. */
static cst_status check_exact(cst__json_infer *infer, const node *n, yyjson_val *value) {
  int reason = float_reason(n);
  if (!has(n, SEEN_INEXACT) || reason < 0) {
    return CST_OK;
  }
  char inexact[80];
  char other[80];
  infer->failed = value;
  write_place(infer, n->first[SEEN_INEXACT], inexact, sizeof inexact);
  write_place(infer, n->first[reason], other, sizeof other);
  return cst__fail(infer->error, CST_SCHEMA, "give a schema or types, or quote the numbers",
                   "an integer that float64 cannot represent exactly in %s, but %s in %s", inexact,
                   reason == SEEN_NEGATIVE ? "a negative one" : "a float", other);
}

/* ---- values ---- */

static cst_status json_infer_add_value(cst__json_infer *infer, node *n, yyjson_val *value);

/* With skip, the record will be dropped. */
static cst_status fail_huge(cst__json_infer *infer, yyjson_val *value, bool is_integer) {
  if (infer->skip) {
    return CST_OK;
  }
  infer->failed = value;
  return cst__fail(infer->error, CST_SCHEMA, "quote it, and it is a string",
                   is_integer ? "an integer beyond 64 bits" : "a number beyond float64");
}

static cst_status add_number(cst__json_infer *infer, node *n, yyjson_val *value) {
  const char *text = unsafe_yyjson_get_raw(value);
  cst__json_number number = cst__json_read_number(text, unsafe_yyjson_get_len(value));
  double wide;
  if (number.kind == CST__JSON_HUGE) {
    return fail_huge(infer, value, true);
  }
  if (number.kind == CST__JSON_FLOAT) {
    if (!cst__parse_float64(text, unsafe_yyjson_get_len(value), &wide)) {
      return fail_huge(infer, value, false);
    }
    CST__TRY(see(infer, n, SEEN_FLOAT, value));
  } else {
    CST__TRY(see(infer, n, SEEN_INT, value));
    if (number.i < 0) {
      json_infer_note(infer, n, SEEN_NEGATIVE);
    }
    if (number.kind == CST__JSON_UINT) {
      json_infer_note(infer, n, SEEN_LARGE);
    }
    if (!cst__float_holds(number.u, DBL_MANT_DIG)) {
      json_infer_note(infer, n, SEEN_INEXACT);
    }
  }
  return check_exact(infer, n, value);
}

static cst_status json_infer_add_string(cst__json_infer *infer, node *n, yyjson_val *value) {
  double special;
  if (!cst__json_read_special(unsafe_yyjson_get_str(value), unsafe_yyjson_get_len(value),
                              &special)) {
    return see(infer, n, SEEN_STRING, value);
  }
  CST__TRY(see(infer, n, SEEN_SPECIAL, value));
  return has(n, SEEN_INT) ? check_exact(infer, n, value) : CST_OK;
}

static cst_status json_infer_add_list(cst__json_infer *infer, node *n, yyjson_val *value) {
  yyjson_arr_iter items = yyjson_arr_iter_with(value);
  CST__TRY(see(infer, n, SEEN_LIST, value));
  if (n->item == NULL && (n->item = new_node(infer)) == NULL) {
    return infer->error->code;
  }
  size_t depth = infer->path.depth++;
  infer->path.steps[depth].name = NULL;
  for (size_t i = 0; i < items.max; i++) {
    infer->path.steps[depth].index = i;
    CST__TRY(json_infer_add_value(infer, n->item, yyjson_arr_iter_next(&items)));
  }
  infer->path.depth--;
  return CST_OK;
}

/* Notes the value of each child, the last one of a key that comes twice; *touched is a list of
 * them, which begins empty. */
static cst_status json_infer_collect(cst__json_infer *infer, node *n, yyjson_val *value,
                                     uint32_t *touched) {
  yyjson_obj_iter members = yyjson_obj_iter_with(value);
  uint32_t *next = &n->first_key;
  uint32_t *tail = touched;
  for (yyjson_val *key; (key = yyjson_obj_iter_next(&members)) != NULL;) {
    node *child = json_infer_find_child(infer, n, next, key);
    if (child == NULL) {
      return infer->error->code;
    }
    if (child->pending == NULL) {
      *tail = *next;
      tail = &child->touched;
      *tail = NO_CHILD;
    }
    child->pending = yyjson_obj_iter_get_val(key);
    next = &child->next_key;
  }
  return CST_OK;
}

static cst_status add_child_value(cst__json_infer *infer, node *child, yyjson_val *value) {
  size_t depth = infer->path.depth++;
  infer->path.steps[depth].name = child->name;
  infer->path.steps[depth].size = child->name_size;
  CST__TRY(child->is_ignored ? CST_OK : json_infer_add_value(infer, child, value));
  infer->path.depth--;
  return CST_OK;
}

static cst_status add_members(cst__json_infer *infer, node *n, yyjson_val *value) {
  uint32_t touched = NO_CHILD;
  cst_status status = json_infer_collect(infer, n, value, &touched);
  while (touched != NO_CHILD) {
    node *child = n->children[touched];
    yyjson_val *pending = child->pending;
    touched = child->touched;
    child->pending = NULL;
    if (status == CST_OK) {
      status = add_child_value(infer, child, pending);
    }
  }
  return status;
}

static cst_status add_object(cst__json_infer *infer, node *n, yyjson_val *value) {
  yyjson_val *mark = cst__json_base64_mark(value);
  size_t size;
  bool is_mark =
      mark != NULL && cst__base64_size(unsafe_yyjson_get_str(mark), unsafe_yyjson_get_len(mark),
                                       CST__BASE64_EXACT, &size);
  /* A mark among strings can only be bytes; else the objects after it may say that it is none. */
  CST__TRY(see(infer, n, is_mark ? SEEN_MARK : SEEN_OBJECT, value));
  return add_members(infer, n, value);
}

static cst_status json_infer_add_value(cst__json_infer *infer, node *n, yyjson_val *value) {
  switch (unsafe_yyjson_get_type(value)) {
    case YYJSON_TYPE_BOOL:
      return see(infer, n, SEEN_BOOL, value);
    case YYJSON_TYPE_RAW:
      return add_number(infer, n, value);
    case YYJSON_TYPE_STR:
      return json_infer_add_string(infer, n, value);
    case YYJSON_TYPE_ARR:
      return json_infer_add_list(infer, n, value);
    case YYJSON_TYPE_OBJ:
      return add_object(infer, n, value);
    default:
      return CST_OK;
  }
}

static cst_status add_record(cst__json_infer *infer, const cst__json_document *document,
                             const cst__json_record *record, yyjson_val *value, cst_error *error) {
  infer->error = error;
  infer->path.depth = 0;
  infer->failed = NULL;
  infer->here = (place){record->file, record->line};
  cst_status status = add_members(infer, &infer->root, value);
  if (status != CST_OK && status != CST_NO_MEMORY) {
    cst__json_add_path(&infer->path, error);
    cst__json_add_place(document, record, infer->failed, error);
  }
  infer->error = NULL;
  return status;
}

/* An error of our own is large: it is not set up for every record that goes well. */
static __attribute__((noinline)) cst_status add_unwatched(cst__json_infer *infer,
                                                          const cst__json_document *document,
                                                          const cst__json_record *record,
                                                          yyjson_val *value) {
  cst_error own = CST_ERROR_INIT; /* the status of some failures is read from it */
  return add_record(infer, document, record, value, &own);
}

cst_status cst__json_infer_add(cst__json_infer *infer, const cst__json_document *document,
                               const cst__json_record *record, yyjson_val *value,
                               cst_error *error) {
  return cst__error_wanted(error) ? add_record(infer, document, record, value, error)
                                  : add_unwatched(infer, document, record, value);
}

/* ---- records without anything new: the place after what is known; NULL: not known ---- */

/* The steps that known_value goes on to: it needs no frame itself then. */
#define OWN_FRAME __attribute__((noinline))
static const uint8_t *known_value(const uint8_t *at, cst__json_text *text, node *n);

static bool knows_number(const cst__json_digits *digits, const node *n) {
  double wide;
  if (!digits->is_whole) {
    return has(n, SEEN_FLOAT) && ((!digits->has_exponent && digits->size < DBL_MAX_10_EXP) ||
                                  cst__parse_float64(digits->text, digits->size, &wide));
  }
  if (digits->num_digits <= DBL_DIG) {
    return has(n, SEEN_INT) && (!digits->is_negative || has(n, SEEN_NEGATIVE));
  }
  cst__json_number number = cst__json_read_number((const char *)digits->text, digits->size);
  return number.kind != CST__JSON_HUGE && has(n, SEEN_INT) &&
         (number.i >= 0 || has(n, SEEN_NEGATIVE)) &&
         (number.kind != CST__JSON_UINT || has(n, SEEN_LARGE)) &&
         (cst__float_holds(number.u, DBL_MANT_DIG) || has(n, SEEN_INEXACT));
}

static OWN_FRAME const uint8_t *known_number(const uint8_t *at, const node *n) {
  cst__json_digits digits;
  at = cst__json_number_at(at, &digits);
  return at != NULL && knows_number(&digits, n) ? at : NULL;
}

static bool knows_string(const uint8_t *data, size_t size, const node *n) {
  enum { LONGEST = 9 }; /* of the words with a meaning: -Infinity */
  double special;
  bool is_special = size <= LONGEST && (*data == 'N' || *data == 'I' || *data == '-') &&
                    cst__json_read_special((const char *)data, size, &special);
  return has(n, is_special ? SEEN_SPECIAL : SEEN_STRING);
}

static bool knows_escaped(cst__json_span span, const node *n) {
  enum { MOST_SPELLED = 64 }; /* bytes of the words, each letter an escape */
  uint8_t plain[MOST_SPELLED + 1] = {0};
  size_t size;
  if (span.size > MOST_SPELLED) {
    return has(n, SEEN_STRING) && cst__json_escapes_are_sound(span);
  }
  return cst__json_unescape(span, plain, &size) && knows_string(plain, size, n);
}

static OWN_FRAME const uint8_t *known_long_string(const uint8_t *at, const node *n) {
  cst__json_span span;
  at = cst__json_string(at, &span);
  if (at == NULL) {
    return NULL;
  }
  bool is_known = __builtin_expect(span.has_escapes, 0) ? knows_escaped(span, n)
                                                        : knows_string(span.data, span.size, n);
  return is_known ? at : NULL;
}

static OWN_FRAME const uint8_t *known_string(const uint8_t *at, const node *n) {
  size_t size = cst__json_short_string(at);
  if (__builtin_expect(size == SIZE_MAX, 0)) {
    return known_long_string(at, n);
  }
  return knows_string(at + 1, size, n) ? at + size + 2 : NULL;
}

static OWN_FRAME const uint8_t *known_list(const uint8_t *at, cst__json_text *text, const node *n) {
  bool more = false;
  at = has(n, SEEN_LIST) ? cst__json_enter(at, text, ']', &more) : NULL;
  while (at != NULL && more) {
    at = known_value(at, text, n->item);
    at = at != NULL ? cst__json_next(at, text, ']', &more) : NULL;
  }
  return at;
}

/* The place after a key that is not the expected one, and its colon; *next becomes its child. */
static const uint8_t *find_known_key(const uint8_t *at, const node *n, uint32_t *next) {
  cst__json_span key;
  if (*at != '"' || (at = cst__json_string(at, &key)) == NULL || key.has_escapes) {
    return NULL;
  }
  size_t found = cst__name_map_find(&n->map, (const char *)key.data, key.size);
  if (found == SIZE_MAX) {
    return NULL;
  }
  *next = (uint32_t)found;
  return cst__json_mark(at, ':');
}

static const uint8_t *known_member(const uint8_t *at, cst__json_text *text, const node *n,
                                   uint32_t **next) {
  const uint8_t *value =
      **next != NO_CHILD ? cst__json_take_key(at, text, &n->children[**next]->key) : NULL;
  if (__builtin_expect(value == NULL, 0)) {
    value = find_known_key(at, n, *next);
    if (value == NULL) {
      return NULL;
    }
  }
  node *child = n->children[**next];
  *next = &child->next_key;
  value = cst__json_blanks(value);
  return child->is_ignored ? cst__json_skip_value(value, text) : known_value(value, text, child);
}

static OWN_FRAME const uint8_t *known_object(const uint8_t *at, cst__json_text *text, node *n) {
  uint32_t *next = &n->first_key;
  bool more;
  at = cst__json_enter(at, text, '}', &more);
  while (at != NULL && more) {
    at = known_member(at, text, n, &next);
    at = at != NULL ? cst__json_next(at, text, '}', &more) : NULL;
  }
  return at;
}

static const uint8_t *known_value(const uint8_t *at, cst__json_text *text, node *n) {
  switch (*at) {
    case '"':
      return known_string(at, n);
    case '[':
      return known_list(at, text, n);
    case '{': /* an object may be a mark only where there were marks, or no object */
      return has(n, SEEN_OBJECT) && !has(n, SEEN_MARK) && !n->has_mark_key
                 ? known_object(at, text, n)
                 : NULL;
    case 't':
      return has(n, SEEN_BOOL) ? cst__json_word(at, "true", 4) : NULL;
    case 'f':
      return has(n, SEEN_BOOL) ? cst__json_word(at, "false", 5) : NULL;
    case 'n':
      return cst__json_word(at, "null", 4);
    default:
      return known_number(at, n);
  }
}

bool cst__json_infer_knows(cst__json_infer *infer, const cst__json_record *record) {
  cst__json_text text = {record->data + record->size, CST__JSON_MAX_DEPTH};
  const uint8_t *at = cst__json_blanks(record->data);
  at = *at == '{' ? known_object(at, &text, &infer->root) : NULL;
  return at != NULL && cst__json_ends_at(at, &text);
}

/* ---- the types ---- */

static cst_status finish_node(const node *n, cst__json_types *types, cst__json_type *type,
                              cst_error *error);

static cst_status finish_struct(const node *n, cst__json_types *types, cst__json_type *type,
                                cst_error *error) {
  CST__TRY(cst__json_type_set(types, type, "+s", error));
  type->flags |= CST__JSON_CLOSED;
  CST__TRY(cst__json_type_children(types, type, n->num_children, error));
  for (size_t i = 0; i < n->num_children; i++) {
    const node *child = n->children[i];
    CST__TRY(cst__json_type_name(types, &type->children[i], child->name, child->name_size, error));
    CST__TRY(finish_node(child, types, &type->children[i], error));
  }
  return cst__json_type_close(type, error);
}

/* The format of a scalar. */
static const char *json_infer_scalar_of(const node *n) {
  if ((n->seen & BITS_NUMBER) != 0) {
    return float_reason(n) >= 0 ? "g" : has(n, SEEN_LARGE) ? "L" : "l";
  }
  if (has(n, SEEN_MARK)) {
    return "Z";
  }
  if (has(n, SEEN_STRING) || has(n, SEEN_SPECIAL)) {
    return "U";
  }
  return has(n, SEEN_BOOL) ? "b" : "n";
}

static cst_status finish_node(const node *n, cst__json_types *types, cst__json_type *type,
                              cst_error *error) {
  if (has(n, SEEN_OBJECT)) {
    return finish_struct(n, types, type, error);
  }
  if (has(n, SEEN_LIST)) {
    CST__TRY(cst__json_type_set(types, type, "+L", error));
    CST__TRY(cst__json_type_children(types, type, 1, error));
    return finish_node(n->item, types, &type->children[0], error);
  }
  const char *format = json_infer_scalar_of(n);
  type->flags = *format == 'g' ? CST__JSON_EXACT : 0;
  return cst__json_type_set(types, type, format, error);
}

static cst_status json_infer_fail_unknown(const node *root, const char *column, cst_error *error) {
  const char **names = cst__new(NULL, (root->num_children + 1) * sizeof *names);
  if (names == NULL) {
    return cst__fail_memory(error, root->num_children * sizeof *names);
  }
  for (size_t i = 0; i < root->num_children; i++) {
    names[i] = root->children[i]->name;
  }
  cst_status status = cst__json_fail_column(column, names, root->num_children, error);
  cst__delete(names);
  return status;
}

/* The keys that are not wanted are known all the same. */
static cst_status ignore_others(const node *root, cst__json_types *types, cst_error *error) {
  for (size_t i = 0; i < root->num_children; i++) {
    const node *child = root->children[i];
    if (!child->is_ignored) {
      continue;
    }
    const char *name = cst__arena_copy(&types->arena, child->name, child->name_size);
    if (name == NULL ||
        !cst__name_map_add(&types->root.map, name, child->name_size, CST__JSON_IGNORED)) {
      return cst__fail_memory(error, child->name_size);
    }
  }
  return CST_OK;
}

/* The wanted columns in their order. */
static cst_status finish_wanted(const cst__json_infer *infer, cst__json_types *types,
                                cst_error *error) {
  const node *root = &infer->root;
  types->root.flags = CST__JSON_CLOSED;
  CST__TRY(cst__json_type_children(types, &types->root, infer->num_columns, error));
  for (size_t i = 0; i < infer->num_columns; i++) {
    const char *name = infer->columns[i];
    size_t at = cst__name_map_find(&root->map, name, strlen(name));
    cst__json_type *type = &types->root.children[i];
    if (at == SIZE_MAX) {
      return json_infer_fail_unknown(root, name, error);
    }
    CST__TRY(cst__json_type_name(types, type, name, strlen(name), error));
    CST__TRY(finish_node(root->children[at], types, type, error));
  }
  CST__TRY(cst__json_type_close(&types->root, error));
  return ignore_others(root, types, error);
}

cst_status cst__json_infer_finish(cst__json_infer *infer, cst__json_types *types,
                                  cst_error *error) {
  types->is_inferred = true;
  return infer->columns != NULL ? finish_wanted(infer, types, error)
                                : finish_struct(&infer->root, types, &types->root, error);
}
