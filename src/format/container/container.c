/* Finding containers, and what they share. */
#include "format/container/container.h"

#include <stdio.h>
#include <string.h>

#include "base/names.h"
#include "io/url.h"

#define CONTAINER_ADDRESS(name) &cst__##name##_container,
static const cst__container *const containers[] = {CST__CONTAINERS(CONTAINER_ADDRESS)};
#undef CONTAINER_ADDRESS

enum { NUM_CONTAINERS = sizeof containers / sizeof *containers };

const cst__container *cst__container_get(size_t i) {
  return i < NUM_CONTAINERS ? containers[i] : NULL;
}

const cst_container_info *cst_container_get(size_t i) {
  return i < NUM_CONTAINERS ? &containers[i]->info : NULL;
}

static const char *nth_name(const void *items, size_t i) {
  return ((const cst__container *const *)items)[i]->info.name;
}

cst_status cst__container_find(const char *name, const cst__container **out, cst_error *error) {
  const cst__name_list names = {(const void *)containers, NUM_CONTAINERS, nth_name};
  char hint[CST__NAMES_HINT];
  for (size_t i = 0; i < NUM_CONTAINERS; i++) {
    if (strcmp(containers[i]->info.name, name) == 0) {
      *out = containers[i];
      return CST_OK;
    }
  }
  return cst__fail(error, CST_NOT_FOUND, cst__names_hint(hint, name, "known are", &names),
                   "unknown container '%s'", name);
}

/* True for "trips.tfrecord" and "trips.tfrecord-00000-of-00010". */
static bool has_extension(const char *path, size_t size, const char *extension) {
  size_t least = strlen(extension);
  if (size > least && memcmp(path + size - least, extension, least) == 0) {
    return true;
  }
  for (size_t i = 0; i + least < size; i++) {
    if (memcmp(path + i, extension, least) == 0 && path[i + least] == '-') {
      return true;
    }
  }
  return false;
}

const cst__container *cst__container_find_by_path(const char *path) {
  char file[4096];
  const char *name = cst__url_of_file(path, file, sizeof file);
  const char *slash = strrchr(name, '/');
  const char *base = slash != NULL ? slash + 1 : name;
  size_t size;
  (void)cst__compression_of(base, &size);
  for (size_t i = 0; i < NUM_CONTAINERS; i++) {
    for (const char *const *e = containers[i]->info.extensions; *e != NULL; e++) {
      if (has_extension(base, size, *e)) {
        return containers[i];
      }
    }
  }
  return NULL;
}

const cst__container *cst__container_sniff(const cst__chunk *head, bool proven) {
  for (size_t i = 0; i < NUM_CONTAINERS; i++) {
    const cst__container *container = containers[i];
    if (container->sniff != NULL && container->sniff_proves == proven && container->sniff(head)) {
      return container;
    }
  }
  return NULL;
}

bool cst__container_is_proven(const uint8_t *head, size_t size) {
  return cst__container_sniff(&(cst__chunk){head, size, false}, true) != NULL;
}

bool cst__container_first_record(const cst__container *container, const cst__chunk *head,
                                 cst_bytes *out) {
  cst__frame frame = {0};
  cst__framed framed = {.frames = &frame, .max = 1};
  cst_status status = container->scan(head, UINT64_MAX, &framed, NULL);
  if (framed.count == 0) {
    frame = framed.known ? framed.next : (cst__frame){.size = head->size};
  }
  if (status != CST_OK || frame.begin > head->size || head->size == 0) {
    return false;
  }
  size_t there = head->size - frame.begin;
  *out = (cst_bytes){head->data + frame.begin, frame.size < there ? frame.size : there};
  return true;
}

cst_status cst__container_check_count(const cst__container *container, uint64_t count, bool ends,
                                      cst_error *error) {
  if (!container->is_whole || count == 1 || (count == 0 && !ends)) {
    return CST_OK;
  }
  return cst__fail(error, CST_UNSUPPORTED,
                   "write each record to a file of its own, or all to another container, such as "
                   "delimited",
                   "a file of the container %s contains exactly one record, not %s",
                   container->info.name, count == 0 ? "none" : "several");
}

cst_status cst__fail_record_limit(uint64_t length, uint64_t limit, cst_error *error) {
  return cst__fail(error, CST_LIMIT, "raise max_record_size if such records are expected",
                   "record of %llu bytes, the limit is %llu", (unsigned long long)length,
                   (unsigned long long)limit);
}

cst_status cst__fail_record_truncated(size_t size, uint64_t needed, const char *what,
                                      cst_error *error) {
  return cst__fail(error, CST_CORRUPT, "the file is truncated: fetch or write it again",
                   "truncated: %zu of %llu bytes of a %s", size, (unsigned long long)needed, what);
}
