/* The handle: importing, counting, sharing, slicing. */
#include "table/array.h"

#include "arrow/dictionary.h"
#include "arrow/owned.h"
#include "base/arguments.h"

/* ---- making handles ---- */

/* Takes over one count of the type, and the array. */
static cst_status new_handle(cst__array_type *type, const struct ArrowSchema *schema,
                             struct ArrowArray *array, const cst_allocator *allocator,
                             cst_array **out, cst_error *error) {
  cst_array *handle = cst__new_zero(allocator, sizeof *handle);
  if (handle == NULL) {
    cst__array_type_release(type);
    return cst__fail_memory(error, sizeof *handle);
  }
  cst__refcount_init(&handle->owners);
  handle->allocator = cst__allocator_of(allocator);
  handle->type = type;
  handle->schema = schema;
  handle->array = *array;
  array->release = NULL;
  *out = handle;
  return CST_OK;
}

cst_status cst__array_result(const cst_array *like, const struct ArrowSchema *schema,
                             struct ArrowArray *made, cst_array **out, cst_error *error) {
  cst_status status =
      new_handle(cst__array_type_retain(like->type), schema, made, &like->allocator, out, error);
  if (status != CST_OK) {
    cst__array_release(made);
  }
  return status;
}

cst_status cst__array_result_as(const cst_allocator *allocator, const struct ArrowSchema *schema,
                                struct ArrowArray *made, cst_array **out, cst_error *error) {
  cst__array_type *type;
  cst_status status = cst__array_type_new(schema, allocator, &type, error);
  if (status == CST_OK) {
    status = new_handle(type, &type->schema, made, allocator, out, error);
  }
  if (status != CST_OK) {
    cst__array_release(made);
  }
  return status;
}

/* ---- importing ---- */

static cst_status array_validate(const struct ArrowSchema *schema, const struct ArrowArray *array,
                                 const cst_allocator *allocator, cst_error *error) {
  cst__arena arena;
  cst__view view;
  cst__arena_init(&arena, allocator);
  cst_status status = cst__view_init(&view, schema, array, false, &arena, error);
  cst__arena_reset(&arena);
  return status;
}

/* Replaces a type with dictionaries, and the array with it. */
static cst_status make_plain(cst__array_type **type, struct ArrowArray *array, bool is_trusted,
                             const cst_allocator *allocator, cst_error *error) {
  struct ArrowSchema plain;
  cst__array_type *made = NULL;
  CST__TRY(cst__schema_copy(&(*type)->schema, &plain, error));
  cst_status status =
      cst__array_make_plain_as(&(*type)->schema, allocator, is_trusted, array, error);
  if (status == CST_OK) {
    status = cst__schema_make_plain(&plain, error);
  }
  if (status == CST_OK) {
    status = cst__array_type_new(&plain, allocator, &made, error);
  }
  if (plain.release != NULL) {
    plain.release(&plain);
  }
  if (status == CST_OK) {
    cst__array_type_release(*type);
    *type = made;
  }
  return status;
}

cst_status cst_array_import(const struct ArrowSchema *schema, struct ArrowArray *array,
                            uint32_t flags, const cst_allocator *allocator, cst_array **out,
                            cst_error *error) {
  bool is_trusted = (flags & CST_ARRAY_TRUSTED) != 0;
  CST__CLEAR(out);
  if (schema == NULL || schema->release == NULL || array == NULL || array->release == NULL ||
      out == NULL) {
    return cst__missing(out == NULL                                 ? "out"
                        : schema == NULL || schema->release == NULL ? "schema"
                                                                    : "array",
                        error);
  }
  CST__TRY(cst__check_flags(flags, CST_ARRAY_TRUSTED, error));
  CST__TRY(cst__check_allocator(allocator, error));
  cst__array_type *type;
  CST__TRY(cst__array_type_new(schema, allocator, &type, error));
  cst_status status = is_trusted ? CST_OK : cst__schema_check_types(&type->schema, error);
  if (status == CST_OK && !is_trusted) {
    status = array_validate(&type->schema, array, allocator, error);
  }
  if (status == CST_OK && type->has_dictionary) {
    status = make_plain(&type, array, is_trusted, allocator, error);
  }
  if (status != CST_OK) {
    cst__array_type_release(type);
    return status;
  }
  return new_handle(type, &type->schema, array, allocator, out, error);
}

/* ---- counting ---- */

cst_array *cst_array_retain(const cst_array *array) {
  cst_array *handle = (cst_array *)(uintptr_t)array;
  if (handle != NULL) {
    cst__refcount_up(&handle->owners);
  }
  return handle;
}

void cst_array_release(cst_array *array) {
  if (array != NULL && cst__refcount_down(&array->owners)) {
    cst__array_release(&array->array);
    cst__array_type_release(array->type);
    cst__delete(array);
  }
}

int64_t cst_array_length(const cst_array *array) { return array != NULL ? array->array.length : 0; }

const struct ArrowSchema *cst_array_schema(const cst_array *array) {
  return array != NULL ? array->schema : NULL;
}

/* ---- sharing ---- */

static void array_retain_owner(void *owner) { cst_array_retain(owner); }
static void array_release_owner(void *owner) { cst_array_release(owner); }

cst_status cst__array_view(const cst_array *array, cst__view *view, cst__arena *arena,
                           cst_error *error) {
  return cst__view_init(view, array->schema, &array->array, true, arena, error);
}

cst__owner cst__array_owner(const cst_array *array) {
  return (cst__owner){(void *)(uintptr_t)array, array_retain_owner, array_release_owner,
                      &array->allocator};
}

/* Rows of the array; the offset of a struct's slice stands in its children. */
static cst_status share_rows(const cst_array *array, int64_t begin, int64_t length,
                             struct ArrowArray *out, cst_error *error) {
  const cst__owner owner = cst__array_owner(array);
  return strcmp(array->schema->format, "+s") == 0
             ? cst__share_struct(&owner, &array->array, begin, length, out, error)
             : cst__share_slots(&owner, &array->array, begin, length, out, error);
}

cst_status cst_array_export(const cst_array *array, struct ArrowArray *out, cst_error *error) {
  CST__CLEAR(out);
  CST__TRY(cst__check_given(array, "array", out, error));
  return share_rows(array, 0, array->array.length, out, error);
}

cst_status cst_array_slice(const cst_array *array, int64_t begin, int64_t length, cst_array **out,
                           cst_error *error) {
  CST__CLEAR(out);
  CST__TRY(cst__check_given(array, "array", out, error));
  struct ArrowArray made;
  int64_t all = array->array.length;
  if (begin < 0 || length < 0 || begin > all) {
    return length < 0 ? cst__fail(error, CST_INVALID_ARGUMENT, NULL, "a slice of %lld rows",
                                  (long long)length)
                      : cst__fail(error, CST_INVALID_ARGUMENT, NULL,
                                  "a slice from row %lld on of an array of %lld rows",
                                  (long long)begin, (long long)all);
  }
  length = length < all - begin ? length : all - begin;
  CST__TRY(share_rows(array, begin, length, &made, error));
  return cst__array_result(array, array->schema, &made, out, error);
}
