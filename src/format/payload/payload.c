/* The payloads by name. */
#include "format/payload/payload.h"

#include <string.h>

const cst__payload *cst__payload_find(const char *name) {
  static const cst__payload *const all[] = {&cst__example_payload, &cst__raw_payload,
                                            &cst__sequence_payload};
  for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
    if (strcmp(all[i]->name, name) == 0) {
      return all[i];
    }
  }
  return NULL;
}
