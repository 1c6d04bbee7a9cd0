/* What a plan needs: steps and nodes that no output needs are left out, and the rest is numbered
 * anew; and the paths of the input that are left. */
#include <stdlib.h>
#include <string.h>

#include "base/names.h"
#include "query/plan/planning.h"

/* ---- marking ---- */

typedef struct step_marks {
  cst__query_plan *plan;
  uint8_t *marks; /* [steps] */
} step_marks;

static void mark_step(const step_marks *m, uint32_t step) {
  if (step != CST__NO_STEP) {
    m->marks[step] = 1;
  }
}

static void mark_part(const step_marks *m, const cst__output_part *part) {
  for (size_t i = 0; i < part->num_lists; i++) {
    mark_step(m, part->lists[i]);
  }
  mark_step(m, part->place);
  mark_step(m, part->valid);
  mark_step(m, part->values);
  for (size_t i = 0; i < part->num_children; i++) {
    mark_part(m, &part->children[i]);
  }
}

/* Steps use steps before them, so that one walk backwards finds all. */
static void mark_needed(const step_marks *m) {
  for (size_t i = m->plan->num_steps; i-- > 0;) {
    const cst__step *step = &m->plan->steps[i];
    for (size_t k = 0; m->marks[i] && k < step->num_args; k++) {
      mark_step(m, step->args[k]);
    }
    if (m->marks[i]) {
      mark_step(m, step->parent);
    }
  }
}

/* ---- numbering anew ---- */

static void renumber(const uint32_t *numbers, uint32_t *step) {
  if (*step != CST__NO_STEP) {
    *step = numbers[*step];
  }
}

static void renumber_part(const uint32_t *numbers, cst__output_part *part) {
  uint32_t *lists = (uint32_t *)(uintptr_t)part->lists; /* of this arena */
  for (size_t i = 0; i < part->num_lists; i++) {
    renumber(numbers, &lists[i]);
  }
  renumber(numbers, &part->place);
  renumber(numbers, &part->valid);
  renumber(numbers, &part->values);
  for (size_t i = 0; i < part->num_children; i++) {
    renumber_part(numbers, &part->children[i]);
  }
}

static void leave_out_steps(cst__query_plan *plan, const uint8_t *marks, uint32_t *numbers) {
  uint32_t count = 0;
  for (size_t i = 0; i < plan->num_steps; i++) {
    numbers[i] = marks[i] ? count : CST__NO_STEP;
    if (!marks[i]) {
      continue;
    }
    cst__step step = plan->steps[i];
    for (size_t k = 0; k < step.num_args; k++) {
      renumber(numbers, &step.args[k]);
    }
    renumber(numbers, &step.parent);
    plan->steps[count++] = step;
  }
  plan->num_steps = count;
  for (size_t i = 0; i < plan->num_parts; i++) {
    renumber_part(numbers, &plan->parts[i]);
  }
  renumber(numbers, &plan->records);
  renumber(numbers, &plan->origin);
}

/* ---- nodes ---- */

static void mark_nodes(const cst__query_plan *plan, uint8_t *marks) {
  for (size_t i = 0; i < plan->num_steps; i++) {
    if (plan->steps[i].node != CST__NO_STEP) {
      marks[plan->steps[i].node] = 1;
    }
  }
  for (size_t i = plan->num_nodes; i-- > 1;) {
    if (marks[i]) {
      marks[plan->nodes[i].parent] = 1;
    }
  }
  marks[0] = 1;
}

static void leave_out_nodes(cst__planning *p, const uint8_t *marks, uint32_t *numbers) {
  cst__query_plan *plan = p->plan;
  uint32_t count = 0;
  for (size_t i = 0; i < plan->num_nodes; i++) {
    numbers[i] = count;
    if (marks[i]) {
      p->belows[count] = p->belows[i];
      plan->nodes[count] = plan->nodes[i];
      if (i > 0) {
        plan->nodes[count].parent = numbers[plan->nodes[i].parent];
      }
      count++;
    }
  }
  plan->num_nodes = count;
  for (size_t i = 0; i < plan->num_steps; i++) {
    if (plan->steps[i].node != CST__NO_STEP) {
      plan->steps[i].node = numbers[plan->steps[i].node];
    }
  }
}

/* ---- paths ---- */

