/* Which artifacts stay: what policies keep, what leases and running executions hold, and all that
 * these refer to. */
#include <stdio.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/interrupt.h"
#include "lineage/gc/gc.h"

static const int64_t LONGEST_RUN = INT64_C(7) * 24 * 3600 * CST__GC_US; /* without a lease */

static bool is_candidate(const cst__gc_artifact *a) { return a->state != CST_LINEAGE_DELETED; }

/* ---- leases and executions ---- */

/* A lease of an execution ends with it. An execution with leases lapses with the last of them. */
static void choose_leases(cst__gc_plan *plan) {
  cst__gc_lease *leases = plan->held.leases.items;
  cst__gc_execution *executions = plan->held.executions.items;
  const int64_t clock = cst__lineage_now();
  const int64_t now =
      plan->now < clock ? plan->now : clock; /* whatever time the caller says it is */
  for (size_t i = 0; i < plan->held.leases.count; i++) {
    const size_t of = cst__gc_find_execution(plan, leases[i].execution);
    leases[i].lasts = leases[i].expires > now && (leases[i].execution == 0 || of != CST__GC_NONE);
    if (of != CST__GC_NONE) {
      executions[of].has_lease = true;
      executions[of].is_held |= leases[i].lasts;
    }
  }
  for (size_t i = 0; i < plan->held.executions.count; i++) {
    cst__gc_execution *e = &executions[i];
    e->is_lapsed = e->has_lease ? !e->is_held : e->started <= now - LONGEST_RUN;
  }
}

static const cst__gc_execution *execution_of(const cst__gc_plan *plan, const cst__gc_event *event) {
  const size_t at = cst__gc_find_execution(plan, event->execution);
  return at != CST__GC_NONE ? (const cst__gc_execution *)plan->held.executions.items + at : NULL;
}

static void abandon_lapsed(cst__gc_plan *plan) {
  const cst__gc_event *events = plan->held.running.items;
  for (size_t i = 0; i < plan->held.running.count; i++) {
    const cst__gc_execution *e = execution_of(plan, &events[i]);
    cst__gc_artifact *a = cst__gc_artifact_at(plan, events[i].artifact);
    if (e != NULL && e->is_lapsed && events[i].is_output && a->state == CST_LINEAGE_PENDING) {
      a->state = CST_LINEAGE_ABANDONED;
      a->is_lapsed = true;
    }
  }
}

/* ---- policies ---- */

/* The values of a property, of each artifact: a letter for the kind, and a text. */
static cst_status read_values(cst__gc_plan *plan, const char *name, const char **values,
                              cst_error *error) {
  sqlite3_stmt *row;
  CST__TRY(cst__lineage_prepare(
      plan->store, "SELECT owner, value FROM property WHERE name = ? AND kind = 0", &row, error));
  cst__lineage_bind_text(row, 1, name);
  size_t near = 0;
  for (;;) {
    bool is_row;
    CST__TRY(cst__lineage_step(plan->store, row, &is_row, error));
    if (!is_row) {
      return CST_OK;
    }
    const size_t at = cst__gc_find(plan, sqlite3_column_int64(row, 0), near);
    if (at == CST__GC_NONE) {
      continue;
    }
    near = at;
    const char kind = "?irtbn"[sqlite3_column_type(row, 1) % 6];
    const char *text = cst__lineage_text(row, 1);
    const size_t size = (size_t)sqlite3_column_bytes(row, 1);
    char *copy = cst__arena_take(&plan->arena, size + 2);
    if (copy == NULL) {
      (void)sqlite3_reset(row);
      return cst__fail_memory(error, size + 2);
    }
    copy[0] = kind;
    memcpy(copy + 1, text, size);
    copy[size + 1] = '\0';
    values[at] = copy;
  }
}

typedef struct member {
  size_t group;
  size_t artifact;
  int64_t created;
} member;

