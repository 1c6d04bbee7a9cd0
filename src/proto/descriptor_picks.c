/* Marking the types and fields of a descriptor set that are needed. */
#include "proto/descriptor_picks.h"

#include <string.h>

#include "proto/descriptor_marks.h"

cst_status cst__descriptor_picks_new(const cst_descriptors *set, const cst__message_def *message,
                                     const cst_allocator *allocator, cst__descriptor_picks **out,
                                     cst_error *error) {
  cst__descriptor_picks *picks = cst__new_zero(allocator, sizeof *picks);
  if (picks == NULL) {
    return cst__fail_memory(error, sizeof *picks);
  }
  cst__arena_init(&picks->arena, allocator);
  picks->set = set;
  picks->message = message;
  picks->types = cst__arena_take_zero(&picks->arena, set->num_types * sizeof *picks->types);
  picks->open = cst__arena_take(&picks->arena, set->num_types * sizeof *picks->open);
  bool ok = picks->types != NULL && picks->open != NULL;
  for (size_t i = 0; ok && i < set->num_types; i++) {
    const cst__set_message *type = set->types[i].message;
    if (type != NULL) {
      picks->types[i].fields = cst__arena_take_zero(&picks->arena, type->def.num_fields + 1);
      ok = picks->types[i].fields != NULL;
    }
  }
  if (!ok) {
    cst__descriptor_picks_free(picks);
    return cst__fail_memory(error, set->num_types * sizeof *picks->types);
  }
  picks->types[cst__set_type_number(set, message->full_name)].is_kept = true;
  *out = picks;
  return CST_OK;
}

void cst__descriptor_picks_free(cst__descriptor_picks *picks) {
  if (picks != NULL) {
    cst__arena_reset(&picks->arena);
    cst__delete(picks);
  }
}

/* ---- marks ---- */

static void pick_whole(cst__descriptor_picks *picks, size_t number) {
  if (!picks->types[number].is_whole) {
    picks->types[number].is_whole = true;
    picks->open[picks->num_open++] = number;
  }
}

/* Those that come with protobuf are small, and known by all that they have. */
static bool pick_is_known(const char *full_name) {
  return strncmp(full_name, "google.protobuf.", 16) == 0 ||
         strncmp(full_name, "google.type.", 12) == 0;
}

static void pick_field(cst__descriptor_picks *picks, const cst__message_def *def, size_t i);

static void pick_type(cst__descriptor_picks *picks, const char *full_name) {
  size_t number = cst__set_type_number(picks->set, full_name);
  const cst__set_message *message = picks->set->types[number].message;
  if (picks->types[number].is_kept) {
    return;
  }
  picks->types[number].is_kept = true;
  if (message != NULL && pick_is_known(full_name)) {
    pick_whole(picks, number);
  }
  if (message != NULL && message->def.is_map_entry) { /* of no other map: this ends */
    pick_field(picks, &message->def, 0);
    pick_field(picks, &message->def, 1);
  }
}

static void pick_field(cst__descriptor_picks *picks, const cst__message_def *def, size_t i) {
  const cst__field_def *field = &def->fields[i];
  bool *marks = picks->types[cst__set_type_number(picks->set, def->full_name)].fields;
  if (marks[i]) {
    return;
  }
  marks[i] = true;
  if (field->message != NULL) {
    pick_type(picks, field->message->full_name);
  } else if (field->values != NULL) {
    pick_type(picks, field->values->full_name);
  }
}

/* A field with the others of its oneof. */
static void pick_choice(cst__descriptor_picks *picks, const cst__message_def *def,
                        const cst__field_def *field) {
  pick_field(picks, def, (size_t)(field - def->fields));
  for (size_t i = 0; field->oneof != 0 && i < def->num_fields; i++) {
    if (def->fields[i].oneof == field->oneof) {
      pick_field(picks, def, i);
    }
  }
}

