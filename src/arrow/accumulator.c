/* What all accumulators have in common: places, batches, and states as bytes. */
#include "arrow/accumulator.h"

#include "arrow/dictionary.h"
#include "arrow/owned.h"
#include "base/bytes.h"

/* ---- places ---- */

void cst__error_add_place(cst_error *error, const cst__place *place) {
  if (place->file[0] != '\0') {
    cst__error_add_file(error, place->file);
  }
  cst__error_add_record(error, place->record, place->offset);
}

bool cst__file_names_keep(cst__file_names *names, cst__place *place, cst__arena *arena) {
  if (names->last == NULL || strcmp(names->last, place->file) != 0) {
    size_t size = strlen(place->file);
    size_t at = cst__name_map_find(&names->map, place->file, size);
    const char *name = at != SIZE_MAX ? (const char *)at : NULL;
    if (name == NULL) {
      name = cst__arena_copy(arena, place->file, size);
      if (name == NULL || !cst__name_map_add(&names->map, name, size, (size_t)name)) {
        return false;
      }
    }
    names->last = name;
  }
  place->file = names->last;
  return true;
}

void cst__file_names_reset(cst__file_names *names) {
  cst__name_map_reset(&names->map);
  names->last = NULL;
}

void cst__archive_place(cst__archive *a, cst__place *place, cst__file_names *names,
                        cst__arena *arena) {
  cst_bytes file = {NULL, 0};
  char text[4096];
  if (!cst__archive_loads(a)) {
    file = cst__bytes_of(place->file);
  }
  cst__archive_bytes(a, &file);
  cst__archive_i64(a, &place->record);
  cst__archive_i64(a, &place->offset);
  if (cst__archive_loads(a)) {
    cst__archive_check(a, file.size < sizeof text && memchr(file.data, 0, file.size) == NULL);
    size_t size = a->bad ? 0 : file.size;
    memcpy(text, size > 0 ? (const char *)file.data : "", size);
    text[size] = '\0';
    place->file = text;
    if (a->bad || !cst__file_names_keep(names, place, arena)) {
      a->no_memory = a->no_memory || !a->bad;
      a->bad = true;
      place->file = "";
    }
  }
}

/* ---- batches ---- */

static cst_status look_plain(const cst__batch_look *look, const struct ArrowSchema *schema,
                             const struct ArrowArray *array, cst_error *error) {
  cst__arena arena;
  cst__view batch;
  cst__arena_init(&arena, look->allocator);
  cst_status status = cst__view_init(&batch, schema, array, look->trusted, &arena, error);
  if (status == CST_OK && batch.layout != CST__LAYOUT_STRUCT && !look->any_type) {
    char type[64];
    cst__view_type_name(&batch, type, sizeof type);
    status = cst__fail(error, CST_INVALID_ARGUMENT, "make it a column of a table",
                       "a record batch is a struct, found %s", type);
  }
  if (status == CST_OK) {
    status = look->use(look->ctx, &batch, error);
  }
  cst__arena_reset(&arena);
  return status;
}

static cst_status look_encoded(const cst__batch_look *look, const struct ArrowSchema *schema,
                               const struct ArrowArray *array, cst_error *error) {
  struct ArrowSchema plain;
  struct ArrowArray values = {.release = NULL};
  cst__arena arena;
  CST__TRY(cst__schema_copy(schema, &plain, error));
  cst__arena_init(&arena, look->allocator);
  cst_status status = cst__schema_make_plain(&plain, error);
  if (status == CST_OK) {
    status = cst__array_lend(schema, array, &arena, &values, error);
  }
  if (status == CST_OK) {
    status = cst__array_make_plain_as(schema, look->allocator, look->trusted, &values, error);
  }
  if (status == CST_OK) {
    status = look_plain(look, &plain, &values, error);
  }
  cst__array_release(&values);
  cst__arena_reset(&arena);
  plain.release(&plain);
  return status;
}

cst_status cst__batch_view(const cst__batch_look *look, const struct ArrowSchema *schema,
                           const struct ArrowArray *array, cst_error *error) {
  return cst__schema_has_dictionary(schema) ? look_encoded(look, schema, array, error)
                                            : look_plain(look, schema, array, error);
}

