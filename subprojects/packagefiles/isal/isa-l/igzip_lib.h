/* Where an installed ISA-L has it. */
#include "../src/isal/isa-l/include/igzip_lib.h"
