/* Tensors to the outside: DLPack for numbers, Arrow for all. */
#include <columnstone/tensor.h>
#include <stdio.h>

#include "arrow/owned.h"
#include "base/arguments.h"
#include "tensor/dlpack.h"
#include "tensor/encode.h"
#include "tensor/tensor.h"

/* ---- DLPack ---- */

/* What a managed tensor owns: itself, shape and strides in one block; its values or their owner. */
typedef struct export {
  cst__dl_versioned versioned;
  cst__dl_managed managed;
  cst_tensors *owner; /* NULL: the values are a copy */
  void *copy;
  int64_t dims[]; /* shape, then strides */
}
export;

enum { VALUE_ALIGN = 64 };

static void free_export(export *e) {
  cst_tensors_release(e->owner);
  cst__delete(e->copy);
  cst__delete(e);
}

static void delete_versioned(cst__dl_versioned *self) { free_export(self->manager_ctx); }
static void delete_managed(cst__dl_managed *self) { free_export(self->manager_ctx); }

static cst__dl_type dl_type(cst_dtype dtype) {
  uint8_t bits = (uint8_t)(8 * cst_dtype_width(dtype));
  switch (dtype) {
    case CST_DTYPE_FLOAT32:
    case CST_DTYPE_FLOAT64:
      return (cst__dl_type){DLPACK_FLOAT, bits, 1};
    case CST_DTYPE_BOOL:
      return (cst__dl_type){DLPACK_BOOL, bits, 1};
    case CST_DTYPE_UINT8:
    case CST_DTYPE_UINT16:
    case CST_DTYPE_UINT32:
    case CST_DTYPE_UINT64:
      return (cst__dl_type){DLPACK_UINT, bits, 1};
    default:
      return (cst__dl_type){DLPACK_INT, bits, 1};
  }
}

/* A copy of the values, aligned, within a block that cst__delete frees. */
static void *export_copy_values(const cst_allocator *allocator, const cst_ndarray *array,
                                void **block) {
  size_t bytes = (size_t)array->size * cst_dtype_width(array->dtype);
  *block = cst__new(allocator, bytes + VALUE_ALIGN);
  if (*block == NULL) {
    return NULL;
  }
  uintptr_t at = ((uintptr_t)*block + VALUE_ALIGN - 1) & ~(uintptr_t)(VALUE_ALIGN - 1);
  void *values = (char *)*block + (at - (uintptr_t)*block);
  memcpy(values, array->data, bytes);
  return values;
}

static cst_status make_export(const cst_ndarray *array, const cst_tensors *owner, bool copy,
                              export **out, cst_error *error) {
  const cst_allocator *allocator = &owner->scratch.allocator;
  size_t size = sizeof(export) + 2 * array->num_dims * sizeof(int64_t);
  export *e = cst__new_zero(allocator, size);
  if (e == NULL) {
    return cst__fail_memory(error, size);
  }
  void *values = (void *)(uintptr_t)array->data;
  if (copy) {
    values = export_copy_values(allocator, array, &e->copy);
    if (values == NULL) {
      free_export(e);
      return cst__fail_memory(error, (size_t)array->size * cst_dtype_width(array->dtype));
    }
  } else {
    e->owner = cst_tensors_retain(owner);
  }
  int64_t *strides = e->dims + array->num_dims;
  int64_t stride = 1;
  for (size_t i = array->num_dims; i > 0; i--) {
    e->dims[i - 1] = array->shape[i - 1];
    strides[i - 1] = stride;
    stride *= array->shape[i - 1] > 0 ? array->shape[i - 1] : 1;
  }
  cst__dl_tensor tensor = {
      values, {DLPACK_CPU, 0}, (int32_t)array->num_dims, dl_type(array->dtype), e->dims, strides,
      0};
  e->versioned = (cst__dl_versioned){
      1, 0, e, delete_versioned, copy ? DLPACK_IS_COPIED : DLPACK_READ_ONLY, tensor};
  e->managed = (cst__dl_managed){tensor, e, delete_managed};
  *out = e;
  return CST_OK;
}

static cst_status ndarray_to_dlpack(const cst_ndarray *array, const cst_tensors *owner, bool copy,
                                    bool versioned, void **out, cst_error *error) {
  CST__CLEAR(out);
  if (array == NULL || owner == NULL || out == NULL) {
    return cst__missing("the array, its owner or the output", error);
  }
  export *e = NULL;
  if (array->dtype == CST_DTYPE_BYTES) {
    return cst__fail(error, CST_UNSUPPORTED, "get strings as Arrow, or as a list of bytes",
                     "DLPack has no strings");
  }
  CST__TRY(make_export(array, owner, copy, &e, error));
  *out = versioned ? (void *)&e->versioned : (void *)&e->managed;
  return CST_OK;
}

cst_status cst_ndarray_to_dlpack(const cst_ndarray *array, const cst_tensors *owner, bool copy,
                                 void **out, cst_error *error) {
  return ndarray_to_dlpack(array, owner, copy, true, out, error);
}

cst_status cst_ndarray_to_dlpack_unversioned(const cst_ndarray *array, const cst_tensors *owner,
                                             bool copy, void **out, cst_error *error) {
  return ndarray_to_dlpack(array, owner, copy, false, out, error);
}

