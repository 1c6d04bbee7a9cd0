/* The steps over what nobody wants. A record that has records in it is stepped over by a call, so
 * that the number of steps stays that of the schema, and records may hold themselves. */
#include "avro/avro_program.h"

enum { MOST_LEAST = 1 << 20 /* more is not told */ };

/* 0 means that it never takes any: records hold each other without an end only in unions, lists and
 * maps, which are not looked into. */
static int64_t least_of_record(cst__avro_maker *m, const cst__avro_type *type) {
  size_t known = cst__name_map_find_of(&m->sizes, type, "", 0);
  if (known != SIZE_MAX) {
    return *(const int64_t *)(uintptr_t)known;
  }
  int64_t *note = cst__arena_take_zero(&m->program->arena, sizeof *note);
  if (note == NULL || !cst__name_map_add_of(&m->sizes, type, "", 0, (size_t)(uintptr_t)note)) {
    m->no_memory = true;
    return 1;
  }
  int64_t sum = 0;
  for (size_t i = 0; i < type->num_fields && sum < MOST_LEAST; i++) {
    sum += cst__avro_least_size(m, type->fields[i].type);
  }
  *note = sum < MOST_LEAST ? sum : MOST_LEAST;
  return *note;
}

int64_t cst__avro_least_size(cst__avro_maker *m, const cst__avro_type *type) {
  int64_t least = MOST_LEAST;
  switch (type->kind) {
    case CST__AVRO_NULL:
      return 0;
    case CST__AVRO_FLOAT:
      return 4;
    case CST__AVRO_DOUBLE:
      return 8;
    case CST__AVRO_FIXED:
      return (int64_t)(type->size < MOST_LEAST ? type->size : MOST_LEAST);
    case CST__AVRO_RECORD:
      return least_of_record(m, type);
    case CST__AVRO_UNION:
      for (size_t i = 0; i < type->num_branches; i++) {
        const cst__avro_type *branch = type->branches[i];
        int64_t size = branch->kind == CST__AVRO_RECORD ? 0 : cst__avro_least_size(m, branch);
        least = size < least ? size : least;
      }
      return 1 + least;
    default:
      return 1;
  }
}

/* True if there is a record in a value of the type. */
static bool has_records(const cst__avro_type *type) {
  switch (type->kind) {
    case CST__AVRO_RECORD:
      return true;
    case CST__AVRO_ARRAY:
    case CST__AVRO_MAP:
      return has_records(type->items);
    case CST__AVRO_UNION:
      for (size_t i = 0; i < type->num_branches; i++) {
        if (has_records(type->branches[i])) {
          return true;
        }
      }
      return false;
    default:
      return false;
  }
}

static bool is_flat(const cst__avro_type *type) {
  enum { FEW = 16 };
  bool flat = type->num_fields <= FEW;
  for (size_t i = 0; flat && i < type->num_fields; i++) {
    flat = !has_records(type->fields[i].type);
  }
  return flat;
}

/* Adds to the step before, if it does the same and nothing goes on in between. */
static cst_status skip_more(cst__avro_maker *m, cst__avro_op op, int64_t number) {
  cst__avro_program *program = m->program;
  cst__avro_step *last = program->count > 0 ? &program->steps[program->count - 1] : NULL;
  if (last != NULL && program->count > m->barrier && last->op == op &&
      last->number < INT64_MAX - number) {
    last->number += number;
    return CST_OK;
  }
  return number > 0 ? cst__avro_emit(m, &(cst__avro_step){.op = op, .number = number}) : CST_OK;
}

static cst_status skip_fields(cst__avro_maker *m, const cst__avro_type *type) {
  const cst__avro_place *above = m->place;
  for (size_t i = 0; i < type->num_fields; i++) {
    cst__avro_place *place = cst__arena_take(&m->program->arena, sizeof *place);
    if (place == NULL) {
      return cst__fail_memory(m->error, sizeof *place);
    }
    *place = (cst__avro_place){type->fields[i].name, above};
    m->place = place;
    CST__TRY(cst__avro_emit_skip(m, type->fields[i].type));
  }
  m->place = above;
  return CST_OK;
}

static cst_status skip_record(cst__avro_maker *m, const cst__avro_type *type) {
  if (cst__avro_least_size(m, type) == 0) {
    return CST_OK;
  }
  if (is_flat(type)) {
    return skip_fields(m, type);
  }
  void *calls = m->calls;
  bool ok = cst__grow(&m->program->allocator, &calls, &m->calls_capacity, m->num_calls + 1,
                      sizeof *m->calls);
  m->calls = calls;
  if (!ok) {
    return cst__fail_memory(m->error, (m->num_calls + 1) * sizeof *m->calls);
  }
  m->calls[m->num_calls++] = (cst__avro_call){m->program->count, type};
  return cst__avro_emit(m, &(cst__avro_step){.op = CST__AVRO_CALL});
}

static bool is_plain_skip(cst__avro_op op) {
  return op == CST__AVRO_SKIP_VARINTS || op == CST__AVRO_SKIP_FIXED || op == CST__AVRO_SKIP_BYTES;
}

/* Whether the steps from `first` on do nothing but skip: values, nulls, and lists of these. */
static bool is_only_skipped(const cst__avro_program *program, size_t first) {
  for (size_t i = first; i < program->count; i++) {
    switch (program->steps[i].op) {
      case CST__AVRO_SKIP_VARINTS:
      case CST__AVRO_SKIP_FIXED:
      case CST__AVRO_SKIP_BYTES:
      case CST__AVRO_SKIP_NULLABLE:
      case CST__AVRO_SKIP_NULLABLE_FIXED:
      case CST__AVRO_SKIP_NULLABLE_BYTES:
      case CST__AVRO_SKIP_LIST_OF:
        break;
      case CST__AVRO_SKIP_NEXT:
        if (program->steps[i - 2].op == CST__AVRO_SKIP_LIST_OF) {
          break;
        }
        return false;
      default:
        return false;
    }
  }
  return true;
}