/* Groups one after the other, the newest first. */
static int compare_members(const void *a, const void *b) {
  const member *x = a;
  const member *y = b;
  if (x->group != y->group) {
    return x->group < y->group ? -1 : 1;
  }
  if (x->created != y->created) {
    return x->created > y->created ? -1 : 1;
  }
  return (x->artifact < y->artifact) - (x->artifact > y->artifact);
}

typedef struct grouping {
  const char *const *by;
  size_t num_by;
  const char ***values; /* of each `by`, of each artifact; NULL: of "name" and "type" */
  cst__name_map map;    /* from keys to groups */
  cst__text key, label;
  const char **labels; /* of the groups */
  size_t num_groups;
  member *members;
  size_t num_members;
} grouping;

/* What an artifact has of the i-th thing that is grouped by: for the key, and in words. */
static void put_part(const cst__gc_plan *plan, grouping *g, size_t i, size_t artifact) {
  const cst__gc_artifact *a = cst__gc_artifact_at(plan, artifact);
  const char *type = ((const cst__gc_type *)plan->types.items)[a->type].name;
  const char *value = g->values[i] != NULL ? g->values[i][artifact] : NULL;
  const char *comma = i > 0 ? ", " : "";
  if (g->values[i] != NULL) {
    cst__text_printf(&g->key, "%zu:%s", value != NULL ? strlen(value) : 0, value ? value : "");
    cst__text_printf(&g->label, value != NULL ? "%s%s %.60s" : "%swithout %s", comma, g->by[i],
                     value != NULL ? value + 1 : "");
  } else if (strcmp(g->by[i], "name") == 0 && a->name != NULL) {
    cst__text_printf(&g->key, "n%s@", a->name);
    cst__text_printf(&g->label, "%s%s", comma, a->name);
  } else {
    cst__text_printf(&g->key, "t%s@", type);
    cst__text_printf(&g->label, "%s%s%s", comma, strcmp(g->by[i], "name") == 0 ? "unnamed " : "",
                     type);
  }
}

/* What has none of the properties, such as a view where spans are grouped by: by type and name. */
static void put_default(const cst__gc_plan *plan, grouping *g, size_t artifact) {
  const cst__gc_artifact *a = cst__gc_artifact_at(plan, artifact);
  const char *type = ((const cst__gc_type *)plan->types.items)[a->type].name;
  cst__text_printf(&g->key, "d%zu:%s%s", strlen(type), type, a->name != NULL ? a->name : "@");
  cst__text_printf(&g->label, "%s%s", a->name != NULL ? "" : "unnamed ",
                   a->name != NULL ? a->name : type);
}

static bool has_none(const grouping *g, size_t artifact) {
  bool has_properties = false;
  for (size_t i = 0; i < g->num_by; i++) {
    if (g->values[i] != NULL && g->values[i][artifact] != NULL) {
      return false;
    }
    has_properties |= g->values[i] != NULL;
  }
  return has_properties;
}

static cst_status join_group(cst__gc_plan *plan, grouping *g, size_t artifact, cst_error *error) {
  g->key.size = 0;
  g->label.size = 0;
  if (has_none(g, artifact)) {
    put_default(plan, g, artifact);
  }
  for (size_t i = 0; i < g->num_by && !has_none(g, artifact); i++) {
    put_part(plan, g, i, artifact);
  }
  if (g->key.failed || g->label.failed) {
    return cst__fail_memory(error, g->key.size);
  }
  size_t group = cst__name_map_find(&g->map, g->key.data, g->key.size);
  if (group == SIZE_MAX) {
    group = g->num_groups;
    const char *key = cst__arena_copy(&plan->arena, g->key.data, g->key.size);
    g->labels[group] = cst__arena_copy(&plan->arena, g->label.data, g->label.size);
    if (key == NULL || g->labels[group] == NULL ||
        !cst__name_map_add(&g->map, key, g->key.size, group)) {
      return cst__fail_memory(error, g->key.size);
    }
    g->num_groups++;
  }
  g->members[g->num_members++] =
      (member){group, artifact, cst__gc_artifact_at(plan, artifact)->created};
  return CST_OK;
}

