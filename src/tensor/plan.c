/* Plans: each spec checked against the Arrow schema once, so that batches need no look at names and
 * types.
 */
#include "tensor/tensor.h"

typedef struct planner {
  const cst_tensor_spec *spec;
  const cst__name_map *names; /* of the columns; NULL: they are few */
  cst__arena *arena;
  cst_error *error;
} planner;

static cst_status fail_type(const planner *p, cst_status code, const char *column,
                            const cst__view *found, const char *expected, const char *hint) {
  char type[64];
  cst__view_type_name(found, type, sizeof type);
  cst__fail(p->error, code, hint, "column '%s' is %s, expected %s", column, type, expected);
  cst__error_add_path(p->error, p->spec->name, strlen(p->spec->name));
  return code;
}

static cst_status fail_spec(const planner *p, const char *what) {
  cst__fail(p->error, CST_SCHEMA, NULL, "%s", what);
  cst__error_add_path(p->error, p->spec->name, strlen(p->spec->name));
  return CST_SCHEMA;
}

static int64_t seek_child(const planner *p, const cst__view *v, const char *name) {
  if (p->names != NULL) {
    size_t at = cst__name_map_find_of(p->names, v, name, strlen(name));
    return at != SIZE_MAX ? (int64_t)at : -1;
  }
  for (int64_t i = 0; i < v->num_children; i++) {
    if (strcmp(v->children[i].name, name) == 0) {
      return i;
    }
  }
  return -1;
}

static cst_status find_child(const planner *p, const cst__view *v, const char *name,
                             int64_t *index) {
  *index = seek_child(p, v, name);
  if (*index >= 0) {
    return CST_OK;
  }
  cst__fail(p->error, CST_SCHEMA, "read the column, or leave the tensor out",
            "the batches have no column '%s'", name);
  cst__error_add_path(p->error, p->spec->name, strlen(p->spec->name));
  return CST_SCHEMA;
}

static const cst__view *below_lists(const cst__view *v, size_t *num_lists) {
  while (cst__view_is_list(v)) {
    v = &v->children[0];
    *num_lists += 1;
  }
  return v;
}

/* What a column turned out to be. */
typedef struct found {
  const cst__view *parent; /* the struct that holds the column */
  const cst__view *leaf;
  size_t outer_lists; /* along the path, above the column */
  size_t own_lists;
} found;

/* Follows the path through structs and lists, and fills the plan's steps. */
static cst_status follow(const planner *p, const cst__view *root, cst__plan *plan, found *out) {
  const cst_tensor_spec *spec = p->spec;
  if (spec->num_path_steps == 0) {
    return fail_spec(p, "the tensor names no column");
  }
  int64_t *steps = cst__arena_take(p->arena, spec->num_path_steps * sizeof *steps);
  if (steps == NULL) {
    return cst__fail_memory(p->error, spec->num_path_steps * sizeof *steps);
  }
  *out = (found){.leaf = root};
  for (size_t i = 0; i < spec->num_path_steps; i++) {
    out->parent = below_lists(out->leaf, &out->outer_lists);
    if (out->parent->layout != CST__LAYOUT_STRUCT) {
      return fail_type(p, CST_SCHEMA, i > 0 ? spec->path[i - 1] : "", out->parent, "a struct",
                       NULL);
    }
    CST__TRY(find_child(p, out->parent, spec->path[i], &steps[i]));
    out->leaf = &out->parent->children[steps[i]];
  }
  out->leaf = below_lists(out->leaf, &out->own_lists);
  plan->num_steps = spec->num_path_steps;
  plan->steps = steps;
  return CST_OK;
}

static cst_status check_leaf(const planner *p, const char *column, const cst__view *leaf,
                             cst_dtype wanted, cst_dtype *dtype) {
  const char *expected = cst__dtype_is_integer(wanted) ? "integers"
                         : wanted == CST_DTYPE_BYTES   ? "strings or binary"
                                                       : "float32 or float64";
  switch (leaf->layout) {
    case CST__LAYOUT_NULL:
      *dtype = wanted;
      return CST_OK;
    case CST__LAYOUT_NUMBER:
    case CST__LAYOUT_BINARY:
    case CST__LAYOUT_BINARY_VIEW:
    case CST__LAYOUT_FIXED_BINARY:
      *dtype = leaf->dtype;
      if (!cst__dtype_fits(leaf->dtype, wanted)) {
        return fail_type(p, CST_SCHEMA, column, leaf, expected, NULL);
      }
      return CST_OK;
    case CST__LAYOUT_BOOL:
      return fail_type(p, CST_UNSUPPORTED, column, leaf, expected, "cast the column to uint8");
    case CST__LAYOUT_HALF:
      return fail_type(p, CST_UNSUPPORTED, column, leaf, expected, "cast the column to float32");
    case CST__LAYOUT_STRUCT:
      return fail_type(p, CST_SCHEMA, column, leaf, expected,
                       "name a field of the struct in the path");
    default:
      return fail_type(p, CST_UNSUPPORTED, column, leaf, expected,
                       "cast the column to int64, float32 or binary");
  }
}

