/* Sources of splits: where the records of a split begin and end. */
#include "source/split/splits.h"

#include <string.h>

#include "base/arguments.h"
#include "base/interrupt.h"
#include "base/names.h"
#include "source/index/boundary.h"
#include "source/pass/arrow_schema.h"

/* The reading of splits, while it is put together. */
typedef struct split_reading {
  cst_source *source;
  cst__name_map files; /* by their names */
  cst__part *parts;
  size_t num_parts;
  size_t looked_at; /* the file whose entry is known; SIZE_MAX: none */
  cst__entry_point entry;
} split_reading;

/* Neighbouring splits of a file, which are read as one. */
typedef struct split_run {
  size_t file;
  uint64_t begin;
  uint64_t end;
  bool exact_begin;
  bool exact_end;
  int64_t record; /* number of the one at `begin`; -1: not known */
} split_run;

static cst_status look_at_entry(const cst_source *source, size_t i, cst__entry_point *out,
                                cst_error *error) {
  *out = (cst__entry_point){false, false, 0, 0};
  bool looks = source->inputs->format.payload != NULL || cst__inputs_divide(source->inputs);
  return looks ? cst__source_entry(source, i, 0, out, error) : CST_OK;
}

static cst__division division_of(const cst_source *source, const cst__entry_point *entry) {
  bool is_table = source->inputs->format.table != NULL;
  if (!entry->possible || (is_table && entry->packed)) {
    return CST__UNDIVIDED;
  }
  if (cst__inputs_divide(source->inputs)) {
    return CST__BY_BYTES;
  }
  return entry->packed ? CST__UNDIVIDED : CST__BY_INDEX;
}

cst_status cst__source_division(const cst_source *source, size_t i, cst__division *out,
                                cst_error *error) {
  cst__entry_point entry;
  CST__TRY(look_at_entry(source, i, &entry, error));
  *out = division_of(source, &entry);
  return CST_OK;
}

/* True in *divided if what the run begins and ends with can be reached. */
static cst_status is_divided(split_reading *reading, const split_run *run, bool to_end,
                             bool *divided, cst_error *error) {
  if (reading->looked_at != run->file) {
    CST__TRY(look_at_entry(reading->source, run->file, &reading->entry, error));
    reading->looked_at = run->file;
  }
  cst__division division = division_of(reading->source, &reading->entry);
  bool exact = (run->begin == 0 || run->exact_begin) && (to_end || run->exact_end);
  *divided = division == CST__BY_BYTES || (division == CST__BY_INDEX && exact);
  return CST_OK;
}

/* ---- files ---- */

static cst_status fail_part_of_source(cst_error *error) {
  return cst__fail(error, CST_INVALID_ARGUMENT, "open the files again",
                   "the source is part of another one: splits are read from whole files");
}

/* Maps the names of the source's files. The first of several of one name is meant. */
static cst_status map_split_files(split_reading *reading, cst_error *error) {
  const cst_source *source = reading->source;
  if (source->num_parts != source->inputs->num_files) {
    return fail_part_of_source(error);
  }
  for (size_t i = 0; i < source->num_parts; i++) {
    const cst__part *part = &source->parts[i];
    const char *name = part->file->url != NULL ? part->file->url : part->file->name;
    if (part->file != &source->inputs->files[i] || part->begin != 0 || part->end != 0) {
      return fail_part_of_source(error);
    }
    if (cst__name_map_find(&reading->files, name, strlen(name)) == SIZE_MAX &&
        !cst__name_map_add(&reading->files, name, strlen(name), i)) {
      return cst__fail_memory(error, sizeof *part);
    }
  }
  return CST_OK;
}

static const char *split_file_name(const void *files, size_t i) {
  return ((const cst__file *)files)[i].name;
}

static cst_status find_split_file(const split_reading *reading, const cst_split *split, size_t *out,
                                  cst_error *error) {
  const cst__inputs *inputs = reading->source->inputs;
  const cst__name_list names = {inputs->files, inputs->num_files, split_file_name};
  char hint[CST__NEAR_HINT];
  *out = cst__name_map_find(&reading->files, split->file, strlen(split->file));
  if (*out == SIZE_MAX) {
    (void)cst__fail(error, CST_INVALID_ARGUMENT, cst__near_hint(hint, split->file, &names),
                    "the source has no such file");
    cst__error_add_file(error, split->file);
    return CST_INVALID_ARGUMENT;
  }
  return CST_OK;
}