static bool may_go(const cst__gc_plan *plan, const cst__gc_artifact *a) {
  return ((const cst__gc_type *)plan->types.items)[a->type].may_go;
}

static cst_status read_group_values(cst__gc_plan *plan, grouping *g, cst_error *error) {
  const size_t count = plan->artifacts.count;
  for (size_t i = 0; i < g->num_by; i++) {
    if (strcmp(g->by[i], "name") == 0 || strcmp(g->by[i], "type") == 0) {
      continue;
    }
    g->values[i] = cst__arena_take_zero(&plan->arena, (count + 1) * sizeof *g->values[i]);
    if (g->values[i] == NULL) {
      return cst__fail_memory(error, count * sizeof *g->values[i]);
    }
    CST__TRY(read_values(plan, g->by[i], g->values[i], error));
  }
  return CST_OK;
}

static cst_status find_newest(cst__gc_plan *plan, grouping *g, cst_error *error) {
  CST__TRY(read_group_values(plan, g, error));
  for (size_t i = 0; i < plan->artifacts.count; i++) {
    const cst__gc_artifact *a = cst__gc_artifact_at(plan, i);
    if (a->state == CST_LINEAGE_LIVE && may_go(plan, a)) {
      CST__TRY(join_group(plan, g, i, error));
    }
  }
  qsort(g->members, g->num_members, sizeof *g->members, compare_members);
  int64_t nth = 0;
  for (size_t i = 0; i < g->num_members; i++) {
    const member *m = &g->members[i];
    nth = i > 0 && m->group == g->members[i - 1].group ? nth + 1 : 0;
    if (nth < plan->options->keep) {
      cst__gc_artifact *a = cst__gc_artifact_at(plan, m->artifact);
      a->why = CST__GC_NEWEST;
      a->role = g->labels[m->group];
    }
  }
  return CST_OK;
}

static cst_status keep_newest(cst__gc_plan *plan, cst_error *error) {
  static const char *const by_name[] = {"name"};
  const cst_lineage_gc_options *options = plan->options;
  const size_t count = plan->artifacts.count;
  grouping g = {.by = options->group_by, .num_by = options->num_group_by};
  if (options->group_by == NULL || options->num_group_by == 0) {
    g.by = by_name;
    g.num_by = 1;
  }
  g.values = cst__arena_take_zero(&plan->arena, (g.num_by + 1) * sizeof *g.values);
  g.labels = cst__arena_take(&plan->arena, (count + 1) * sizeof *g.labels);
  g.members = cst__arena_take(&plan->arena, (count + 1) * sizeof *g.members);
  if (g.values == NULL || g.labels == NULL || g.members == NULL) {
    return cst__fail_memory(error, count * sizeof *g.members);
  }
  const cst_status status = find_newest(plan, &g, error);
  cst__name_map_reset(&g.map);
  cst__text_free(&g.key);
  cst__text_free(&g.label);
  return status;
}

static cst_status keep_by_policies(cst__gc_plan *plan, cst_error *error) {
  const cst_lineage_gc_options *options = plan->options;
  const int64_t oldest = INT64_MAX / CST__GC_US;
  const int64_t age = (options->max_age < oldest ? options->max_age : oldest) * CST__GC_US;
  if (options->keep > 0) {
    CST__TRY(keep_newest(plan, error));
  }
  for (size_t i = 0; i < plan->artifacts.count; i++) {
    cst__gc_artifact *a = cst__gc_artifact_at(plan, i);
    if (a->state != CST_LINEAGE_LIVE || a->why != CST__GC_GOES) {
      continue;
    }
    int64_t lived;
    const bool is_new = __builtin_sub_overflow(plan->now, a->created, &lived) || lived < age;
    a->why = options->keep == 0 && options->max_age == 0 ? CST__GC_NO_POLICY
             : !may_go(plan, a)                          ? CST__GC_TYPE
             : options->max_age > 0 && is_new            ? CST__GC_YOUNG
                                                         : CST__GC_GOES;
  }
  return CST_OK;
}

