; The checksum of gzip, in the best version that the CPU has; ISA-L's macros choose it at the first call.
default rel
[bits 64]

%include "reg_sizes.asm"
%include "multibinary.asm"

extern crc32_gzip_refl_base
extern crc32_gzip_refl_by8
extern crc32_gzip_refl_avx2
extern crc32_gzip_refl_by16_10

mbin_interface crc32_gzip_refl
mbin_dispatch_init_clmul crc32_gzip_refl, crc32_gzip_refl_base, crc32_gzip_refl_by8, crc32_gzip_refl_by8, crc32_gzip_refl_avx2, crc32_gzip_refl_by16_10