/* A column beside the value column that holds lists of integers. */
static cst_status find_sibling(const planner *p, const cst__view *parent, const char *name,
                               int64_t *out) {
  size_t num_lists = 0;
  cst_dtype ignored;
  CST__TRY(find_child(p, parent, name, out));
  const cst__view *leaf = below_lists(&parent->children[*out], &num_lists);
  if (num_lists > 1) {
    return fail_type(p, CST_SCHEMA, name, &parent->children[*out], "one level of lists", NULL);
  }
  return check_leaf(p, name, leaf, CST_DTYPE_INT64, &ignored);
}

/* ---- kinds ---- */

static cst_status check_single(const planner *p, const found *f) {
  if (f->outer_lists == 0 && f->own_lists <= 1) {
    return CST_OK;
  }
  cst__fail(p->error, CST_SCHEMA, "make it a ragged tensor", "%zu levels of lists, expected one",
            f->outer_lists + f->own_lists);
  cst__error_add_path(p->error, p->spec->name, strlen(p->spec->name));
  return CST_SCHEMA;
}

bool cst__dtype_holds(cst_dtype dtype, int64_t value) {
  switch (dtype) {
    case CST_DTYPE_INT8:
      return value >= INT8_MIN && value <= INT8_MAX;
    case CST_DTYPE_INT16:
      return value >= INT16_MIN && value <= INT16_MAX;
    case CST_DTYPE_INT32:
      return value >= INT32_MIN && value <= INT32_MAX;
    case CST_DTYPE_UINT8:
      return value >= 0 && value <= UINT8_MAX;
    case CST_DTYPE_UINT16:
      return value >= 0 && value <= UINT16_MAX;
    case CST_DTYPE_UINT32:
      return value >= 0 && value <= UINT32_MAX;
    case CST_DTYPE_UINT64:
      return value >= 0;
    default:
      return true;
  }
}

static cst_status plan_dense(const planner *p, cst__plan *plan) {
  plan->row_size = 1;
  for (size_t i = 0; i < p->spec->num_dims; i++) {
    if (p->spec->dims[i] < 0 ||
        __builtin_mul_overflow(plan->row_size, p->spec->dims[i], &plan->row_size) ||
        plan->row_size > INT64_MAX / 64) {
      return fail_spec(p, "the shape has an unknown dimension, or too many values");
    }
  }
  if (p->spec->has_default && cst__dtype_is_integer(plan->dtype) &&
      !cst__dtype_holds(plan->dtype, p->spec->default_int)) {
    cst__fail(p->error, CST_SCHEMA, NULL, "the default %lld does not fit %s",
              (long long)p->spec->default_int, cst_dtype_name(plan->dtype));
    cst__error_add_path(p->error, p->spec->name, strlen(p->spec->name));
    return CST_SCHEMA;
  }
  return CST_OK;
}

static cst_status plan_sparse(const planner *p, cst__plan *plan, const found *f) {
  const cst_tensor_spec *spec = p->spec;
  if (spec->num_index_columns == 0 || spec->num_dims != spec->num_index_columns) {
    return fail_spec(p, "a sparse tensor needs as many dimensions as index columns, one at least");
  }
  int64_t *siblings = cst__arena_take(p->arena, spec->num_index_columns * sizeof *siblings);
  if (siblings == NULL) {
    return cst__fail_memory(p->error, spec->num_index_columns * sizeof *siblings);
  }
  for (size_t i = 0; i < spec->num_index_columns; i++) {
    CST__TRY(find_sibling(p, f->parent, spec->index_columns[i], &siblings[i]));
  }
  plan->siblings = siblings;
  return CST_OK;
}

