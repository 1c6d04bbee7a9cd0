/* Real numbers of options: as text both ways, and as options of a table. */
#include "base/real.h"

#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/options.h"
#include "harness.h"

static double parsed(const char *text) {
  double value = 0;
  CHECK(cst__real_parse(text, &value));
  return value;
}

TEST(read) {
  CHECK_DOUBLE(parsed("0.01"), 0.01);
  CHECK_DOUBLE(parsed("+12.50"), 12.5);
  CHECK_DOUBLE(parsed(".5"), 0.5);
  CHECK_DOUBLE(parsed("5."), 5);
  CHECK_DOUBLE(parsed("-1e-5"), -1e-5);
  CHECK_DOUBLE(parsed("1.5E+3"), 1500);
  CHECK_DOUBLE(parsed("1.7976931348623157e308"), DBL_MAX);
  CHECK_DOUBLE(parsed("4.9406564584124654e-324"), 0x1p-1074);
  CHECK_DOUBLE(parsed("1e-400"), 0);
  CHECK_DOUBLE(parsed("9007199254740993"), 9007199254740992.0); /* a tie, to even */
  CHECK_DOUBLE(parsed("9007199254740993.0000000000000000000000000000000000000001"),
               9007199254740994.0);
  CHECK(signbit(parsed("-0")) != 0);
}

TEST(not_read) {
  static const char *const texts[] = {
      "",     ".",     "-",        "e5",       "1e",
      "1e+",  "1e 5",  "1e5 ",     " 1",       "1,5",
      "1.5.", "0x10",  "nan",      "inf",      "1e309",
      "--1",  "1_000", "1e5.0",    "1.e5x",    "1 ",
      "+-1",  "1e--5", "infinity", "1e100001", "1e99999999999999999999",
  };
  char long_one[128];
  double value = 7;
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    CHECK(!cst__real_parse(texts[i], &value));
  }
  memset(long_one, '1', sizeof long_one);
  long_one[101] = '\0';
  CHECK(!cst__real_parse(long_one, &value));
  long_one[100] = '\0';
  CHECK(cst__real_parse(long_one, &value));
}

static void check_printed(double value, const char *expected) {
  char room[CST__REAL_ROOM];
  cst__real_print(room, value);
  CHECK_STR(room, expected);
}

TEST(printed) {
  check_printed(0.01, "0.01");
  check_printed(100, "100");
  check_printed(-2.5, "-2.5");
  check_printed(0.1 + 0.2, "0.30000000000000004");
  check_printed(1e300, "1e+300");
  check_printed(-DBL_MAX, "-1.7976931348623157e+308");
  check_printed(0, "0");
}

/* Every double is read back as it was. */
TEST(there_and_back) {
  uint64_t bits = 1;
  for (int i = 0; i < 20000; i++) {
    char room[CST__REAL_ROOM];
    double value;
    double back;
    bits = bits * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    memcpy(&value, &bits, sizeof value);
    if (isfinite(value)) {
      cst__real_print(room, value);
      CHECK(cst__real_parse(room, &back));
      CHECK_MEM(&back, &value, sizeof back);
    }
  }
}

TEST(other_locale) {
  if (setlocale(LC_NUMERIC, "de_DE.UTF-8") == NULL &&
      setlocale(LC_NUMERIC, "fr_FR.UTF-8") == NULL) {
    harness_skip("there is no locale with a comma");
  }
  CHECK_DOUBLE(parsed("0.25"), 0.25);
  check_printed(0.25, "0.25");
  setlocale(LC_NUMERIC, "C");
}

/* ---- as options ---- */

typedef struct settings {
  size_t size;
  double share;
  double low;
} settings;

static const cst__option options[] = {
    {.info = {.name = "share", .kind = CST_OPTION_REAL, .most = 1, .usual = "0.25"},
     .offset = offsetof(settings, share)},
    {.info = {.name = "low", .kind = CST_OPTION_REAL, .least = INT64_MIN, .most = INT64_MAX},
     .offset = offsetof(settings, low)},
};
static const cst__option_table table = {"test", options, 2, sizeof *options, sizeof(settings)};

static cst_status read(cst__arena *arena, const cst_option *given, size_t count, settings **out,
                       cst_error *error) {
  void *made;
  cst_status status =
      cst__options_read(&table, "test", (cst__option_list){given, count}, arena, &made, error);
  *out = made;
  return status;
}

static void check_refused(const char *name, const char *value, const char *message) {
  cst_error error = CST_ERROR_INIT;
  cst__arena arena;
  settings *made;
  const cst_option given = {name, value, NULL};
  cst__arena_init(&arena, NULL);
  CHECK_EQ(read(&arena, &given, 1, &made, &error), CST_INVALID_ARGUMENT);
  CHECK_STR(error.message, message);
  cst__arena_reset(&arena);
}

TEST(as_options) {
  cst_error error = CST_ERROR_INIT;
  cst__arena arena;
  settings *made;
  settings *usual;
  char room[CST__OPTION_ROOM];
  const cst_option given[] = {{"share", "1", NULL}, {"low", "-1e300", NULL}};
  const cst_option zero = {"low", "-0.0", NULL};
  cst__arena_init(&arena, NULL);
  CHECK_EQ(read(&arena, given, 2, &made, &error), CST_OK);
  CHECK_DOUBLE(made->share, 1);
  CHECK_DOUBLE(made->low, -1e300);
  CHECK_STR(cst__option_text(&options[1], made, room), "-1e+300");
  CHECK_EQ(read(&arena, &zero, 1, &usual, &error), CST_OK);
  CHECK_DOUBLE(usual->share, 0.25);
  CHECK(signbit(usual->low) == 0);
  CHECK(cst__option_equal(&options[0], made, made));
  CHECK(!cst__option_equal(&options[0], made, usual));
  CHECK_EQ(cst__options_check(&table, made, &error), CST_OK);
  made->share = 1.5;
  CHECK_EQ(cst__options_check(&table, made, &error), CST_INVALID_ARGUMENT);
  made->share = (double)NAN;
  CHECK_EQ(cst__options_check(&table, made, &error), CST_INVALID_ARGUMENT);
  cst__arena_reset(&arena);
  check_refused("share", "1.01", "test option share is '1.01': expected a number from 0 to 1");
  check_refused("share", "half", "test option share is 'half': expected a number from 0 to 1");
  check_refused("low", "inf", "test option low is 'inf': expected a number");
}
