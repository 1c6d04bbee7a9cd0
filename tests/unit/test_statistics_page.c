/* The page of statistics: its data is between its head and its tail, and nothing is lost without
 * memory. What it shows is tested in a browser: python/tests/test_statistics_page.py.
 */
#include <columnstone/accumulate.h>
#include <columnstone/statistics.h>
#include <string.h>

#include "harness.h"

static cst_findings *no_rows(void) {
  cst_accumulator *accumulator;
  cst_findings *found = NULL;
  CHECK_EQ(cst_accumulator_new("statistics", NULL, 0, NULL, &accumulator, NULL), CST_OK);
  CHECK_EQ(cst_accumulator_finish(accumulator, &found, NULL), CST_OK);
  cst_accumulator_free(accumulator);
  return found;
}

TEST(a_page) {
  cst_findings *found = no_rows();
  const cst_statistics_named tables[] = {{"a</script>\xff", found}, {NULL, found}};
  char *html = NULL;
  size_t size = 0;
  CHECK_EQ(cst_statistics_page(tables, 2, NULL, &html, &size, NULL), CST_OK);
  CHECK_EQ(strlen(html), size);
  CHECK(strstr(html, "{\"name\":\"a\\u003c/script>\xef\xbf\xbd\",\"totals\":{\"num_rows\":0,"));
  CHECK(strstr(html, "{\"name\":\"other data\""));
  CHECK_STR(html + size - strlen("</html>\n"), "</html>\n");
  cst_free(html);
  cst_findings_free(found);
}

TEST(arguments) {
  cst_findings *found = no_rows();
  const cst_statistics_named tables[] = {{"a", found}, {"b", NULL}};
  char *html = (char *)"";
  size_t size = 1;
  CHECK_EQ(cst_statistics_page(NULL, 1, NULL, &html, &size, NULL), CST_INVALID_ARGUMENT);
  CHECK(html == NULL && size == 0);
  CHECK_EQ(cst_statistics_page(tables, 0, NULL, &html, &size, NULL), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_statistics_page(tables, 2, NULL, &html, &size, NULL), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_statistics_page(tables, 3, NULL, &html, &size, NULL), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_statistics_page(tables, 1, found, &html, &size, NULL), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_statistics_page(tables, 1, NULL, NULL, &size, NULL), CST_INVALID_ARGUMENT);
  cst_findings_free(found);
}

static int make_page(void *context) {
  const cst_statistics_named table = {"a", context};
  char *html = NULL;
  size_t size;
  cst_status status = cst_statistics_page(&table, 1, NULL, &html, &size, NULL);
  cst_free(html);
  return (int)status;
}

TEST(without_memory) {
  cst_findings *found = no_rows();
  FOR_EACH_ALLOCATION_FAILURE(make_page, found, CST_NO_MEMORY);
  cst_findings_free(found);
}