/* ---- what follows from what stays ---- */

typedef struct producer {
  size_t artifact;
  int64_t execution;
} producer;

/* Work that is to be done: each artifact is in each list once. */
typedef struct closure {
  size_t *stays, *leads_up;
  size_t num_stays, num_leads_up;
  producer *producers; /* in the order of artifacts */
  size_t num_producers;
} closure;

static void stay(cst__gc_plan *plan, closure *c, size_t artifact, cst__gc_why why, size_t because) {
  cst__gc_artifact *a = cst__gc_artifact_at(plan, artifact);
  if (is_candidate(a) && a->why == CST__GC_GOES) {
    a->why = why;
    a->because = because;
    c->stays[c->num_stays++] = artifact;
  }
}

static void lead_up(cst__gc_plan *plan, closure *c, size_t artifact, size_t origin) {
  cst__gc_artifact *a = cst__gc_artifact_at(plan, artifact);
  if (!a->leads_up) {
    a->leads_up = true;
    a->origin = origin;
    c->leads_up[c->num_leads_up++] = artifact;
  }
}

/* The first item of an array in the order of its first member, a size_t, that is `key`. */
static size_t lower_bound(const void *items, size_t count, size_t item_size, size_t key) {
  size_t begin = 0;
  for (size_t end = count; begin < end;) {
    const size_t middle = begin + (end - begin) / 2;
    const size_t at = *(const size_t *)(const void *)((const char *)items + middle * item_size);
    if (at < key) {
      begin = middle + 1;
    } else {
      end = middle;
    }
  }
  return begin;
}

static void follow_references(cst__gc_plan *plan, closure *c, size_t from, bool up) {
  const cst__gc_reference *references = plan->references.items;
  const size_t count = plan->references.count;
  const cst__gc_artifact *a = cst__gc_artifact_at(plan, from);
  for (size_t i = lower_bound(references, count, sizeof *references, from);
       i < count && references[i].from == from; i++) {
    cst__gc_artifact *to = cst__gc_artifact_at(plan, references[i].to);
    if (up) {
      stay(plan, c, references[i].to, CST__GC_ANCESTOR, a->origin);
      lead_up(plan, c, references[i].to, a->origin);
    } else if (is_candidate(to) && to->why == CST__GC_GOES) {
      to->role = references[i].role;
      stay(plan, c, references[i].to, CST__GC_REFERENCE, from);
    }
  }
}

/* The first event of an execution, which has many. */
static size_t first_event(const cst__gc_plan *plan, int64_t execution) {
  const cst__gc_event *events = plan->held.events.items;
  size_t begin = 0;
  for (size_t end = plan->held.events.count; begin < end;) {
    const size_t middle = begin + (end - begin) / 2;
    if (events[middle].execution < execution) {
      begin = middle + 1;
    } else {
      end = middle;
    }
  }
  return begin;
}

static void follow_inputs(cst__gc_plan *plan, closure *c, size_t of) {
  const size_t origin = cst__gc_artifact_at(plan, of)->origin;
  const cst__gc_event *events = plan->held.events.items;
  for (size_t i = lower_bound(c->producers, c->num_producers, sizeof *c->producers, of);
       i < c->num_producers && c->producers[i].artifact == of; i++) {
    const int64_t execution = c->producers[i].execution;
    for (size_t e = first_event(plan, execution);
         e < plan->held.events.count && events[e].execution == execution; e++) {
      if (!events[e].is_output) {
        stay(plan, c, events[e].artifact, CST__GC_ANCESTOR, origin);
        lead_up(plan, c, events[e].artifact, origin);
      }
    }
  }
}

static bool keeps_ancestors(const cst__gc_plan *plan, size_t artifact) {
  const size_t type = cst__gc_artifact_at(plan, artifact)->type;
  return ((const cst__gc_type *)plan->types.items)[type].keeps_ancestors;
}

