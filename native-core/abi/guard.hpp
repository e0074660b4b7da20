/// What every function of the C ABI needs: the handle, checks of pointers, no exceptions.
#pragma once

#pragma GCC visibility push(default) // everything else in the library is hidden
#include "kvindex.h"
#pragma GCC visibility pop

#include "kvindex/prefix_index.hpp"

#include <new>

struct kvi_index {
    kvindex::prefix_index impl;
};

namespace kvindex::abi {

template <typename T>
bool readable(const T* pointer, std::uint64_t count) {
    return count == 0 || (pointer != nullptr && reinterpret_cast<std::uintptr_t>(pointer) % alignof(T) == 0);
}

template <typename T>
bool writable(T* pointer) {
    return readable(pointer, 1);
}

/// Runs f, which answers a status; no exception leaves.
template <typename F>
std::int32_t guarded(F&& f) noexcept {
    try {
        return f();
    } catch (const std::bad_alloc&) {
        return KVI_E_MEMORY;
    } catch (...) {
        return KVI_E_INTERNAL;
    }
}

} // namespace kvindex::abi
