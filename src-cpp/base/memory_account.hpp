/// Memory of one index: how much its tables take, and the place where tests make an allocation fail.
///
/// memory_account      not thread-safe; changed by the writer only
/// tracked_allocator   a standard allocator that charges one account, which must outlive it
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>
#include <vector>

namespace kvindex {

class memory_account {
public:
    std::uint64_t bytes() const {
        return m_bytes;
    }

    /// The n-th allocation from now throws std::bad_alloc, once; 0 = none does. For tests.
    void fail_at(std::uint64_t n) {
        m_until_failure = n;
    }

    void* allocate(std::size_t bytes) {
        if (m_until_failure != 0 && --m_until_failure == 0) {
            throw std::bad_alloc();
        }
        void* memory = ::operator new(bytes);
        m_bytes += bytes;
        return memory;
    }

    void release(void* memory, std::size_t bytes) noexcept {
        ::operator delete(memory);
        m_bytes -= bytes;
    }

private:
    std::uint64_t m_bytes = 0;
    std::uint64_t m_until_failure = 0;
};

template <typename T>
class tracked_allocator {
public:
    using value_type = T;
    using propagate_on_container_move_assignment = std::true_type;
    using propagate_on_container_swap = std::true_type;
    using is_always_equal = std::false_type;

    explicit tracked_allocator(memory_account& account) noexcept : m_account(&account) {
    }

    template <typename U>
    tracked_allocator(const tracked_allocator<U>& o) noexcept // NOLINT: converting, as allocators must
        : m_account(o.account()) {
    }

    T* allocate(std::size_t n) {
        static_assert(alignof(T) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__);
        if (n > static_cast<std::size_t>(-1) / 2 / sizeof(T)) {
            throw std::bad_array_new_length();
        }
        return static_cast<T*>(m_account->allocate(n * sizeof(T)));
    }

    void deallocate(T* memory, std::size_t n) noexcept {
        m_account->release(memory, n * sizeof(T));
    }

    memory_account* account() const noexcept {
        return m_account;
    }

    template <typename U>
    bool operator==(const tracked_allocator<U>& o) const noexcept {
        return m_account == o.account();
    }

private:
    memory_account* m_account;
};

template <typename T>
using tracked_vector = std::vector<T, tracked_allocator<T>>;

/// Room for `extra` more elements, growing by half, so that the next insertions cannot fail.
template <typename T>
void make_room(tracked_vector<T>& v, std::size_t extra) {
    const std::size_t need = v.size() + extra;
    if (need > v.capacity()) {
        const std::size_t grown = v.capacity() + v.capacity() / 2;
        v.reserve(need > grown ? need : grown);
    }
}

/// Gives memory back when most of it is unused. Optional: without memory for the smaller copy it stays.
template <typename T>
void trim_room(tracked_vector<T>& v) noexcept {
    if (v.capacity() < 32 || v.size() > v.capacity() / 4) {
        return;
    }
    try {
        tracked_vector<T> smaller(v.get_allocator());
        smaller.reserve(v.size() + v.size() / 2);
        smaller.assign(v.begin(), v.end());
        v.swap(smaller);
    } catch (const std::bad_alloc&) {
        return; // the larger array serves as well
    }
}

} // namespace kvindex
