/* The page of statistics without its data, which goes between the two parts: tools/make_page makes
 * it of the files in src/statistics/page and src/page.
 */
#ifndef STATISTICS_PAGE_H
#define STATISTICS_PAGE_H

#include <columnstone/status.h>

extern const cst_bytes cst__statistics_page[2];

#endif /* STATISTICS_PAGE_H */
