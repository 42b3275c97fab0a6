// Functions marked LESSNAIVE_WIDE are compiled twice, for the oldest machines and for AVX2, and the
// right one is taken when the module is loaded. Both do the same additions and multiplications in
// the same order (no fused ones), so the numbers do not depend on the machine.
//
// They must not throw, so they neither ask for memory nor poll: GCC takes for granted that nothing
// is thrown where one of the two is chosen, and what is thrown there ends the process.
#pragma once

#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__linux__)
#define LESSNAIVE_WIDE __attribute__((target_clones("avx2", "default")))
#else
#define LESSNAIVE_WIDE
#endif

// What such functions call in their inner loops must become a part of them to be compiled twice.
#if defined(__GNUC__)
#define LESSNAIVE_INLINE inline __attribute__((always_inline))
#else
#define LESSNAIVE_INLINE inline
#endif