/* ---- places ---- */

static cst_status fail_shorter(const char *file, uint64_t size, uint64_t end, cst_error *error) {
  (void)cst__fail(
      error, CST_STATE, "plan it again",
      "the file has changed since it was planned: it has %llu bytes, but its split ends at "
      "byte %llu",
      (unsigned long long)size, (unsigned long long)end);
  cst__error_add_file(error, file);
  return CST_STATE;
}

/* The first record at a place or after it. *out is UINT64_MAX after all records of a file whose
 * size is not known. */
static cst_status seek_record(const split_reading *reading, size_t file, uint64_t place, bool exact,
                              uint64_t *out, cst_error *error) {
  int64_t size = reading->source->parts[file].size;
  uint64_t file_end = size >= 0 ? (uint64_t)size : UINT64_MAX;
  *out = place;
  if (place == CST_SPLIT_TO_END) {
    *out = file_end;
    return CST_OK;
  }
  return place == 0 || exact || place >= file_end
             ? CST_OK
             : cst__boundary_find(reading->source, file, place, file_end, out, error);
}

/* The same in the stream of a compressed file, which is entered at a restart point. */
static cst_status seek_packed_record(const split_reading *reading, size_t file, uint64_t place,
                                     uint64_t *out, cst_error *error) {
  cst__entry_point entry = {true, true, UINT64_MAX, 0};
  *out = 0;
  if (place == 0) {
    return CST_OK;
  }
  if (place != CST_SPLIT_TO_END) {
    CST__TRY(cst__source_entry(reading->source, file, place, &entry, error));
  }
  if (entry.point < entry.size) {
    CST__TRY(cst__boundary_find(reading->source, file, entry.point, entry.size, out, error));
  }
  if (entry.point >= entry.size || *out == entry.size) {
    *out = UINT64_MAX;
  }
  return CST_OK;
}

/* Adds what is read of the file; end UINT64_MAX: to its end. */
static void add_split_part(split_reading *reading, const split_run *run, uint64_t begin,
                           uint64_t end) {
  const cst__part *whole = &reading->source->parts[run->file];
  bool to_end = end == UINT64_MAX;
  int64_t size = to_end && whole->size >= 0 ? whole->size - (int64_t)begin : -1;
  reading->parts[reading->num_parts++] = (cst__part){.file = whole->file,
                                                     .begin = begin,
                                                     .end = to_end ? 0 : end,
                                                     .size = to_end ? size : (int64_t)(end - begin),
                                                     .first_record = begin == 0 ? 0 : run->record};
}

/* The same of the stream of a compressed file. */
static void add_packed_part(split_reading *reading, const split_run *run, uint64_t begin,
                            uint64_t end) {
  const cst__part *whole = &reading->source->parts[run->file];
  uint64_t size = run->end < (uint64_t)whole->size ? run->end : (uint64_t)whole->size;
  add_split_part(reading, run, begin, end);
  cst__part *part = &reading->parts[reading->num_parts - 1];
  part->packed = true;
  part->size = (int64_t)(size - run->begin);
}

static cst_status add_divided(split_reading *reading, const split_run *run, cst_error *error) {
  uint64_t begin;
  uint64_t end;
  if (reading->entry.packed) {
    CST__TRY(seek_packed_record(reading, run->file, run->begin, &begin, error));
    CST__TRY(seek_packed_record(reading, run->file, run->end, &end, error));
  } else {
    CST__TRY(seek_record(reading, run->file, run->begin, run->exact_begin, &begin, error));
    CST__TRY(seek_record(reading, run->file, run->end, run->exact_end, &end, error));
  }
  if (begin > end) {
    (void)cst__fail(error, CST_CORRUPT, "`columnstone index` makes splitting exact",
                    "no record begins at byte %llu", (unsigned long long)end);
    cst__error_add_file(error, cst__source_name(reading->source, run->file));
    return CST_CORRUPT;
  }
  if (begin < end && reading->entry.packed) {
    add_packed_part(reading, run, begin, end);
  } else if (begin < end) {
    add_split_part(reading, run, begin, end);
  }
  return CST_OK;
}

