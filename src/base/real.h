/* Real numbers of options as text, whatever the locale of the process is. `text/number.h` is for
 * data: it is faster, and takes more.
 */
#ifndef BASE_REAL_H
#define BASE_REAL_H

#include <stdbool.h>

enum { CST__REAL_ROOM = 32 }; /* bytes for any of them, with a NUL */

/* Digits with or without a point, of a sign and an exponent if any; at most 100 digits. The nearest
 * double; false for any other text, and for what no double holds. */
bool cst__real_parse(const char *text, double *out);

/* A finite one, by at most 17 digits that are read back as the same. */
void cst__real_print(char room[CST__REAL_ROOM], double value);

#endif /* BASE_REAL_H */
