/* DLPack: the structs by which array libraries hand tensors to each other.
 *
 * Source: dlpack/dlpack.h of DLPack 1.0 (the layout is its ABI; the declarations are our own).
 */
#ifndef TENSOR_DLPACK_H
#define TENSOR_DLPACK_H

#include <stdint.h>

enum { DLPACK_CPU = 1 };
enum { DLPACK_INT = 0, DLPACK_UINT = 1, DLPACK_FLOAT = 2, DLPACK_BOOL = 6 };
enum { DLPACK_READ_ONLY = 1 << 0, DLPACK_IS_COPIED = 1 << 1 };

typedef struct cst__dl_device {
  int32_t device_type;
  int32_t device_id;
} cst__dl_device;

typedef struct cst__dl_type {
  uint8_t code;
  uint8_t bits;
  uint16_t lanes;
} cst__dl_type;

typedef struct cst__dl_tensor {
  void *data;
  cst__dl_device device;
  int32_t ndim;
  cst__dl_type dtype;
  int64_t *shape;
  int64_t *strides; /* in elements */
  uint64_t byte_offset;
} cst__dl_tensor;

/* DLManagedTensor, before 1.0; the capsule is called "dltensor". */
typedef struct cst__dl_managed {
  cst__dl_tensor tensor;
  void *manager_ctx;
  void (*deleter)(struct cst__dl_managed *self);
} cst__dl_managed;

/* DLManagedTensorVersioned, 1.0 and later; the capsule is called "dltensor_versioned". */
typedef struct cst__dl_versioned {
  uint32_t major;
  uint32_t minor;
  void *manager_ctx;
  void (*deleter)(struct cst__dl_versioned *self);
  uint64_t flags;
  cst__dl_tensor tensor;
} cst__dl_versioned;

#endif /* TENSOR_DLPACK_H */