static int compare_path_names(const void *a, const void *b) {
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Sorted, each once. */
static size_t sort_paths(const char **paths, size_t count) {
  size_t kept = 0;
  if (count > 1) {
    qsort(paths, count, sizeof *paths, compare_path_names);
  }
  for (size_t i = 0; i < count; i++) {
    if (kept == 0 || strcmp(paths[kept - 1], paths[i]) != 0) {
      paths[kept++] = paths[i];
    }
  }
  return kept;
}

/* The name of a cheap field of structs of which only their number matters; NULL: there is none. */
static cst_status cheap_field(cst__planning *p, const void *below, const char **out) {
  *out = NULL;
  for (size_t i = 0; below != NULL; i++) {
    cst__source_field field;
    CST__TRY(p->source.tree->nth(&p->source, below, i, &field));
    if (field.name == NULL) {
      break;
    }
    if (!field.is_struct && !field.is_map && field.num_lists == 0) {
      *out = field.name;
      return CST_OK;
    }
  }
  return CST_OK;
}

typedef struct path_list {
  cst__planned_paths found;
  bool to_decode; /* structs of which nothing is wanted stand for a cheap field */
} path_list;

static cst_status add_node_path(cst__planning *p, uint32_t node, path_list *paths) {
  const char *more = NULL;
  cst_path steps;
  if (paths->to_decode && p->plan->nodes[node].format == NULL) {
    CST__TRY(cheap_field(p, p->belows[node], &more));
  }
  if (!cst__query_plan_steps(p->plan, node, more, &p->plan->arena, &steps)) {
    return cst__fail_memory(p->error, sizeof *steps.steps);
  }
  const char *path = cst__path_text(&steps, &p->plan->arena);
  if (path == NULL) {
    return cst__fail_memory(p->error, steps.count);
  }
  if (path[0] != '\0') {
    paths->found.items[paths->found.count++] = path;
  }
  return CST_OK;
}

/* The paths of the nodes that some steps read. */
static cst_status paths_of_steps(cst__planning *p, const uint8_t *marks, path_list *paths) {
  const cst__query_plan *plan = p->plan;
  uint8_t *below = cst__plan_take(p, plan->num_nodes + 1); /* something below is read */
  uint8_t *read = cst__plan_take(p, plan->num_nodes + 1);
  paths->found.items = cst__plan_take(p, (plan->num_nodes + 1) * sizeof *paths->found.items);
  if (below == NULL || read == NULL || paths->found.items == NULL) {
    return CST_NO_MEMORY;
  }
  for (size_t i = 0; i < plan->num_steps; i++) {
    if (marks[i] && plan->steps[i].node != CST__NO_STEP) {
      read[plan->steps[i].node] = 1;
    }
  }
  for (size_t i = plan->num_nodes; i-- > 1;) {
    below[plan->nodes[i].parent] |= (uint8_t)(below[i] | read[i]);
  }
  for (uint32_t i = 1; i < plan->num_nodes; i++) {
    if (read[i] && !below[i]) {
      CST__TRY(add_node_path(p, i, paths));
    }
  }
  paths->found.count = sort_paths(paths->found.items, paths->found.count);
  return CST_OK;
}

static cst_status output_paths(cst__planning *p, cst__query_output *output) {
  cst__query_plan *plan = p->plan;
  step_marks m = {.plan = plan, .marks = cst__plan_take(p, plan->num_steps + 1)};
  path_list paths = {0};
  if (m.marks == NULL) {
    return CST_NO_MEMORY;
  }
  for (size_t i = 0; i < output->num_columns; i++) {
    mark_part(&m, &plan->parts[output->first_column + i]);
  }
  mark_step(&m, plan->records);
  mark_step(&m, plan->origin);
  mark_needed(&m);
  CST__TRY(paths_of_steps(p, m.marks, &paths));
  output->paths = paths.found.items;
  output->num_paths = paths.found.count;
  return CST_OK;
}

/* What the filters read that choose among elements which become rows. */
static cst_status paths_of_rows(cst__planning *p) {
  cst__query_plan *plan = p->plan;
  step_marks rows = {.plan = plan, .marks = cst__plan_take(p, plan->num_steps + 1)};
  step_marks asked = {.plan = plan, .marks = cst__plan_take(p, plan->num_steps + 1)};
  path_list paths = {0};
  if (rows.marks == NULL || asked.marks == NULL) {
    return CST_NO_MEMORY;
  }
  mark_step(&rows, plan->records);
  mark_step(&rows, plan->origin);
  mark_needed(&rows);
  for (size_t i = 0; i < plan->num_steps; i++) {
    if (rows.marks[i] && plan->steps[i].kind == CST__STEP_FILTER) {
      mark_step(&asked, plan->steps[i].args[1]);
    }
  }
  mark_needed(&asked);
  CST__TRY(paths_of_steps(p, asked.marks, &paths));
  plan->of_rows = paths.found;
  return CST_OK;
}

static cst_status all_paths(cst__planning *p) {
  cst__query_plan *plan = p->plan;
  path_list paths = {.to_decode = true};
  path_list said = {0};
  uint8_t *marks = cst__plan_take(p, plan->num_steps + 1);
  if (marks == NULL) {
    return CST_NO_MEMORY;
  }
  memset(marks, 1, plan->num_steps);
  CST__TRY(paths_of_steps(p, marks, &paths));
  CST__TRY(paths_of_steps(p, marks, &said));
  plan->paths = paths.found;
  plan->sources = said.found;
  for (size_t i = 0; i < plan->num_outputs; i++) {
    CST__TRY(output_paths(p, &plan->outputs[i]));
  }
  return paths_of_rows(p);
}

cst_status cst__plan_prune(cst__planning *p) {
  cst__query_plan *plan = p->plan;
  size_t most = plan->num_steps > plan->num_nodes ? plan->num_steps : plan->num_nodes;
  uint32_t *numbers = cst__plan_take(p, (most + 1) * sizeof *numbers);
  uint8_t *node_marks = cst__plan_take(p, plan->num_nodes + 1);
  step_marks m = {.plan = plan, .marks = cst__plan_take(p, plan->num_steps + 1)};
  if (numbers == NULL || node_marks == NULL || m.marks == NULL) {
    return CST_NO_MEMORY;
  }
  for (size_t i = 0; i < plan->num_parts; i++) {
    mark_part(&m, &plan->parts[i]);
  }
  mark_step(&m, 0);
  mark_step(&m, plan->records);
  mark_step(&m, plan->origin);
  mark_needed(&m);
  leave_out_steps(plan, m.marks, numbers);
  mark_nodes(plan, node_marks);
  leave_out_nodes(p, node_marks, numbers);
  return all_paths(p);
}