static cst_status add_split_run(split_reading *reading, const split_run *run, cst_error *error) {
  const cst__part *whole = &reading->source->parts[run->file];
  bool known = whole->size >= 0;
  bool to_end = run->end == CST_SPLIT_TO_END || (known && run->end == (uint64_t)whole->size);
  uint64_t least = run->end == CST_SPLIT_TO_END ? run->begin : run->end;
  if (known && least > (uint64_t)whole->size) {
    return fail_shorter(whole->file->name, (uint64_t)whole->size, least, error);
  }
  if (run->begin == 0 && to_end) {
    add_split_part(reading, run, 0, UINT64_MAX);
    return CST_OK;
  }
  bool divided;
  CST__TRY(is_divided(reading, run, to_end, &divided, error));
  if (divided) {
    return add_divided(reading, run, error);
  }
  if (run->begin == 0) {
    add_split_part(reading, run, 0, UINT64_MAX);
  }
  return CST_OK;
}

/* ---- splits ---- */

static cst_status check_split(const cst_split *split, cst_error *error) {
  if (split->begin > split->end || split->end > CST_SPLIT_TO_END || split->record > INT64_MAX) {
    (void)cst__fail(error, CST_INVALID_ARGUMENT, NULL, "the split from byte %llu to byte %llu",
                    (unsigned long long)split->begin, (unsigned long long)split->end);
    cst__error_add_file(error, split->file);
    return CST_INVALID_ARGUMENT;
  }
  return CST_OK;
}

/* The run that begins with the first of the splits. *count: so many it takes. */
static cst_status take_run(const split_reading *reading, const cst_split *splits, size_t num_splits,
                           split_run *run, size_t *count, cst_error *error) {
  CST__TRY(check_split(splits, error));
  int64_t record = splits->exact && splits->record > 0 ? (int64_t)splits->record : -1;
  *run = (split_run){0, splits->begin, splits->end, splits->exact, splits->exact, record};
  CST__TRY(find_split_file(reading, splits, &run->file, error));
  size_t i = 1;
  while (i < num_splits && run->end != CST_SPLIT_TO_END && splits[i].begin == run->end &&
         splits[i].begin > 0 && strcmp(splits[i].file, splits->file) == 0) {
    CST__TRY(check_split(&splits[i], error));
    run->end = splits[i].end;
    run->exact_end = splits[i].exact;
    i++;
  }
  *count = i;
  return CST_OK;
}

static cst_status read_splits(split_reading *reading, const cst_split *splits, size_t num_splits,
                              cst_error *error) {
  size_t bytes;
  split_run run;
  CST__TRY(map_split_files(reading, error));
  if (cst__mul(num_splits > 0 ? num_splits : 1, sizeof *reading->parts, &bytes)) {
    reading->parts = cst__new_zero(&reading->source->allocator, bytes);
  }
  if (reading->parts == NULL) {
    return cst__fail_memory(error, num_splits);
  }
  for (size_t i = 0, count; i < num_splits; i += count) {
    CST__TRY(cst__interrupted(error));
    CST__TRY(take_run(reading, splits + i, num_splits - i, &run, &count, error));
    CST__TRY(add_split_run(reading, &run, error));
  }
  return CST_OK;
}

/* A table of which nothing is read has columns all the same. */
static cst_status share_columns(const split_reading *reading, cst_source *source,
                                cst_error *error) {
  bool wanted = source->num_parts == 0 && source->inputs->format.payload == NULL &&
                reading->source->num_parts > 0;
  return wanted ? cst__source_decoded_schema(reading->source, &source->found.arrow_schema, error)
                : CST_OK;
}

cst_status cst_source_read_splits(cst_source *source, const cst_split *splits, size_t num_splits,
                                  cst_source **out, cst_error *error) {
  CST__CLEAR(out);
  CST__TRY(cst__check_given(source, "source", out, error));
  if (splits == NULL && num_splits > 0) {
    return cst__missing("splits", error);
  }
  for (size_t i = 0; i < num_splits; i++) {
    if (splits[i].file == NULL) {
      return cst__missing("splits[i].file", error);
    }
  }
  split_reading reading = {.source = source, .looked_at = SIZE_MAX};
  cst_source *made = NULL;
  cst_status status = read_splits(&reading, splits, num_splits, error);
  if (status == CST_OK) {
    status = cst__source_with(source, reading.parts, reading.num_parts, NULL, &made, error);
  }
  if (status == CST_OK) {
    status = share_columns(&reading, made, error);
  }
  if (status == CST_OK) {
    *out = made;
  } else {
    cst_source_release(made);
  }
  cst__name_map_reset(&reading.files);
  cst__delete(reading.parts);
  return status;
}
