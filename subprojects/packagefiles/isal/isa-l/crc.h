/* Where an installed ISA-L has it. */
#include "../src/isal/isa-l/include/crc.h"