/* Trailing uniform partitions are dimensions of the values. */
static cst_status plan_inner(const planner *p, cst__plan *plan) {
  const cst_tensor_spec *spec = p->spec;
  bool is_trailing = true;
  plan->inner_size = 1;
  for (size_t i = spec->num_partitions; i > 0; i--) {
    const cst_partition *part = &spec->partitions[i - 1];
    bool is_uniform = part->row_length_column == NULL;
    if (is_uniform && part->uniform_length <= 0) {
      return fail_spec(p, "a uniform row length has to be greater than 0");
    }
    is_trailing = is_trailing && is_uniform;
    if (is_trailing) {
      plan->num_inner++;
      if (__builtin_mul_overflow(plan->inner_size, part->uniform_length, &plan->inner_size)) {
        return fail_spec(p, "the uniform row lengths multiply to more than 2^63");
      }
    }
  }
  return CST_OK;
}

/* Row lengths divide the values of one slot of the parent, so such a slot has to hold one list of
 * them: as its type says, or because a flat column counts as lists of one, type null as no list. */
static bool has_one_list(const found *f) {
  return f->own_lists == 1 ||
         (f->own_lists == 0 && (f->outer_lists == 0 || f->leaf->layout == CST__LAYOUT_NULL));
}

static cst_status plan_ragged(const planner *p, cst__plan *plan, const found *f) {
  const cst_tensor_spec *spec = p->spec;
  CST__TRY(plan_inner(p, plan));
  bool is_flat = f->own_lists == 0 && (f->outer_lists == 0 || f->leaf->layout == CST__LAYOUT_NULL);
  plan->num_lists = f->outer_lists + f->own_lists + is_flat;
  if (spec->row_splits_dtype != CST_DTYPE_INT64 && spec->row_splits_dtype != CST_DTYPE_INT32) {
    return fail_spec(p, "row splits are int64 or int32");
  }
  if (spec->num_partitions == 0) {
    return CST_OK;
  }
  int64_t *siblings = cst__arena_take(p->arena, spec->num_partitions * sizeof *siblings);
  if (siblings == NULL) {
    return cst__fail_memory(p->error, spec->num_partitions * sizeof *siblings);
  }
  for (size_t i = 0; i < spec->num_partitions; i++) {
    const char *column = spec->partitions[i].row_length_column;
    siblings[i] = -1;
    if (column == NULL) {
      continue;
    }
    CST__TRY(find_sibling(p, f->parent, column, &siblings[i]));
    if (!has_one_list(f)) {
      return fail_spec(p, "row lengths need a value column of one level of lists");
    }
  }
  plan->siblings = siblings;
  return CST_OK;
}

static cst_status plan_structured(const planner *p, const cst__view *root, cst__plan *plan) {
  const cst_tensor_spec *spec = p->spec;
  size_t size = (spec->num_fields + 1) * sizeof *plan->fields;
  plan->fields = cst__arena_take_zero(p->arena, size);
  plan->num_fields = spec->num_fields;
  if (plan->fields == NULL) {
    return cst__fail_memory(p->error, size);
  }
  for (size_t i = 0; i < spec->num_fields; i++) {
    cst_status status =
        cst__plan_init(&plan->fields[i], &spec->fields[i], root, p->names, p->arena, p->error);
    if (status != CST_OK) {
      cst__error_add_path(p->error, spec->name, strlen(spec->name));
      return status;
    }
  }
  return CST_OK;
}

cst_status cst__plan_init(cst__plan *plan, const cst_tensor_spec *spec, const cst__view *root,
                          const cst__name_map *names, cst__arena *arena, cst_error *error) {
  planner p = {spec, names, arena, error};
  found f = {NULL, NULL, 0, 0};
  *plan = (cst__plan){.spec = spec};
  if (spec->kind == CST_TENSOR_STRUCTURED) {
    return plan_structured(&p, root, plan);
  }
  CST__TRY(follow(&p, root, plan, &f));
  CST__TRY(check_leaf(&p, spec->path[spec->num_path_steps - 1], f.leaf, spec->dtype, &plan->dtype));
  if (spec->kind == CST_TENSOR_RAGGED) {
    return plan_ragged(&p, plan, &f);
  }
  CST__TRY(check_single(&p, &f));
  return spec->kind == CST_TENSOR_DENSE    ? plan_dense(&p, plan)
         : spec->kind == CST_TENSOR_SPARSE ? plan_sparse(&p, plan, &f)
                                           : CST_OK;
}
