/// A reserved range of addresses that is touched from its start upwards: an array that grows without moving.
///
/// Reserving costs no memory; the kernel gives zeroed pages at the first touch. The first part is left in
/// small pages, so that a small index stays small; the rest asks for huge ones, because a look-up is a chain
/// of cache misses and each would be a TLB miss too. Not thread-safe; addresses stay valid until destruction.
#pragma once

#include "base/failure_point.hpp"

#include <cstddef>
#include <new>

#include <sys/mman.h>

namespace kvindex::storage {

template <typename T>
class region {
public:
    explicit region(std::size_t capacity) : m_capacity(capacity) {
        failure_point();
        void* const at = ::mmap(nullptr, bytes(), PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (at == MAP_FAILED) {
            throw std::bad_alloc();
        }
        m_data = static_cast<T*>(at);
        if (bytes() > small_part) {
            // Advice only: without huge pages the index is slower, not wrong.
            (void)::madvise(static_cast<char*>(at) + small_part, bytes() - small_part, MADV_HUGEPAGE);
        }
    }
    region(const region&) = delete;
    region& operator=(const region&) = delete;

    ~region() {
        (void)::munmap(m_data, bytes());
    }

    T& operator[](std::size_t i) {
        return m_data[i];
    }

    const T& operator[](std::size_t i) const {
        return m_data[i];
    }

    T* data() {
        return m_data;
    }

    const T* data() const {
        return m_data;
    }

    std::size_t capacity() const {
        return m_capacity;
    }

private:
    static constexpr std::size_t small_part = std::size_t{2} << 20;

    std::size_t bytes() const {
        return m_capacity * sizeof(T);
    }

    T* m_data = nullptr;
    std::size_t m_capacity;
};

} // namespace kvindex::storage
