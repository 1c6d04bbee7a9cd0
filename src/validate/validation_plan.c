/* Plans of validations: the rules of a schema as they are looked up, and the tensors of its groups.
 */
#include <string.h>

#include "base/arguments.h"
#include "schema/schema.h"
#include "validate/validation.h"

/* ---- features ---- */

static cst_status plan_children(cst__validation_plan *plan, cst__feature_plan *parent,
                                const cst__rules *rules, size_t count, cst_error *error) {
  cst__arena *arena = &plan->arena;
  size_t size;
  if (!cst__mul(count + 1, sizeof *parent->children, &size)) {
    return cst__fail_memory(error, SIZE_MAX);
  }
  parent->children = cst__arena_take_zero(arena, size);
  if (parent->children == NULL) {
    return cst__fail_memory(error, size);
  }
  parent->first_child = plan->num_tallies;
  parent->num_children = count;
  plan->num_tallies += count;
  for (size_t i = 0; i < count; i++) {
    cst__feature_plan *child = &parent->children[i];
    const cst__domain *domain = &rules[i].domain;
    const cst_feature *feature = rules[i].feature;
    child->rules = &rules[i];
    if ((domain->num_values > 0 &&
         !cst__string_set_init(&child->strings, domain->values, domain->num_values, arena)) ||
        !cst__name_map_add(&parent->names, feature->name, feature->name_size, i)) {
      return cst__fail_memory(error, size);
    }
    CST__TRY(plan_children(plan, child, rules[i].children, rules[i].num_children, error));
  }
  return CST_OK;
}

static void reset_names(cst__feature_plan *feature) {
  cst__name_map_reset(&feature->names);
  for (size_t i = 0; feature->children != NULL && i < feature->num_children; i++) {
    reset_names(&feature->children[i]);
  }
}

/* ---- tensors ---- */

/* What several groups leave to inference is checked once; `inferred` has the names of such tensors
 * so far. */
static cst_status plan_tensors(cst__validation_plan *plan, const cst_specs *specs,
                               const char *group, cst__name_map *inferred, cst_error *error) {
  for (size_t i = 0; i < cst_specs_num_specs(specs); i++) {
    const cst_tensor_spec *spec = cst_specs_get(specs, i);
    size_t size = strlen(spec->name);
    if (!spec->is_explicit && cst__name_map_find(inferred, spec->name, size) != SIZE_MAX) {
      continue;
    }
    if (!spec->is_explicit && !cst__name_map_add(inferred, spec->name, size, 0)) {
      return cst__fail_memory(error, size);
    }
    plan->tensors[plan->num_tensors++] = (cst__tensor_plan){spec, group};
  }
  return CST_OK;
}

static cst_status plan_all_tensors(cst__validation_plan *plan, const char *const *groups,
                                   cst_error *error) {
  cst__name_map inferred = {0};
  cst_status status = CST_OK;
  for (size_t i = 0; i < plan->num_groups && status == CST_OK; i++) {
    const char *name = groups[i] != NULL ? groups[i] : "";
    const char *copy = cst__arena_copy(&plan->arena, name, strlen(name));
    status = copy == NULL ? cst__fail_memory(error, strlen(name))
                          : plan_tensors(plan, plan->groups[i], copy, &inferred, error);
  }
  cst__name_map_reset(&inferred);
  return status;
}

static cst_status plan_groups(cst__validation_plan *plan, const char *const *groups, size_t count,
                              bool legacy, cst_error *error) {
  size_t total = 0;
  plan->groups = cst__arena_take_zero(&plan->arena, (count + 1) * sizeof *plan->groups);
  if (plan->groups == NULL) {
    return cst__fail_memory(error, count);
  }
  for (size_t i = 0; i < count; i++) {
    cst_specs_options options = {.size = sizeof options,
                                 .group = groups[i],
                                 .legacy = legacy,
                                 .environment = plan->options->environment};
    CST__TRY(cst_specs_new(plan->book->schema, &options, &plan->groups[i], error));
    plan->num_groups = i + 1;
    total += cst_specs_num_specs(plan->groups[i]);
  }
  plan->tensors = cst__arena_take(&plan->arena, (total + 1) * sizeof *plan->tensors);
  return plan->tensors == NULL ? cst__fail_memory(error, total)
                               : plan_all_tensors(plan, groups, error);
}

/* ---- all of it ---- */

/* A hash of the schema and of all that the options say about the state. */
static cst_status find_mark(cst__validation_plan *plan, const cst__validation_source *source,
                            cst_error *error) {
  const cst_validate_options *o = plan->options;
  cst__text text = {0};
  char *bytes;
  size_t size;
  cst__text_printf(&text, "%d %d %d %zu %s", o->skip_tensors, o->ignore_unexpected,
                   source->legacy_specs, plan->max_places,
                   o->environment != NULL ? o->environment : "");
  for (size_t i = 0; i < plan->num_tensors; i++) {
    cst__text_puts(&text, plan->tensors[i].group);
    cst__text_append(&text, "", 1);
  }
  cst_status status = cst_schema_to_bytes(plan->book->schema, &bytes, &size, error);
  if (status == CST_OK) {
    cst__text_append(&text, bytes, size);
    cst_free(bytes);
    status = text.failed ? cst__fail_memory(error, size) : CST_OK;
  }
  plan->mark = status == CST_OK ? cst__hash(text.data, text.size, 0) : 0;
  cst__text_free(&text);
  return status;
}

cst_status cst__check_validate_options(const cst_validate_options *options, cst_error *error) {
  if (options->group == NULL && options->num_groups > 0) {
    return cst__missing("group", error);
  }
  for (size_t i = 0; i < options->num_groups; i++) {
    if (options->group[i] == NULL) {
      return cst__missing("a group's name", error);
    }
  }
  return CST_OK;
}

cst_status cst__validation_plan_init(cst__validation_plan *plan, const cst_schema *schema,
                                     const cst_validate_options *options,
                                     const cst__validation_source *source,
                                     const cst_allocator *allocator, cst_error *error) {
  const char *const usual[] = {source->group};
  bool is_usual = options->num_groups == 0;
  *plan = (cst__validation_plan){.options = options,
                                 .max_places = options->places > 0 ? options->places : 5,
                                 .num_tallies = 1};
  cst__arena_init(&plan->arena, allocator);
  CST__TRY(cst__rulebook_new(schema, options->environment, allocator, &plan->book, error));
  plan->pool = cst__arena_pool_new(allocator);
  if (plan->pool == NULL) {
    return cst__fail_memory(error, 64);
  }
  CST__TRY(plan_children(plan, &plan->root, plan->book->rules, plan->book->count, error));
  if (!options->skip_tensors) {
    CST__TRY(plan_groups(plan, is_usual ? usual : options->group,
                         is_usual ? 1 : options->num_groups, source->legacy_specs, error));
  }
  return find_mark(plan, source, error);
}

void cst__validation_plan_reset(cst__validation_plan *plan) {
  reset_names(&plan->root);
  for (size_t i = 0; i < plan->num_groups; i++) {
    cst_specs_release(plan->groups[i]);
  }
  if (plan->pool != NULL) {
    cst__arena_pool_release(plan->pool);
  }
  cst__rulebook_free(plan->book);
  cst__arena_reset(&plan->arena);
}
