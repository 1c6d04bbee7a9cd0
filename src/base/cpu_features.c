/* Asking the processor. The compiler's own __builtin_cpu_supports does not know all of the names in
 * every version that we compile with. */
#include "base/cpu_features.h"

#include "base/thread.h"

/* Bits of the x86 feature words, by Intel's and AMD's manuals of the cpuid instruction. */
enum {
  ECX_1_V2 = 1 << 0                      /* SSE3 */
             | 1 << 1                    /* PCLMULQDQ */
             | 1 << 9                    /* SSSE3 */
             | 1 << 13                   /* CMPXCHG16B */
             | 1 << 19                   /* SSE4.1 */
             | 1 << 20                   /* SSE4.2 */
             | 1 << 23,                  /* POPCNT */
  ECX_EXTENDED_V2 = 1 << 0,              /* LAHF and SAHF */
  ECX_1_V3 = 1 << 12                     /* FMA */
             | 1 << 22                   /* MOVBE */
             | 1 << 27                   /* OSXSAVE */
             | 1 << 28                   /* AVX */
             | 1 << 29,                  /* F16C */
  EBX_7_V3 = 1 << 3                      /* BMI1 */
             | 1 << 5                    /* AVX2 */
             | 1 << 8,                   /* BMI2 */
  ECX_EXTENDED_V3 = 1 << 5,              /* LZCNT */
  EBX_7_AVX512 = 1 << 16                 /* AVX512F */
                 | 1 << 17               /* AVX512DQ */
                 | 1 << 30,              /* AVX512BW */
  ECX_7_AVX512 = 1 << 6                  /* AVX512_VBMI2 */
                 | 1 << 10,              /* VPCLMULQDQ */
  XCR0_AVX = 1 << 1 | 1 << 2,            /* SSE and AVX registers */
  XCR0_AVX512 = 1 << 5 | 1 << 6 | 1 << 7 /* masks, and the wide and the many registers */
};

static bool has_all_bits(uint64_t word, unsigned bits) { return (word & bits) == bits; }

unsigned cst__levels_of(const cst__cpuid *c) {
  if (!has_all_bits(c->ecx_1, ECX_1_V2) || !has_all_bits(c->ecx_extended, ECX_EXTENDED_V2)) {
    return 0;
  }
  if (!has_all_bits(c->ecx_1, ECX_1_V3) || !has_all_bits(c->ebx_7, EBX_7_V3) ||
      !has_all_bits(c->ecx_extended, ECX_EXTENDED_V3) || !has_all_bits(c->xcr0, XCR0_AVX)) {
    return CST__CPU_V2;
  }
  if (!has_all_bits(c->ebx_7, EBX_7_AVX512) || !has_all_bits(c->ecx_7, ECX_7_AVX512) ||
      !has_all_bits(c->xcr0, XCR0_AVX512)) {
    return CST__CPU_V2 | CST__CPU_V3;
  }
  return CST__CPU_V2 | CST__CPU_V3 | CST__CPU_AVX512;
}

/* The bits are those of Linux's HWCAP_PMULL and HWCAP_CRC32. */
unsigned cst__arm_levels_of(uint64_t hwcap) {
  enum { PMULL = 1 << 4, CRC32 = 1 << 7 };
  if (!has_all_bits(hwcap, CRC32)) {
    return 0;
  }
  return CST__CPU_ARM_CRC | (has_all_bits(hwcap, PMULL) ? (unsigned)CST__CPU_ARM_PMULL : 0);
}

static unsigned levels;
static cst__once once = CST__ONCE_INIT;

#if defined(__x86_64__)
#include <cpuid.h>

enum { OSXSAVE = 1 << 27 };

static void ask_cpu(void) {
  cst__cpuid c = {0};
  unsigned eax = 0;
  unsigned ebx = 0;
  unsigned edx = 0;
  (void)__get_cpuid(1, &eax, &ebx, &c.ecx_1, &edx);
  (void)__get_cpuid_count(7, 0, &eax, &c.ebx_7, &c.ecx_7, &edx);
  (void)__get_cpuid(0x80000001, &eax, &ebx, &c.ecx_extended, &edx);
  if (c.ecx_1 & OSXSAVE) {
    uint32_t low;
    uint32_t high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    c.xcr0 = (uint64_t)high << 32 | low;
  }
  levels = cst__levels_of(&c);
}
#elif defined(__aarch64__) && defined(__APPLE__)
/* Every processor of Apple that runs macOS has both. */
static void ask_cpu(void) { levels = CST__CPU_ARM_CRC | CST__CPU_ARM_PMULL; }
#elif defined(__aarch64__) && defined(__linux__)
#include <sys/auxv.h>

static void ask_cpu(void) { levels = cst__arm_levels_of(getauxval(AT_HWCAP)); }
#else
static void ask_cpu(void) {}
#endif

bool cst__cpu_has(cst__cpu_level level) {
  cst__call_once(&once, ask_cpu);
  return (levels & (unsigned)level) != 0;
}