/* Marks the fields of all messages that are whole, and those below them. */
static void pick_rest(cst__descriptor_picks *picks) {
  while (picks->num_open > 0) {
    const cst__set_message *message = picks->set->types[picks->open[--picks->num_open]].message;
    for (size_t i = 0; i < message->def.num_fields; i++) {
      const cst__message_def *below = message->def.fields[i].message;
      pick_field(picks, &message->def, i);
      if (below != NULL) {
        pick_whole(picks, cst__set_type_number(picks->set, below->full_name));
      }
    }
  }
}

/* ---- paths ---- */

typedef struct pick_step {
  const char *name;
  size_t size;
  bool in_parentheses; /* which are not part of the name */
} pick_step;

/* Takes the first step off a path. */
static pick_step pick_next_step(const char **path) {
  const char *at = *path;
  bool inside = *at == '(';
  size_t size = inside ? strcspn(at, ")") : strcspn(at, ".");
  pick_step step = {at + inside, size - inside, inside};
  at += size;
  at += inside && *at == ')';
  *path = at + (*at == '.');
  return step;
}

static bool pick_is_any(const cst__message_def *def) {
  return strcmp(def->full_name, "google.protobuf.Any") == 0;
}

/* What an Any is said to hold: "shop.Event", "type.googleapis.com/shop.Event". */
static const cst__message_def *pick_held(const cst__descriptor_picks *picks, pick_step step) {
  size_t begin = step.size;
  while (begin > 0 && step.name[begin - 1] != '/') {
    begin--;
  }
  return cst__descriptors_find(picks->set, step.name + begin, step.size - begin);
}

static const cst__field_def *pick_find_field(const cst__message_def *def, pick_step step) {
  return step.in_parentheses ? cst__extension_by_name(def, step.name, step.size)
                             : cst__field_by_name(def, step.name, step.size);
}

/* Picks what the step leads to. *below: the message there, or NULL. */
static bool pick_by_step(cst__descriptor_picks *picks, const cst__message_def *def, pick_step step,
                         const cst__message_def **below) {
  if (step.in_parentheses && pick_is_any(def)) {
    *below = pick_held(picks, step);
    if (*below != NULL) {
      pick_type(picks, (*below)->full_name);
    }
    return *below != NULL;
  }
  const cst__field_def *field = pick_find_field(def, step);
  if (field != NULL) {
    pick_choice(picks, def, field);
    *below = field->message;
  }
  return field != NULL;
}

bool cst__descriptor_picks_field(cst__descriptor_picks *picks, const cst__message_def *def,
                                 const char *step) {
  const cst__message_def *below;
  bool found = pick_by_step(picks, def, pick_next_step(&step), &below);
  pick_rest(picks);
  return found;
}

bool cst__descriptor_picks_path(cst__descriptor_picks *picks, const char *path, bool whole) {
  const cst__message_def *at = picks->message;
  bool found = true;
  while (found && *path != '\0') {
    pick_step step = pick_next_step(&path);
    found = at != NULL && pick_by_step(picks, at, step, &at);
  }
  if (found && whole && at != NULL) {
    pick_whole(picks, cst__set_type_number(picks->set, at->full_name));
  }
  pick_rest(picks);
  return found;
}

bool cst__descriptor_picks_message(cst__descriptor_picks *picks) {
  pick_whole(picks, cst__set_type_number(picks->set, picks->message->full_name));
  pick_rest(picks);
  size_t any = cst__set_type_number(picks->set, "google.protobuf.Any");
  return any != SIZE_MAX && picks->types[any].is_kept;
}

void cst__descriptor_picks_all(cst__descriptor_picks *picks) {
  for (size_t i = 0; i < picks->set->num_types; i++) {
    picks->types[i].is_kept = true;
    if (picks->set->types[i].message != NULL) {
      pick_whole(picks, i);
    }
  }
  pick_rest(picks);
}
