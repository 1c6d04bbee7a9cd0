/* Windows of records: runs in blocks, and rows by their number in the window. */
#include "dataset/window.h"

cst__window *cst__window_new(const cst_source *source, const cst_allocator *allocator) {
  cst__window *window = cst__new_zero(allocator, sizeof *window);
  if (window != NULL) {
    cst__refcount_init(&window->owners);
    window->allocator = *allocator;
    window->source = source;
  }
  return window;
}

cst__window *cst__window_retain(cst__window *window) {
  cst__refcount_up(&window->owners);
  return window;
}

void cst__window_release(cst__window *window) {
  if (window != NULL && cst__refcount_down(&window->owners)) {
    cst__unit_reset(&window->unit);
    cst__delete(window->starts);
    cst__delete(window);
  }
}

bool cst__window_add(cst__window *window, const cst__run *run, size_t first, size_t count) {
  cst__unit *unit = &window->unit;
  void *starts = window->starts;
  bool done = cst__grow(&window->allocator, &starts, &window->capacity, unit->num_runs + 1,
                        sizeof *window->starts);
  window->starts = starts;
  if (!done) {
    return false;
  }
  window->starts[unit->num_runs] = unit->rows;
  return cst__unit_add(unit, window->source, run->block, run->first + first, count);
}

bool cst__window_pick(const cst__window *window, const uint64_t *rows, size_t count,
                      cst__unit *out) {
  for (size_t i = 0; i < count;) {
    /* The run that has a row. */
    size_t at = 0;
    size_t high = window->unit.num_runs;
    while (at + 1 < high) {
      size_t middle = at + (high - at) / 2;
      if (window->starts[middle] <= rows[i]) {
        at = middle;
      } else {
        high = middle;
      }
    }
    const cst__run *run = &window->unit.runs[at];
    size_t first = (size_t)(rows[i] - window->starts[at]);
    size_t neighbours = 1;
    while (i + neighbours < count && rows[i + neighbours] == rows[i] + neighbours &&
           first + neighbours < run->count) {
      neighbours++;
    }
    if (!cst__unit_add(out, window->source, run->block, run->first + first, neighbours)) {
      return false;
    }
    i += neighbours;
  }
  return true;
}
