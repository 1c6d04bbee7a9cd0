/* Names that users write: what a mistyped one may have been meant for, and the errors. */
#include "base/names.h"

#include <stdint.h>
#include <string.h>

#include "harness.h"

static const char *const colours[] = {"red", "green", "greyish", "a\nb"};

static size_t nearest(const char *name) {
  cst__name_list list = cst__name_list_of(colours, 4);
  return cst__nearest_name(name, &list);
}

TEST(nearest_name) {
  CHECK_EQ(nearest("gren"), 1);
  CHECK_EQ(nearest("greenish"), 2);
  CHECK(nearest("purple") == SIZE_MAX);
  cst__name_list none = cst__name_list_of(NULL, 0);
  CHECK(cst__nearest_name("red", &none) == SIZE_MAX);
}

TEST(hint_is_escaped) {
  char hint[CST__NEAR_HINT];
  cst__name_list list = cst__name_list_of(colours, 4);
  CHECK_STR(cst__near_hint(hint, "ab", &list), "did you mean 'a\\x0ab'?");
  CHECK(cst__near_hint(hint, "purple", &list) == NULL);
}

TEST(columns_come_once) {
  const char *const twice[] = {"a", "b", "a"};
  cst_error error = CST_ERROR_INIT;
  cst__name_map map = {0};
  CHECK_EQ(cst__map_columns(twice, 2, &map, &error), CST_OK);
  CHECK_EQ(cst__name_map_find(&map, "b", 1), 1);
  cst__name_map_reset(&map);
  CHECK_EQ(cst__map_columns(twice, 3, &map, &error), CST_INVALID_ARGUMENT);
  CHECK_STR(error.path, "a");
  cst__name_map_reset(&map);
}

TEST(unknown_name) {
  cst_error error = CST_ERROR_INIT;
  cst__name_list list = cst__name_list_of(colours, 4);
  CHECK(cst__fail_unknown(&error, CST_NOT_FOUND, "no such colour", "redd", &list) == CST_NOT_FOUND);
  CHECK_STR(error.message, "no such colour");
  CHECK_STR(error.path, "redd");
  CHECK_STR(error.hint, "did you mean 'red'?");
  CHECK(cst__fail_twice(&error, "red", 3) == CST_INVALID_ARGUMENT);
  CHECK_STR(error.path, "red");
}
