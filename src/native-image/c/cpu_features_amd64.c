/*
 * libchelper: which instructions the processor has, by CPUID and XGETBV as Intel's and AMD's manuals have them.
 * The struct is generated from the builder's class AMD64LibCHelper$CPUFeatures: one byte per feature, 1 or 0,
 * in its order.
 */
#include <cpuid.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "amd64cpufeatures.h"

/* Registers of one leaf; zeros where the processor does not have it. */
typedef struct {
    unsigned int a, b, c, d;
} leaf_t;

static leaf_t leaf(unsigned int number, unsigned int part) {
    leaf_t r = {0, 0, 0, 0};
    if (__get_cpuid_max(number & 0x80000000U, NULL) >= number)
        __cpuid_count(number, part, r.a, r.b, r.c, r.d);
    return r;
}

static uint8_t bit(unsigned int word, int n) {
    return (word >> n) & 1U;
}

/* Register states that the system saves when it switches threads. */
static uint64_t saved_states(void) {
    unsigned int low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return ((uint64_t)high << 32) | low;
}

void determineCPUFeatures(CPUFeatures* f) {
    memset(f, 0, sizeof *f);
    leaf_t l1 = leaf(1, 0);
    leaf_t l7 = leaf(7, 0);
    leaf_t l7_1 = leaf(7, 1);
    leaf_t e1 = leaf(0x80000001U, 0);
    leaf_t e7 = leaf(0x80000007U, 0);
    uint64_t saved = bit(l1.c, 27) ? saved_states() : 0;
    uint8_t ymm = (saved & 0x06) == 0x06;
    uint8_t zmm = (saved & 0xE6) == 0xE6;

    f->fTSC = bit(l1.d, 4);
    f->fCX8 = bit(l1.d, 8);
    f->fCMOV = bit(l1.d, 15);
    f->fFLUSH = bit(l1.d, 19);
    f->fMMX = bit(l1.d, 23);
    f->fFXSR = bit(l1.d, 24);
    f->fSSE = bit(l1.d, 25);
    f->fSSE2 = bit(l1.d, 26);
    f->fHT = bit(l1.d, 28);
    f->fSSE3 = bit(l1.c, 0);
    f->fCLMUL = bit(l1.c, 1);
    f->fSSSE3 = bit(l1.c, 9);
    f->fSSE4_1 = bit(l1.c, 19);
    f->fSSE4_2 = bit(l1.c, 20);
    f->fPOPCNT = bit(l1.c, 23);
    f->fAES = bit(l1.c, 25);
    f->fHV = bit(l1.c, 31);

    f->fLZCNT = bit(e1.c, 5);
    f->fSSE4A = bit(e1.c, 6);
    f->fAMD_3DNOW_PREFETCH = bit(e1.c, 8);
    f->fRDTSCP = bit(e1.d, 27);
    f->fTSCINV_BIT = bit(e7.d, 8);
    f->fTSCINV = f->fTSCINV_BIT;

    f->fBMI1 = bit(l7.b, 3);
    f->fBMI2 = bit(l7.b, 8);
    f->fERMS = bit(l7.b, 9);
    f->fRTM = bit(l7.b, 11);
    f->fADX = bit(l7.b, 19);
    f->fFLUSHOPT = bit(l7.b, 23);
    f->fCLWB = bit(l7.b, 24);
    f->fSHA = bit(l7.b, 29);
    f->fPKU = bit(l7.c, 3);
    f->fOSPKE = bit(l7.c, 4);
    f->fCET_SS = bit(l7.c, 7);
    f->fGFNI = bit(l7.c, 8);
    f->fRDPID = bit(l7.c, 22);
    f->fFSRM = bit(l7.d, 4);
    f->fSERIALIZE = bit(l7.d, 14);
    f->fCET_IBT = bit(l7.d, 20);

    f->fAVX = ymm && bit(l1.c, 28);
    f->fVZEROUPPER = f->fAVX;
    f->fFMA = f->fAVX && bit(l1.c, 12);
    f->fF16C = f->fAVX && bit(l1.c, 29);
    f->fAVX2 = f->fAVX && bit(l7.b, 5);
    f->fSHA512 = f->fAVX2 && bit(l7_1.a, 0);
    f->fAVX_IFMA = f->fAVX2 && bit(l7_1.a, 23);

    f->fAVX512F = zmm && f->fAVX2 && bit(l7.b, 16);
    if (f->fAVX512F) {
        f->fAVX512DQ = bit(l7.b, 17);
        f->fAVX512_IFMA = bit(l7.b, 21);
        f->fAVX512PF = bit(l7.b, 26);
        f->fAVX512ER = bit(l7.b, 27);
        f->fAVX512CD = bit(l7.b, 28);
        f->fAVX512BW = bit(l7.b, 30);
        f->fAVX512VL = bit(l7.b, 31);
        f->fAVX512_VBMI = bit(l7.c, 1);
        f->fAVX512_VBMI2 = bit(l7.c, 6);
        f->fAVX512_VAES = bit(l7.c, 9);
        f->fAVX512_VPCLMULQDQ = bit(l7.c, 10);
        f->fAVX512_VNNI = bit(l7.c, 11);
        f->fAVX512_BITALG = bit(l7.c, 12);
        f->fAVX512_VPOPCNTDQ = bit(l7.c, 14);
        f->fAVX512_FP16 = bit(l7.d, 23);
    }
    /* APX and AVX10 stay 0: the executables of this builder do without. */
}

/*
 * `required` has a byte for each byte of the struct: a feature that the executable needs has a byte whose
 * lowest bit is 0. The answer is 0 when the processor has all of them.
 */
int checkCPUFeatures(const uint8_t* required) {
    CPUFeatures features;
    determineCPUFeatures(&features);
    const uint8_t* has = (const uint8_t*)&features;
    for (size_t i = 0; i < sizeof features; i++) {
        if (((has[i] | required[i]) & 1) == 0)
            return 1;
    }
    return 0;
}

/* The same; ends the process with `message` where one is missing. */
int checkCPUFeaturesOrExit(const uint8_t* required, const char* message) {
    if (checkCPUFeatures(required) != 0) {
        fputs(message, stderr);
        exit(1);
    }
    return 0;
}
