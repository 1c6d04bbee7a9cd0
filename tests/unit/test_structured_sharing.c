/* What projection, updates and promotion allocate does not depend on the number of rows: counted,
 * in blocks and bytes, for one row and for ten thousand.
 */
#include <stdatomic.h>
#include <stdlib.h>

#include "structured_support.h"

typedef struct counts {
  int64_t blocks;
  int64_t bytes;
} counts;

static void *counting_allocate(void *ctx, size_t size, size_t align) {
  counts *c = ctx;
  void *block = NULL;
  c->blocks++;
  c->bytes += (int64_t)size;
  return posix_memalign(&block, align < sizeof block ? sizeof block : align, size) == 0 ? block
                                                                                        : NULL;
}

static void counting_release(void *ctx, void *block, size_t size, size_t align) {
  (void)ctx;
  (void)size;
  (void)align;
  free(block);
}

/* As many equal rows, in an array whose results are counted. */
static cst_structured *repeated(const char *type, const char *row, int64_t rows,
                                const cst_allocator *allocator) {
  cst_array *one = array_sample(type, row);
  cst_array *many = NULL;
  cst_array *counted = NULL;
  struct ArrowArray moved;
  int64_t *zeros = calloc((size_t)rows, sizeof *zeros);
  CHECK(zeros != NULL);
  CHECK_EQ(cst_array_take(one, zeros, (size_t)rows, &many, NULL), CST_OK);
  free(zeros);
  CHECK_EQ(cst_array_export(many, &moved, NULL), CST_OK);
  CHECK_EQ(cst_array_import(cst_array_schema(many), &moved, CST_ARRAY_TRUSTED, allocator, &counted,
                            NULL),
           CST_OK);
  cst_array_release(one);
  cst_array_release(many);
  return structured_of(counted, false);
}

typedef cst_status (*operation)(const cst_structured *tensor, const cst_structured *value,
                                cst_structured **out, cst_error *error);

static const char *const row_type =
    "struct{id: int64, event: large_list<struct{id: int64, price: large_list<float64>, "
    "flag: bool}>, user: struct{name: string, age: int8}}";
static const char *const row =
    "{7, [{1, [0.5, 1.5], true}, {2, [], false}, {3, [2.5], true}], {'ann', 30}}";

/* What one call takes, of a tensor of as many rows. `value` has one number per row. */
static counts count_call(operation run, int64_t rows) {
  counts c = {0, 0};
  const cst_allocator allocator = {sizeof allocator, counting_allocate, counting_release, &c};
  cst_structured *tensor = repeated(row_type, row, rows, &allocator);
  cst_structured *value = repeated("float64", "0.25", rows, &allocator);
  cst_structured *out = NULL;
  cst_error error = CST_ERROR_INIT;
  c = (counts){0, 0};
  cst_status status = run(tensor, value, &out, &error);
  CHECK_STR(error.message, "");
  CHECK_EQ(status, CST_OK);
  counts made = c;
  cst_structured_release(out);
  cst_structured_release(tensor);
  cst_structured_release(value);
  return made;
}

static void check_as_one_row(operation run) {
  counts one = count_call(run, 1);
  counts many = count_call(run, 10000);
  CHECK(one.blocks > 0);
  CHECK_EQ(many.blocks, one.blocks);
  CHECK_EQ(many.bytes, one.bytes);
}

/* ---- projection ---- */

static cst_status take_price(const cst_structured *tensor, const cst_structured *value,
                             cst_structured **out, cst_error *error) {
  (void)value;
  const cst_path path = PATH("event", "price");
  return cst_structured_field(tensor, &path, out, error);
}

static cst_status take_fields(const cst_structured *tensor, const cst_structured *value,
                              cst_structured **out, cst_error *error) {
  (void)value;
  const char *names[] = {"name", "flags"};
  const cst_path paths[] = {PATH("user", "name"), PATH("event", "flag")};
  return cst_structured_fields(tensor, names, paths, 2, out, error);
}

TEST(projection_allocates_what_one_row_does) {
  check_as_one_row(take_price);
  check_as_one_row(take_fields);
}

