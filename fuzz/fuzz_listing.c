/* What a server lists for a pattern, as the program that opens URLs hands it over: the pattern, a
 * NUL, and names with a NUL behind each. Whatever they are, only names below the folder of the
 * pattern are taken, and what is shown of a URL has no secret and is shown the same again. */
#include <ctype.h>
#include <string.h>

#include "base/error.h"
#include "fuzz.h"
#include "io/url.h"

enum { MOST_INPUT = 1 << 12 };

/* The folder of the pattern: up to the last slash before the first wildcard. */
static size_t folder_size(const char *url) {
  size_t size = strcspn(url, "*?[");
  while (size > 0 && url[size - 1] != '/') {
    size--;
  }
  return size;
}

static void check_name(const char *url, const char *name) {
  size_t folder = folder_size(url);
  FUZZ_ASSERT(strncmp(name, url, folder) == 0);
  for (const char *c = name; *c != '\0'; c++) {
    FUZZ_ASSERT(!iscntrl((unsigned char)*c));
  }
  FUZZ_ASSERT(strstr(name + folder, "/../") == NULL);
  FUZZ_ASSERT(strncmp(name + folder, "../", 3) != 0);
  const char *chain = strstr(name + folder, "::"); /* the pattern's own, if there is one */
  FUZZ_ASSERT(chain == NULL || strstr(url, chain) != NULL);
}

static void check_printable(const char *url) {
  char shown[MOST_INPUT + 1];
  char again[MOST_INPUT + 1];
  (void)snprintf(shown, sizeof shown, "%s", url);
  cst_url_make_printable(shown);
  FUZZ_ASSERT(strlen(shown) <= strlen(url));
  memcpy(again, shown, sizeof shown);
  cst_url_make_printable(again);
  FUZZ_ASSERT(strcmp(shown, again) == 0);
  if (strncmp(url, "https://", 8) == 0 && strstr(url, "::") == NULL) {
    FUZZ_ASSERT(strchr(shown, '?') == NULL && strchr(shown, '#') == NULL);
    FUZZ_ASSERT(memchr(shown + 8, '@', strcspn(shown + 8, "/")) == NULL);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char url[MOST_INPUT + 1];
  char buf[64];
  size = size < MOST_INPUT ? size : MOST_INPUT;
  size_t length = size > 0 ? strnlen((const char *)data, size) : 0;
  memcpy(url, length > 0 ? data : (const uint8_t *)"", length);
  url[length] = '\0';
  check_printable(url);
  FUZZ_ASSERT(cst__url_path_size(url) <= length);
  (void)cst__url_of_file(url, buf, sizeof buf);
  (void)cst__path_of_file_url(url, buf, sizeof buf);
  size_t begin = length < size ? length + 1 : size;
  cst__paths paths = {0};
  cst_error error = CST_ERROR_INIT;
  cst_status status =
      cst__url_add_listed(url, (const char *)data + begin, size - begin, &paths, &error);
  for (size_t i = 0; i < paths.count; i++) {
    check_name(url, paths.items[i]);
    check_printable(paths.items[i]);
  }
  cst__paths_reset(&paths);
  fuzz_outcome(cst_status_name(status));
  return 0;
}