/* ---- Arrow ---- */

typedef struct arrow_export {
  cst_tensors *owner; /* NULL: the values are a copy */
  const void *buffers[3];
  void *made; /* strings: one block of offsets, and of the bytes if they are a copy; bools: bits */
} arrow_export;

static void release_array(struct ArrowArray *array) {
  arrow_export *e = array->private_data;
  cst_tensors_release(e->owner);
  cst__delete(e->made);
  cst__delete(e);
  array->release = NULL;
}

/* The format is a literal: the schema owns nothing. */
static void export_release_schema(struct ArrowSchema *schema) { schema->release = NULL; }

/* True if the bytes of all strings lie one after the other, from *first on. */
static bool export_find_run(const cst_ndarray *array, const uint8_t **first) {
  const uint8_t *next = NULL;
  *first = cst__no_values;
  for (int64_t i = 0; i < array->size; i++) {
    const cst_bytes *s = &array->strings[i];
    if (s->size > 0) {
      if (next != NULL && s->data != next) {
        return false;
      }
      *first = next == NULL ? s->data : *first;
      next = s->data + s->size;
    }
  }
  return true;
}

static void export_copy_bytes(const cst_ndarray *array, char *to) {
  for (int64_t i = 0; i < array->size; i++) {
    if (array->strings[i].size > 0) {
      memcpy(to, array->strings[i].data, array->strings[i].size);
      to += array->strings[i].size;
    }
  }
}

/* Strings as a large_binary: its offsets are new, its bytes a copy only if they are scattered. */
static cst_status export_strings(const cst_ndarray *array, const cst_tensors *owner,
                                 arrow_export *e, cst_error *error) {
  const uint8_t *run;
  bool is_run = export_find_run(array, &run);
  size_t bytes = 0;
  size_t total;
  size_t offsets_size = ((size_t)array->size + 1) * sizeof(int64_t);
  for (int64_t i = 0; i < array->size; i++) {
    if (!cst__add(bytes, array->strings[i].size, &bytes)) {
      return cst__fail_memory(error, SIZE_MAX);
    }
  }
  if (!cst__add(is_run ? 0 : bytes, offsets_size, &total)) {
    return cst__fail_memory(error, SIZE_MAX);
  }
  e->made = cst__new(&owner->scratch.allocator, total);
  if (e->made == NULL) {
    return cst__fail_memory(error, total);
  }
  int64_t *offsets = e->made;
  offsets[0] = 0;
  for (int64_t i = 0; i < array->size; i++) {
    offsets[i + 1] = offsets[i] + (int64_t)array->strings[i].size;
  }
  e->buffers[1] = offsets;
  if (!is_run) {
    char *copy = (char *)e->made + offsets_size;
    export_copy_bytes(array, copy);
    e->buffers[2] = copy;
  } else {
    e->buffers[2] = run;
    e->owner = cst_tensors_retain(owner);
  }
  return CST_OK;
}

/* Bools are bits in Arrow. */
static cst_status export_bools(const cst_ndarray *array, const cst_allocator *allocator,
                               arrow_export *e, cst_error *error) {
  const size_t size = cst__bits_size(array->size);
  e->made = cst__new(allocator, size + 1);
  if (e->made == NULL) {
    return cst__fail_memory(error, size);
  }
  cst__bytes_to_bits(array->data, array->size, 0, e->made);
  e->buffers[1] = e->made;
  return CST_OK;
}

/* What the array points to, which is the owner's where the layouts agree. */
static cst_status export_put_values(const cst_ndarray *array, const cst_tensors *owner,
                                    arrow_export *e, cst_error *error) {
  switch (array->dtype) {
    case CST_DTYPE_BYTES:
      return export_strings(array, owner, e, error);
    case CST_DTYPE_BOOL:
      return export_bools(array, &owner->scratch.allocator, e, error);
    default:
      e->buffers[1] = array->data;
      e->owner = cst_tensors_retain(owner);
      return CST_OK;
  }
}

cst_status cst_ndarray_to_arrow(const cst_ndarray *array, const cst_tensors *owner,
                                struct ArrowSchema *out_schema, struct ArrowArray *out,
                                cst_error *error) {
  CST__CLEAR(out_schema);
  CST__CLEAR(out);
  if (array == NULL || owner == NULL || out_schema == NULL || out == NULL) {
    return cst__missing("the array, its owner or the output", error);
  }
  const cst_allocator *allocator = &owner->scratch.allocator;
  bool is_bytes = array->dtype == CST_DTYPE_BYTES;
  arrow_export *e = cst__new_zero(allocator, sizeof *e);
  if (e == NULL) {
    return cst__fail_memory(error, sizeof *e);
  }
  cst_status status = export_put_values(array, owner, e, error);
  if (status != CST_OK) {
    cst__delete(e);
    return status;
  }
  *out = (struct ArrowArray){.length = array->size,
                             .n_buffers = is_bytes ? 3 : 2,
                             .buffers = e->buffers,
                             .release = release_array,
                             .private_data = e};
  *out_schema = (struct ArrowSchema){
      .format = cst__dtype_format(array->dtype), .name = "", .release = export_release_schema};
  return CST_OK;
}