static cst_status follow(cst__gc_plan *plan, closure *c, cst_error *error) {
  for (size_t steps = 1; c->num_stays > 0 || c->num_leads_up > 0; steps++) {
    if (c->num_stays > 0) {
      const size_t at = c->stays[--c->num_stays];
      follow_references(plan, c, at, false);
      if (keeps_ancestors(plan, at)) {
        lead_up(plan, c, at, at);
      }
    } else {
      const size_t at = c->leads_up[--c->num_leads_up];
      follow_references(plan, c, at, true);
      follow_inputs(plan, c, at);
    }
    if (steps % 4096 == 0) {
      CST__TRY(cst__interrupted(error));
    }
  }
  return CST_OK;
}

/* What is held though no policy keeps it. */
static void keep_held(cst__gc_plan *plan, closure *c) {
  const cst__gc_event *events = plan->held.running.items;
  for (size_t i = 0; i < plan->held.running.count; i++) {
    const size_t at = cst__gc_find_execution(plan, events[i].execution);
    if (at != CST__GC_NONE &&
        !((const cst__gc_execution *)plan->held.executions.items)[at].is_lapsed) {
      stay(plan, c, events[i].artifact, events[i].is_output ? CST__GC_OUTPUT : CST__GC_INPUT, at);
    }
  }
  const cst__gc_event *leased = plan->held.leased.items;
  const cst__gc_lease *leases = plan->held.leases.items;
  for (size_t i = 0, lease = 0; i < plan->held.leased.count; i++) {
    while (lease < plan->held.leases.count && leases[lease].id < leased[i].execution) {
      lease++;
    }
    if (lease < plan->held.leases.count && leases[lease].id == leased[i].execution &&
        leases[lease].lasts) {
      stay(plan, c, leased[i].artifact, CST__GC_LEASE, lease);
    }
  }
  for (size_t i = 0; i < plan->artifacts.count; i++) {
    if (cst__gc_artifact_at(plan, i)->state == CST_LINEAGE_PENDING) {
      stay(plan, c, i, CST__GC_PENDING, CST__GC_NONE);
    }
  }
}

static int compare_producers(const void *a, const void *b) {
  const producer *x = a;
  const producer *y = b;
  return x->artifact != y->artifact ? (x->artifact > y->artifact) - (x->artifact < y->artifact)
                                    : (x->execution > y->execution) - (x->execution < y->execution);
}

static cst_status close_over(cst__gc_plan *plan, cst_error *error) {
  const size_t count = plan->artifacts.count;
  const cst__gc_event *events = plan->held.events.items;
  closure c = {0};
  c.stays = cst__arena_take(&plan->arena, (count + 1) * sizeof *c.stays);
  c.leads_up = cst__arena_take(&plan->arena, (count + 1) * sizeof *c.leads_up);
  c.producers = cst__arena_take(&plan->arena, (plan->held.events.count + 1) * sizeof *c.producers);
  if (c.stays == NULL || c.leads_up == NULL || c.producers == NULL) {
    return cst__fail_memory(error, count * sizeof *c.stays);
  }
  for (size_t i = 0; i < plan->held.events.count; i++) {
    if (events[i].is_output) {
      c.producers[c.num_producers++] = (producer){events[i].artifact, events[i].execution};
    }
  }
  qsort(c.producers, c.num_producers, sizeof *c.producers, compare_producers);
  for (size_t i = 0; i < count; i++) {
    if (cst__gc_artifact_at(plan, i)->why != CST__GC_GOES) {
      c.stays[c.num_stays++] = i;
    }
  }
  keep_held(plan, &c);
  return follow(plan, &c, error);
}

cst_status cst__gc_choose(cst__gc_plan *plan, cst_error *error) {
  choose_leases(plan);
  abandon_lapsed(plan);
  CST__TRY(keep_by_policies(plan, error));
  return close_over(plan, error);
}
