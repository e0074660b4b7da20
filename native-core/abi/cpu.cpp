/// What may be asked on any CPU, before anything else: this file is compiled for the first x86-64, the rest for
/// x86-64-v2 (CMakeLists.txt). No template and no inline function of another header: the linker could take the
/// copy that another file brings.
#pragma GCC visibility push(default)
#include "kvindex.h"
#pragma GCC visibility pop

extern "C" {

int32_t kvi_abi_version(uint32_t* out_version) {
    if (out_version == nullptr || reinterpret_cast<uintptr_t>(out_version) % alignof(uint32_t) != 0) {
        return KVI_E_ARGUMENT;
    }
    *out_version = KVI_ABI_VERSION;
    return KVI_OK;
}

int32_t kvi_cpu_lacks(char* out_names, uint32_t capacity) {
    if (out_names == nullptr || capacity == 0) {
        return KVI_E_ARGUMENT;
    }
    uint32_t length = 0;
    const auto lacks = [&](const char* name) {
        for (const char* separator = length == 0 ? "" : ", "; *separator != 0 && length + 1 < capacity;) {
            out_names[length++] = *separator++;
        }
        while (*name != 0 && length + 1 < capacity) {
            out_names[length++] = *name++;
        }
    };
#if defined(__x86_64__)
    // CMPXCHG16B and LAHF, which belong to x86-64-v2 too, came with SSE3 or before.
    __builtin_cpu_init();
    if (__builtin_cpu_supports("sse3") == 0) {
        lacks("SSE3");
    }
    if (__builtin_cpu_supports("ssse3") == 0) {
        lacks("SSSE3");
    }
    if (__builtin_cpu_supports("sse4.1") == 0) {
        lacks("SSE4.1");
    }
    if (__builtin_cpu_supports("sse4.2") == 0) {
        lacks("SSE4.2");
    }
    if (__builtin_cpu_supports("popcnt") == 0) {
        lacks("POPCNT");
    }
#else
    static_cast<void>(lacks);
#endif
    out_names[length] = 0;
    return KVI_OK;
}

} // extern "C"
