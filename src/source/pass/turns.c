/* Groups of files, and whose turn it is. */
#include "source/pass/turns.h"

static size_t multiply_divide(size_t a, size_t b, size_t c) {
  return (size_t)((__uint128_t)a * b / c);
}

/* Group j of n has the files from j * num_files / n on. */
cst__group cst__group_of(size_t num_files, size_t at_once, size_t file) {
  size_t most = at_once > 0 ? at_once : 1;
  size_t groups = num_files / most + (num_files % most > 0);
  size_t group = (size_t)((((__uint128_t)file + 1) * groups - 1) / num_files);
  return (cst__group){multiply_divide(group, num_files, groups),
                      multiply_divide(group + 1, num_files, groups)};
}

bool cst__turns_reserve(cst__turns *turns, const cst_allocator *allocator, size_t most) {
  void *files = turns->files;
  bool done = cst__grow(allocator, &files, &turns->capacity, most, sizeof *turns->files);
  turns->files = files;
  return done;
}

void cst__turns_reset(cst__turns *turns) {
  cst__delete(turns->files);
  *turns = (cst__turns){.files = NULL};
}

void cst__turns_init(cst__turns *turns, size_t count, uint64_t turn) {
  turns->count = count;
  turns->left = count;
  turns->turn = turn;
  for (size_t i = 0; i < count; i++) {
    turns->files[i] = (cst__turn_file){.share = 0};
  }
}

/* A share of 0 is that of a size that is not known. */
void cst__turns_tell(cst__turns *turns, size_t file, int64_t size) {
  turns->files[file].share = size < 0 ? 0 : size > 0 ? (uint64_t)size : 1;
}

/* True if the next turn of file a ends before that of b, as the shares have it. */
static bool is_before(const cst__turns *turns, const cst__turn_file *a, const cst__turn_file *b) {
  return ((__uint128_t)a->rows + turns->turn) * b->share <
         ((__uint128_t)b->rows + turns->turn) * a->share;
}

static void choose_file(cst__turns *turns) {
  size_t found = turns->count;
  for (size_t i = 0; i < turns->count; i++) {
    if (!turns->files[i].ended &&
        (found == turns->count || is_before(turns, &turns->files[i], &turns->files[found]))) {
      found = i;
    }
  }
  turns->current = found;
  turns->room = turns->left == 1 ? UINT64_MAX : turns->turn;
}

void cst__turns_begin(cst__turns *turns) {
  bool known = true;
  for (size_t i = 0; i < turns->count; i++) {
    known = known && turns->files[i].share > 0;
  }
  for (size_t i = 0; i < turns->count && !known; i++) {
    turns->files[i].share = 1;
  }
  choose_file(turns);
}

void cst__turns_take(cst__turns *turns, uint64_t rows) {
  if (turns->left == 1) {
    return;
  }
  turns->files[turns->current].rows += rows;
  turns->room -= rows;
  if (turns->room == 0) {
    choose_file(turns);
  }
}

bool cst__turns_end(cst__turns *turns) {
  turns->files[turns->current].ended = true;
  turns->left--;
  if (turns->left > 0) {
    choose_file(turns);
  }
  return turns->left > 0;
}
