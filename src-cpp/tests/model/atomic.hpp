/// An atomic whose loads may see every store that C++20 lets them see.
///
/// Stores of one location are ordered as they were executed. So an execution in which two threads store to two
/// locations in opposite orders (2+2W) is not explored. The order of the seq_cst operations is the order of
/// execution, so it agrees with all of happens-before; C++20 asks for a little less where one location has
/// seq_cst and weaker operations. Fences are missing.
#pragma once

#include "explorer.hpp"

#include <array>
#include <cstddef>
#include <type_traits>
#include <vector>

namespace kvindex::model {

template <typename T>
std::uint64_t bits_of(T value) {
    if constexpr (std::is_pointer_v<T>) {
        return reinterpret_cast<std::uintptr_t>(value);
    } else {
        return static_cast<std::uint64_t>(value);
    }
}

template <typename T>
class atomic {
public:
    atomic(T value = T()) : m_id(explorer::current().new_location()) { // NOLINT: converting, as std::atomic
        append(value, explorer::current().tick(), clock{});
    }

    atomic(const atomic&) = delete;
    atomic& operator=(const atomic&) = delete;

    T load(std::memory_order order = std::memory_order_seq_cst) const {
        explorer& e = explorer::current();
        e.step({op_kind::load, this, order == std::memory_order_seq_cst});
        const std::size_t newest = m_history.size() - 1;
        const std::size_t behind = e.choose(static_cast<std::uint32_t>(newest - oldest_visible(order) + 1));
        return see(newest - behind, order, behind == 0 ? "load" : "load (stale)");
    }

    void store(T value, std::memory_order order = std::memory_order_seq_cst) {
        explorer& e = explorer::current();
        e.step({op_kind::store, this, order == std::memory_order_seq_cst});
        check_built();
        put(value, order, clock{}, "store");
    }

    /// Never fails without cause. A failure may come from an older store, as with a load.
    bool compare_exchange_strong(T& expected, T desired, std::memory_order success, std::memory_order failure) {
        explorer& e = explorer::current();
        const bool seq_cst = success == std::memory_order_seq_cst || failure == std::memory_order_seq_cst;
        e.step({op_kind::rmw, this, seq_cst});
        const std::size_t newest = m_history.size() - 1;
        std::vector<std::size_t>& seen = m_candidates;
        seen.assign(1, newest);
        for (std::size_t i = oldest_visible(failure); i < newest; i++) {
            if (m_history[i].value != expected) {
                seen.push_back(i);
            }
        }
        const std::size_t at = seen[e.choose(static_cast<std::uint32_t>(seen.size()))];
        if (at == newest && m_history[at].value == expected) {
            replace(desired, success, "exchange");
            return true;
        }
        expected = see(at, failure, "no exchange");
        return false;
    }

    bool compare_exchange_strong(T& expected, T desired, std::memory_order order = std::memory_order_seq_cst) {
        return compare_exchange_strong(expected, desired, order, order);
    }

    T exchange(T value, std::memory_order order = std::memory_order_seq_cst) {
        explorer::current().step({op_kind::rmw, this, order == std::memory_order_seq_cst});
        return replace(value, order, "exchange");
    }

    T fetch_add(T value, std::memory_order order = std::memory_order_seq_cst) {
        explorer::current().step({op_kind::rmw, this, order == std::memory_order_seq_cst});
        return replace(static_cast<T>(m_history.back().value + value), order, "add");
    }

private:
    struct record {
        T value;
        stamp by;
        clock released;                                   // what a thread that acquires this store gets to know
        std::uint64_t number;                             // among all stores of the execution
        std::array<std::uint32_t, max_threads> read_at{}; // first time each thread saw it, 0 = never
    };

    static bool acquires(std::memory_order order) {
        return order != std::memory_order_relaxed && order != std::memory_order_release;
    }

    static bool releases(std::memory_order order) {
        return order == std::memory_order_release || order == std::memory_order_acq_rel ||
               order == std::memory_order_seq_cst;
    }

    void check_built() const {
        explorer& e = explorer::current();
        if (!e.now().covers(m_history.front().by)) {
            e.fail("data race: atomic used before its construction is known");
        }
    }

    /// Coherence: nothing older than what happens before this load, written or read.
    std::size_t oldest_visible(std::memory_order order) const {
        check_built();
        explorer& e = explorer::current();
        std::size_t i = m_history.size() - 1;
        if (!e.limits().stale_reads || e.thread() == 0) {
            return i;
        }
        const std::size_t floor = order == std::memory_order_seq_cst ? m_seq_cst_floor : 0;
        while (i > floor && !known(m_history[i])) {
            i--;
        }
        return i;
    }

    bool known(const record& r) const {
        explorer& e = explorer::current();
        if (e.now().covers(r.by) || r.number <= e.seen_stores()) {
            return true;
        }
        for (std::uint32_t t = 0; t < max_threads; t++) {
            if (r.read_at[t] != 0 && e.now().covers({t, r.read_at[t]})) {
                return true;
            }
        }
        return false;
    }

    T see(std::size_t at, std::memory_order order, const char* what) const {
        explorer& e = explorer::current();
        record& r = m_history[at];
        std::uint32_t& read_at = r.read_at[e.thread()];
        if (read_at == 0) {
            read_at = e.now().last(e.thread()).time;
        }
        if (acquires(order)) {
            e.now().join(r.released);
        }
        if (order == std::memory_order_seq_cst && at > m_seq_cst_floor) {
            // A later seq_cst load comes after this one in their order, so it sees nothing older.
            m_seq_cst_floor = at;
        }
        e.note(what, m_id, order, bits_of(r.value));
        return r.value;
    }

    void put(T value, std::memory_order order, clock released, const char* what) {
        explorer& e = explorer::current();
        if (releases(order)) {
            released.join(e.now());
        }
        append(value, e.now().last(e.thread()), released);
        if (order == std::memory_order_seq_cst) {
            m_seq_cst_floor = m_history.size() - 1;
        }
        e.note(what, m_id, order, bits_of(value));
    }

    /// A read-modify-write sees the newest store and goes on with its release sequence.
    T replace(T value, std::memory_order order, const char* what) {
        check_built();
        const record before = m_history.back();
        if (acquires(order)) {
            explorer::current().now().join(before.released);
        }
        put(value, order, before.released, what);
        return before.value;
    }

    void append(T value, stamp by, const clock& released) {
        m_history.push_back({value, by, released, explorer::current().new_store(), {}});
    }

    std::uint32_t m_id;
    mutable std::vector<record> m_history; // the modification order
    mutable std::size_t m_seq_cst_floor = 0;
    std::vector<std::size_t> m_candidates;
};

} // namespace kvindex::model