static cst_status skip_list(cst__avro_maker *m, const cst__avro_type *type) {
  bool is_map = type->kind == CST__AVRO_MAP;
  size_t list = m->program->count;
  int64_t least = is_map + cst__avro_least_size(m, type->items);
  CST__TRY(cst__avro_emit(m, &(cst__avro_step){.op = CST__AVRO_SKIP_LIST, .number = least}));
  uint32_t first = cst__avro_label(m);
  if (is_map) {
    CST__TRY(skip_more(m, CST__AVRO_SKIP_BYTES, 1));
  }
  CST__TRY(cst__avro_emit_skip(m, type->items));
  if (m->program->count == list + 2 && is_plain_skip(m->program->steps[first].op)) {
    m->program->steps[list].op = CST__AVRO_SKIP_LIST_OF;
  } else if (least > 0 && is_only_skipped(m->program, first)) {
    m->program->steps[list].op = CST__AVRO_SKIP_LIST_PLAIN;
  }
  CST__TRY(cst__avro_emit(
      m, &(cst__avro_step){.op = CST__AVRO_SKIP_NEXT, .number = least, .jump = first}));
  m->program->steps[list].jump = cst__avro_label(m);
  return CST_OK;
}

static cst_status skip_union(cst__avro_maker *m, const cst__avro_type *type) {
  size_t null_branch = cst__avro_null_branch(type);
  size_t at = m->program->count;
  if (null_branch != SIZE_MAX) {
    CST__TRY(cst__avro_emit(
        m, &(cst__avro_step){.op = CST__AVRO_SKIP_NULLABLE, .number = (int64_t)null_branch}));
    (void)cst__avro_label(m);
    CST__TRY(cst__avro_emit_skip(m, type->branches[1 - null_branch]));
    if (m->program->count == at + 2) {
      cst__avro_op first = m->program->steps[at + 1].op;
      m->program->steps[at].op = first == CST__AVRO_SKIP_FIXED   ? CST__AVRO_SKIP_NULLABLE_FIXED
                                 : first == CST__AVRO_SKIP_BYTES ? CST__AVRO_SKIP_NULLABLE_BYTES
                                                                 : CST__AVRO_SKIP_NULLABLE;
    }
    m->program->steps[at].jump = cst__avro_label(m);
    return CST_OK;
  }
  uint32_t *jumps = cst__arena_take(&m->program->arena, type->num_branches * sizeof *jumps);
  size_t *ends = cst__arena_take(&m->program->arena, type->num_branches * sizeof *ends);
  if (jumps == NULL || ends == NULL) {
    return cst__fail_memory(m->error, type->num_branches * sizeof *ends);
  }
  CST__TRY(cst__avro_emit(
      m, &(cst__avro_step){
             .op = CST__AVRO_BRANCH, .number = (int64_t)type->num_branches, .jumps = jumps}));
  for (size_t i = 0; i < type->num_branches; i++) {
    jumps[i] = cst__avro_label(m);
    CST__TRY(cst__avro_emit_skip(m, type->branches[i]));
    ends[i] = m->program->count;
    CST__TRY(cst__avro_emit(m, &(cst__avro_step){.op = CST__AVRO_JUMP}));
  }
  for (size_t i = 0; i < type->num_branches; i++) {
    m->program->steps[ends[i]].jump = cst__avro_label(m);
  }
  return CST_OK;
}

cst_status cst__avro_emit_skip(cst__avro_maker *m, const cst__avro_type *type) {
  switch (type->kind) {
    case CST__AVRO_NULL:
      return CST_OK;
    case CST__AVRO_BOOLEAN:
      return skip_more(m, CST__AVRO_SKIP_FIXED, 1);
    case CST__AVRO_INT:
    case CST__AVRO_LONG:
    case CST__AVRO_ENUM:
      return skip_more(m, CST__AVRO_SKIP_VARINTS, 1);
    case CST__AVRO_FLOAT:
      return skip_more(m, CST__AVRO_SKIP_FIXED, 4);
    case CST__AVRO_DOUBLE:
      return skip_more(m, CST__AVRO_SKIP_FIXED, 8);
    case CST__AVRO_BYTES:
    case CST__AVRO_STRING:
      return skip_more(m, CST__AVRO_SKIP_BYTES, 1);
    case CST__AVRO_FIXED:
      return skip_more(m, CST__AVRO_SKIP_FIXED, (int64_t)type->size);
    case CST__AVRO_RECORD:
      return skip_record(m, type);
    case CST__AVRO_ARRAY:
    case CST__AVRO_MAP:
      return skip_list(m, type);
    case CST__AVRO_UNION:
      return skip_union(m, type);
  }
  return CST_OK;
}

cst_status cst__avro_emit_calls(cst__avro_maker *m) {
  for (size_t i = 0; i < m->num_calls; i++) {
    const cst__avro_type *type = m->calls[i].type;
    size_t begin = cst__name_map_find_of(&m->skips, type, "", 0);
    if (begin == SIZE_MAX) {
      begin = cst__avro_label(m);
      if (!cst__name_map_add_of(&m->skips, type, "", 0, begin)) {
        return cst__fail_memory(m->error, 64);
      }
      CST__TRY(skip_fields(m, type));
      CST__TRY(cst__avro_emit(m, &(cst__avro_step){.op = CST__AVRO_RETURN}));
    }
    m->program->steps[m->calls[i].step].jump = (uint32_t)begin;
  }
  return CST_OK;
}
