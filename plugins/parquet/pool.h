/* The memory of one file that is read: what a page, a dictionary or a batch claims to take is
 * refused where it is beyond what the file may hold, before it is touched.
 */
#ifndef PLUGINS_PARQUET_POOL_H
#define PLUGINS_PARQUET_POOL_H

#include <arrow/memory_pool.h>

#include <atomic>
#include <string>

namespace columnstone_parquet {

// Arrow's pool with a limit. It is on the heap and lives as long as its owner or any buffer of it:
// a batch may outlive the reader.
class LimitedPool : public arrow::MemoryPool {
 public:
  static LimitedPool *Make(uint64_t limit) { return new LimitedPool(limit); }
  // By the owner, once.
  void Release() { Drop(); }
  // True if something was refused.
  bool exceeded() const { return exceeded_; }
  // OutOfMemory if so many rows are more than the limit: each takes a bit at least.
  arrow::Status CheckRows(int64_t rows) { return Within(rows / 8); }

  using arrow::MemoryPool::Allocate;
  using arrow::MemoryPool::Free;
  using arrow::MemoryPool::Reallocate;
  arrow::Status Allocate(int64_t size, int64_t alignment, uint8_t **out) override;
  arrow::Status Reallocate(int64_t old_size, int64_t new_size, int64_t alignment,
                           uint8_t **ptr) override;
  void Free(uint8_t *buffer, int64_t size, int64_t alignment) override;
  void ReleaseUnused() override { inner_->ReleaseUnused(); }
  int64_t bytes_allocated() const override { return bytes_; }
  int64_t max_memory() const override { return inner_->max_memory(); }
  int64_t total_bytes_allocated() const override { return inner_->total_bytes_allocated(); }
  int64_t num_allocations() const override { return inner_->num_allocations(); }
  std::string backend_name() const override { return inner_->backend_name(); }

 private:
  explicit LimitedPool(uint64_t limit) : inner_(arrow::default_memory_pool()), limit_(limit) {}
  arrow::Status Take(int64_t size);
  arrow::Status Within(int64_t size);
  void Drop() {
    if (--users_ == 0) delete this;
  }

  arrow::MemoryPool *inner_;
  uint64_t limit_;
  std::atomic<int64_t> bytes_{0};
  std::atomic<int64_t> users_{1};  // the owner, and allocations
  std::atomic<bool> exceeded_{false};
};

}  // namespace columnstone_parquet

#endif  // PLUGINS_PARQUET_POOL_H
