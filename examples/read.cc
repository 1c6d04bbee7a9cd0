// Prints the columns of each batch of TFRecord files: C++ over the C headers, with owners that
// release what they hold.
//
//     c++ -std=c++11 read.cc $(pkg-config --cflags --libs columnstone) -o read
//     ./read schema.pbtxt trips-*.tfrecord.gz
//
#include <columnstone/source.h>

#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>

namespace {

// A std::unique_ptr that calls the release function of its type.
template <typename T, void (*release)(T *)>
struct Releaser {
  void operator()(T *object) const { release(object); }
};
using Schema = std::unique_ptr<cst_schema, Releaser<cst_schema, cst_schema_release>>;
using Source = std::unique_ptr<cst_source, Releaser<cst_source, cst_source_release>>;
using Pass = std::unique_ptr<cst_pass, Releaser<cst_pass, cst_pass_free>>;

// An Arrow struct: released when it goes out of scope.
template <typename T>
struct Arrow : T {
  Arrow() : T() {}
  Arrow(const Arrow &) = delete;
  Arrow &operator=(const Arrow &) = delete;
  ~Arrow() {
    if (this->release != nullptr) this->release(this);
  }
};

// Turns a status into an exception. Use it as `check(cst_...(..., &error), error)`.
void check(cst_status status, const cst_error &error) {
  if (status == CST_OK) return;
  std::string text(cst_error_format(&error, nullptr, 0) + 1, '\0');
  cst_error_format(&error, &text[0], text.size());
  text.pop_back();
  throw std::runtime_error(text);
}

void read(const char *schema_path, const char *const *files, size_t num_files) {
  cst_error error = CST_ERROR_INIT;
  cst_schema *schema = nullptr;
  check(cst_schema_open(schema_path, &schema, &error), error);
  const Schema schema_owner(schema);

  cst_source_options options = CST_SOURCE_OPTIONS_INIT;
  options.schema = schema;
  cst_source *source = nullptr;
  check(cst_source_open(files, num_files, &options, &source, &error), error);
  const Source source_owner(source);

  Arrow<ArrowSchema> columns;
  check(cst_source_arrow_schema(source, &columns, &error), error);
  cst_pass *pass = nullptr;
  check(cst_pass_new(source, &pass, &error), error);
  const Pass pass_owner(pass);

  for (;;) {
    Arrow<ArrowArray> batch;
    check(cst_pass_next(pass, &batch, &error), error);
    if (batch.release == nullptr) break;  // the end
    std::cout << batch.length << " rows:";
    for (int64_t i = 0; i < columns.n_children; i++) {
      std::cout << ' ' << columns.children[i]->name << " (" << batch.children[i]->null_count
                << " null)";
    }
    std::cout << '\n';
  }
}

}  // namespace

int main(int argc, char **argv) {
  if (argc < 3) {
    std::cerr << "usage: " << argv[0] << " SCHEMA FILE...\n";
    return 2;
  }
  try {
    read(argv[1], argv + 2, static_cast<size_t>(argc) - 2);
  } catch (const std::exception &failure) {
    std::cerr << argv[0] << ": " << failure.what() << '\n';
    return 1;
  }
}
