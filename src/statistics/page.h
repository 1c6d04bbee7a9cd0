/* The page of statistics without its data: tools/make_page makes it of the files in
 * src/statistics/page.
 */
#ifndef STATISTICS_PAGE_H
#define STATISTICS_PAGE_H

#include <stddef.h>

extern const char cst__page_head[];
extern const size_t cst__page_head_size;
extern const char cst__page_tail[];
extern const size_t cst__page_tail_size;

#endif /* STATISTICS_PAGE_H */