/* ---- updates ---- */

static cst_status add_field(const cst_structured *tensor, const cst_structured *value,
                            cst_structured **out, cst_error *error) {
  const cst_field_update update = {PATH("score"), value};
  return cst_structured_update(tensor, &update, 1, out, error);
}

static cst_status replace_below(const cst_structured *tensor, const cst_structured *value,
                                cst_structured **out, cst_error *error) {
  const cst_field_update updates[] = {{PATH("user", "age"), value}, {PATH("event", "id"), NULL}};
  return cst_structured_update(tensor, updates, 2, out, error);
}

static cst_status remove_field(const cst_structured *tensor, const cst_structured *value,
                               cst_structured **out, cst_error *error) {
  (void)value;
  const cst_field_update update = {PATH("event", "price"), NULL};
  return cst_structured_update(tensor, &update, 1, out, error);
}

static cst_status keep_fields(const cst_structured *tensor, const cst_structured *value,
                              cst_structured **out, cst_error *error) {
  (void)value;
  const cst_path paths[] = {PATH("id"), PATH("event", "flag")};
  return cst_structured_only(tensor, paths, 2, out, error);
}

TEST(updates_allocate_what_one_row_does) {
  check_as_one_row(add_field);
  check_as_one_row(replace_below);
  check_as_one_row(remove_field);
  check_as_one_row(keep_fields);
}

/* The field of structs in lists beside the others: their lists are found to be the same. */
static cst_status put_back(const cst_structured *tensor, const cst_structured *value,
                           cst_structured **out, cst_error *error) {
  (void)value;
  const cst_path path = PATH("event", "id");
  cst_structured *ids = NULL;
  cst_status status = cst_structured_field(tensor, &path, &ids, error);
  if (status == CST_OK) {
    const cst_field_update update = {PATH("event", "same"), ids};
    status = cst_structured_update(tensor, &update, 1, out, error);
  }
  cst_structured_release(ids);
  return status;
}

TEST(updates_below_lists_allocate_what_one_row_does) { check_as_one_row(put_back); }

/* ---- promotion ---- */

static cst_status promote_from(const cst_structured *tensor, const cst_field_copy *copy,
                               cst_structured **out, cst_error *error) {
  return cst_structured_promote(tensor, copy, 1, out, error);
}

/* Over the lists that the structs lie in. */
static cst_status promote_id(const cst_structured *tensor, const cst_structured *value,
                             cst_structured **out, cst_error *error) {
  (void)value;
  const cst_field_copy copy = {PATH("event", "id"), {NULL, 0}, "ids", false};
  return promote_from(tensor, &copy, out, error);
}

/* Through structs alone. */
static cst_status promote_name(const cst_structured *tensor, const cst_structured *value,
                               cst_structured **out, cst_error *error) {
  (void)value;
  const cst_field_copy copy = {PATH("user", "name"), {NULL, 0}, "who", false};
  return promote_from(tensor, &copy, out, error);
}

TEST(promotion_over_one_level_of_lists_allocates_what_one_row_does) {
  check_as_one_row(promote_id);
  check_as_one_row(promote_name);
}

/* Over two levels, which become one. */
static cst_status promote_price(const cst_structured *tensor, const cst_structured *value,
                                cst_structured **out, cst_error *error) {
  (void)value;
  const cst_field_copy copy = {PATH("event", "price"), {NULL, 0}, NULL, false};
  return promote_from(tensor, &copy, out, error);
}

/* One buffer grows with the rows: the offsets of the lists that are made, eight bytes for each.
 * (What is rounded up to 64 bytes in it may differ.) */
TEST(promotion_over_several_levels_makes_offsets_alone) {
  enum { ROWS = 10000 };
  counts one = count_call(promote_price, 1);
  counts many = count_call(promote_price, ROWS);
  int64_t offsets = (ROWS - 1) * (int64_t)sizeof(int64_t);
  CHECK_EQ(many.blocks, one.blocks);
  CHECK(many.bytes - one.bytes >= offsets - 64);
  CHECK(many.bytes - one.bytes <= offsets + 64);
}
