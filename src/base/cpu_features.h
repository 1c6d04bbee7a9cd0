/* The processor: what it has to be, and which newer instructions it has. */
#ifndef BASE_CPU_FEATURES_H
#define BASE_CPU_FEATURES_H

/* Files and Arrow buffers are little-endian and are used where they lie; sizes of files have to fit
 * size_t. Meson says the same when it configures. */
#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__ || __SIZEOF_POINTER__ != 8
#error "Columnstone runs on 64-bit little-endian machines only"
#endif

#include <stdbool.h>
#include <stdint.h>

/* Instruction sets that code is compiled for beside the plain one. Each has all that the compiler
 * may use under its name, and the operating system saves the registers. */
typedef enum cst__cpu_level {
  CST__CPU_V2 = 1 << 0,       /* x86-64-v2 and carry-less multiplication */
  CST__CPU_V3 = 1 << 1,       /* x86-64-v3 */
  CST__CPU_AVX512 = 1 << 2,   /* both, and AVX-512 F, BW, DQ, VBMI2 with VPCLMULQDQ */
  CST__CPU_ARM_CRC = 1 << 3,  /* aarch64 with the CRC-32 instructions */
  CST__CPU_ARM_PMULL = 1 << 4 /* these, and products of polynomials of 64 bits */
} cst__cpu_level;

/* What the cpuid and xgetbv instructions say. */
typedef struct cst__cpuid {
  uint32_t ecx_1;        /* leaf 1 */
  uint32_t ebx_7;        /* leaf 7 */
  uint32_t ecx_7;        /* leaf 7 */
  uint32_t ecx_extended; /* leaf 0x80000001 */
  uint64_t xcr0;         /* 0 if the system has not enabled xgetbv */
} cst__cpuid;

/* The levels (a sum of cst__cpu_level) of a processor that says so. */
unsigned cst__levels_of(const cst__cpuid *cpuid);
/* The levels of an aarch64 processor, by the word AT_HWCAP of Linux's auxiliary vector. */
unsigned cst__arm_levels_of(uint64_t hwcap);

/* Whether this processor has the level; asked once. */
bool cst__cpu_has(cst__cpu_level level);

#endif /* BASE_CPU_FEATURES_H */
