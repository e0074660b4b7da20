#include "failing_memory.hpp"

#include "base/failure_point.hpp"

#include <cstdlib>
#include <new>

namespace {

thread_local std::uint64_t left = 0; // until one fails; 0 = none does
thread_local bool goes_on = false;
thread_local bool has_failed = false;
thread_local std::uint64_t points = 0;

bool fails() {
    if (has_failed && goes_on) {
        return true;
    }
    if (left == 0 || --left != 0) {
        return false;
    }
    has_failed = true;
    return true;
}

} // namespace

namespace kvindex::tests {

failing_memory::failing_memory(std::uint64_t n, failing how) {
    left = n;
    goes_on = how == failing::from_then_on;
    has_failed = false;
}

failing_memory::~failing_memory() {
    left = 0;
    goes_on = false;
    has_failed = false;
}

bool failing_memory::tripped() {
    return has_failed;
}

std::uint64_t failing_memory::points_tripped() {
    return points;
}

} // namespace kvindex::tests

void kvindex::failure_point() {
    if (fails()) {
        points++;
        throw std::bad_alloc();
    }
}

void* operator new(std::size_t size) {
    void* const memory = fails() ? nullptr : std::malloc(size == 0 ? 1 : size);
    if (memory == nullptr) {
        throw std::bad_alloc();
    }
    return memory;
}

void operator delete(void* memory) noexcept {
    std::free(memory);
}

void operator delete(void* memory, std::size_t) noexcept {
    std::free(memory);
}

void* operator new(std::size_t size, std::align_val_t alignment) {
    const auto align = static_cast<std::size_t>(alignment);
    void* const memory = fails() ? nullptr : std::aligned_alloc(align, (size + align - 1) / align * align);
    if (memory == nullptr) {
        throw std::bad_alloc();
    }
    return memory;
}

void operator delete(void* memory, std::align_val_t) noexcept {
    std::free(memory);
}

void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
    std::free(memory);
}
