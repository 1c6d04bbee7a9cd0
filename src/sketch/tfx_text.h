/* Values as the texts by which tfx_bsl's sketches know them. */
#ifndef SKETCH_TFX_TEXT_H
#define SKETCH_TFX_TEXT_H

#include "sketch/values.h"

enum { CST__VALUE_TEXT_ROOM = 32 };

/* The i-th value: bytes as they are, integers in decimal digits, doubles as C's "%a" in the locale
 * "C" ("0x1.8p+0", "-0x0p+0", "inf", "nan", "-nan"), but from 2^-1023 to 2^-1022 as
 * "0x1.8p-1023". Numbers lie in `room`. */
cst_bytes cst__value_text(const cst__value_block *values, size_t i,
                          char room[CST__VALUE_TEXT_ROOM]);
/* The value of such a text of a number, as its 64 bits; false: it is none of the family. */
bool cst__value_of_text(cst__family family, cst_bytes text, uint64_t *bits);

#endif /* SKETCH_TFX_TEXT_H */
