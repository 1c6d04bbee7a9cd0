/* Plans: each spec checked against the Arrow schema once, so that batches need no look at names and
 * types.
 */
#include "tensor/kind.h"

static cst_status plan_fail_type(const cst__adapter_planner *p, cst_status code, const char *column,
                                 const cst__view *found, const char *expected, const char *hint) {
  char type[64];
  cst__view_type_name(found, type, sizeof type);
  cst__fail(p->error, code, hint, "column '%s' is %s, expected %s", column, type, expected);
  cst__error_add_path(p->error, p->spec->name, strlen(p->spec->name));
  return code;
}

cst_status cst__plan_fail(const cst__adapter_planner *p, const char *what) {
  cst__fail(p->error, CST_SCHEMA, NULL, "%s", what);
  cst__error_add_path(p->error, p->spec->name, strlen(p->spec->name));
  return CST_SCHEMA;
}

static int64_t plan_seek(const cst__adapter_planner *p, const cst__view *v, const char *name) {
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

static cst_status plan_child(const cst__adapter_planner *p, const cst__view *v, const char *name,
                             int64_t *index) {
  *index = plan_seek(p, v, name);
  if (*index >= 0) {
    return CST_OK;
  }
  cst__fail(p->error, CST_SCHEMA, "read the column, or leave the tensor out",
            "the batches have no column '%s'", name);
  cst__error_add_path(p->error, p->spec->name, strlen(p->spec->name));
  return CST_SCHEMA;
}

static const cst__view *plan_below_lists(const cst__view *v, size_t *num_lists) {
  while (cst__view_is_list(v)) {
    v = &v->children[0];
    *num_lists += 1;
  }
  return v;
}

/* Follows the path through structs and lists, and fills the plan's steps. */
static cst_status plan_follow(const cst__adapter_planner *p, cst__adapter_plan *plan,
                              cst__adapter_column *out) {
  const cst_tensor_spec *spec = p->spec;
  if (spec->num_path_steps == 0) {
    return cst__plan_fail(p, "the tensor names no column");
  }
  int64_t *steps = cst__arena_take(p->arena, spec->num_path_steps * sizeof *steps);
  if (steps == NULL) {
    return cst__fail_memory(p->error, spec->num_path_steps * sizeof *steps);
  }
  *out = (cst__adapter_column){.leaf = p->root};
  for (size_t i = 0; i < spec->num_path_steps; i++) {
    out->parent = plan_below_lists(out->leaf, &out->outer_lists);
    if (out->parent->layout != CST__LAYOUT_STRUCT) {
      return plan_fail_type(p, CST_SCHEMA, i > 0 ? spec->path[i - 1] : "", out->parent, "a struct",
                            NULL);
    }
    CST__TRY(plan_child(p, out->parent, spec->path[i], &steps[i]));
    out->leaf = &out->parent->children[steps[i]];
  }
  out->lists = out->leaf;
  out->leaf = plan_below_lists(out->leaf, &out->own_lists);
  plan->num_steps = spec->num_path_steps;
  plan->steps = steps;
  return CST_OK;
}

static cst_status plan_check_leaf(const cst__adapter_planner *p, const char *column,
                                  const cst__view *leaf, cst_dtype wanted, cst_dtype *dtype) {
  const char *expected = cst__dtype_is_integer(wanted) ? "integers"
                         : wanted == CST_DTYPE_BOOL    ? "bools"
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
        return plan_fail_type(p, CST_SCHEMA, column, leaf, expected, NULL);
      }
      return CST_OK;
    case CST__LAYOUT_BOOL:
      *dtype = CST_DTYPE_BOOL;
      if (!cst__dtype_fits(CST_DTYPE_BOOL, wanted)) {
        return plan_fail_type(p, CST_SCHEMA, column, leaf, expected, NULL);
      }
      return CST_OK;
    case CST__LAYOUT_HALF:
      return plan_fail_type(p, CST_UNSUPPORTED, column, leaf, expected,
                            "cast the column to float32");
    case CST__LAYOUT_STRUCT:
      return plan_fail_type(p, CST_SCHEMA, column, leaf, expected,
                            "name a field of the struct in the path");
    default:
      return plan_fail_type(p, CST_UNSUPPORTED, column, leaf, expected,
                            "cast the column to int64, float32 or binary");
  }
}

cst_status cst__plan_column(const cst__adapter_planner *p, cst__adapter_plan *plan,
                            cst__adapter_column *out) {
  CST__TRY(plan_follow(p, plan, out));
  return plan_check_leaf(p, p->spec->path[p->spec->num_path_steps - 1], out->leaf, p->spec->dtype,
                         &plan->dtype);
}

cst_status cst__plan_check_single(const cst__adapter_planner *p,
                                  const cst__adapter_column *column) {
  if (column->outer_lists == 0 && column->own_lists <= 1) {
    return CST_OK;
  }
  cst__fail(p->error, CST_SCHEMA, "make it a ragged tensor", "%zu levels of lists, expected one",
            column->outer_lists + column->own_lists);
  cst__error_add_path(p->error, p->spec->name, strlen(p->spec->name));
  return CST_SCHEMA;
}

cst_status cst__plan_single_column(const cst__adapter_planner *p, cst__adapter_plan *plan,
                                   cst__adapter_column *out) {
  CST__TRY(cst__plan_column(p, plan, out));
  return cst__plan_check_single(p, out);
}

cst_status cst__plan_sibling(const cst__adapter_planner *p, const cst__view *parent,
                             const char *name, int64_t *out) {
  size_t num_lists = 0;
  cst_dtype ignored;
  CST__TRY(plan_child(p, parent, name, out));
  const cst__view *leaf = plan_below_lists(&parent->children[*out], &num_lists);
  if (num_lists > 1) {
    return plan_fail_type(p, CST_SCHEMA, name, &parent->children[*out], "one level of lists", NULL);
  }
  if (leaf->layout == CST__LAYOUT_BOOL) {
    return plan_fail_type(p, CST_SCHEMA, name, leaf, "integers", NULL);
  }
  return plan_check_leaf(p, name, leaf, CST_DTYPE_INT64, &ignored);
}

bool cst__dtype_holds(cst_dtype dtype, int64_t value) {
  switch (dtype) {
    case CST_DTYPE_BOOL:
      return value == 0 || value == 1;
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

cst_status cst__plan_init(cst__adapter_plan *plan, const cst_tensor_spec *spec,
                          const cst__view *root, const cst__name_map *names, cst__arena *arena,
                          cst_error *error) {
  const cst__adapter_planner p = {spec, root, names, arena, error};
  *plan = (cst__adapter_plan){.spec = spec, .kind = cst__kind_of(spec->kind)};
  if (plan->kind == NULL) {
    return cst__fail(error, CST_INVALID_ARGUMENT, NULL, "unknown kind of tensor %d",
                     (int)spec->kind);
  }
  return plan->kind->plan(&p, plan);
}
