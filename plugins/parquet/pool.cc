// A pool with a limit, over Arrow's own.
#include "pool.h"

#include <arrow/status.h>

namespace columnstone_parquet {

arrow::Status LimitedPool::Take(int64_t size) {
  arrow::Status status = Within(bytes_ += size);
  if (!status.ok()) bytes_ -= size;
  return status;
}

arrow::Status LimitedPool::Within(int64_t size) {
  if (size < 0 || static_cast<uint64_t>(size) <= limit_) return arrow::Status::OK();
  exceeded_ = true;
  return arrow::Status::OutOfMemory("the data takes more than the ", limit_,
                                    " bytes of memory that max_inflation allows");
}

arrow::Status LimitedPool::Allocate(int64_t size, int64_t alignment, uint8_t **out) {
  ARROW_RETURN_NOT_OK(Take(size));
  arrow::Status status = inner_->Allocate(size, alignment, out);
  if (status.ok()) {
    users_++;
  } else {
    bytes_ -= size;
  }
  return status;
}

arrow::Status LimitedPool::Reallocate(int64_t old_size, int64_t new_size, int64_t alignment,
                                      uint8_t **ptr) {
  const int64_t more = new_size - old_size;
  if (more > 0) ARROW_RETURN_NOT_OK(Take(more));
  arrow::Status status = inner_->Reallocate(old_size, new_size, alignment, ptr);
  if (status.ok() != (more > 0)) bytes_ += status.ok() ? more : -more;
  return status;
}

void LimitedPool::Free(uint8_t *buffer, int64_t size, int64_t alignment) {
  inner_->Free(buffer, size, alignment);
  bytes_ -= size;
  Drop();
}

}  // namespace columnstone_parquet