typedef struct batch_add {
  const cst__accumulator *accumulator;
  void *state;
  const cst__origin *origin;
} batch_add;

static cst_status add_look(void *ctx, const cst__view *batch, cst_error *error) {
  const batch_add *add = ctx;
  return add->accumulator->add(add->state, batch, add->origin, error);
}

cst_status cst__accumulator_add(const cst__accumulator *accumulator, void *state,
                                const struct ArrowSchema *schema, const struct ArrowArray *array,
                                const cst__origin *origin, cst_error *error) {
  batch_add add = {accumulator, state, origin};
  const cst__batch_look look = {.trusted = true, .use = add_look, .ctx = &add};
  return cst__batch_view(&look, schema, array, error);
}

/* ---- states as bytes ---- */

typedef struct saved_accumulator {
  const cst__accumulator *accumulator;
  const void *options;
  void *state;
} saved_accumulator;

static void archive_accumulator(void *ctx, cst__archive *archive) {
  const saved_accumulator *saved = ctx;
  cst__options_save(saved->accumulator->options, saved->options, archive);
  saved->accumulator->archive(saved->state, archive); /* which only reads the state then */
}

cst_status cst__accumulator_save(const cst__accumulator *accumulator, const void *options,
                                 const void *state, char **bytes, size_t *size, cst_error *error) {
  saved_accumulator saved = {accumulator, options, (void *)(uintptr_t)state};
  const cst__state_form form = {accumulator->name, accumulator->version};
  return cst__state_save(&form, archive_accumulator, &saved, bytes, size, error);
}

/* The options, and an archive of the state's own bytes, which follow them. */
static cst_status open_state(const cst__accumulator *accumulator, cst_bytes bytes,
                             cst__arena *arena, cst__option_list *options, cst__archive *archive,
                             cst_error *error) {
  cst_bytes name;
  uint64_t version;
  CST__TRY(cst__state_open(bytes, &name, &version, archive, error));
  if (archive->bad || name.size != strlen(accumulator->name) ||
      memcmp(name.data, accumulator->name, name.size) != 0) {
    return cst__fail(error, CST_INVALID_ARGUMENT, "load it with the accumulator that saved it",
                     "the state was saved by another accumulator, expected %s", accumulator->name);
  }
  if (version != accumulator->version) {
    return cst__fail(error, CST_INVALID_ARGUMENT,
                     "save and load it with the same version of the library",
                     "a saved state has version %llu, expected %llu", (unsigned long long)version,
                     (unsigned long long)accumulator->version);
  }
  return cst__options_load(archive, arena, options, error);
}

cst_status cst__accumulator_load_options(const cst__accumulator *accumulator, cst_bytes bytes,
                                         cst__arena *arena, cst__option_list *out,
                                         cst_error *error) {
  cst__archive archive;
  return open_state(accumulator, bytes, arena, out, &archive, error);
}

cst_status cst__accumulator_load(const cst__accumulator *accumulator, const void *plan,
                                 cst_bytes bytes, const cst_allocator *allocator, void **state,
                                 cst_error *error) {
  cst__archive archive;
  cst__option_list options;
  cst__arena arena;
  void *loaded;
  cst__arena_init(&arena, allocator);
  cst_status status = open_state(accumulator, bytes, &arena, &options, &archive, error);
  cst__arena_reset(&arena);
  if (status != CST_OK) {
    return status;
  }
  CST__TRY(accumulator->create(plan, allocator, &loaded, error));
  accumulator->archive(loaded, &archive);
  if (!archive.bad && archive.at == archive.end) {
    *state = loaded;
    return CST_OK;
  }
  accumulator->free(loaded);
  return archive.no_memory
             ? cst__fail_memory(error, bytes.size)
             : cst__fail(error, CST_INVALID_ARGUMENT,
                         "load it with the schema and the options that it was saved with",
                         "a saved state does not fit what it is loaded for (%s)",
                         accumulator->name);
}
