/// Epochs: when memory that a writer took out of a structure may be used again.
///
/// A reader pins the domain, reads through atomics, and unpins. One writer unlinks something by an atomic
/// store, notes it in a limbo with the epoch of that moment, and uses it again once every reader that was
/// pinned then has gone.
///
/// pin                  any thread, also within another pin; does not allocate
/// current(), advance   one thread at a time: the writer
/// limbo                the writer only
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

namespace kvindex::sync {

/// The strength of each step. The model checker weakens one at a time and expects to see the damage.
struct epoch_rules {
    static constexpr bool look_again = true;
    static constexpr std::memory_order claim = std::memory_order_seq_cst;
    static constexpr std::memory_order unpin = std::memory_order_release;
    static constexpr std::memory_order raise_mark = std::memory_order_seq_cst;
    static constexpr std::memory_order advance = std::memory_order_seq_cst;
    static constexpr std::memory_order scan = std::memory_order_seq_cst;

    /// Called between two searches for a free slot.
    static void wait() {
        std::this_thread::yield();
    }
};

/// A number of the calling thread: 0 for the first that asks, then 1, ... Never given to another thread.
inline std::uint32_t thread_number() {
    static constexpr std::uint32_t unset = 0xffffffffu;
    static constinit std::atomic<std::uint32_t> threads{0};
    static constinit thread_local std::uint32_t number = unset;
    if (number == unset) {
        // relaxed: only the number itself has to be unique.
        number = threads.fetch_add(1, std::memory_order_relaxed);
    }
    return number;
}

/// Why it is safe. Something was unlinked, retired with epoch r, and a later advance_and_min() returned
/// m > r. Take any reader, with the epoch e in its slot:
///
/// 1. The scan saw e. Then m <= e, so r < e: the thing was unlinked before the writer stored e. The reader
///    loaded e or a later epoch, which acquires that store, so it finds the thing unlinked.
/// 2. The scan saw the slot as it was before this reader claimed it, or a mark below it. In the one order of
///    all seq_cst operations: advance -> scan -> claim -> look again. The second load of the epoch must
///    therefore see the advance, and with it (acquire) everything that was unlinked before. Without that
///    load only the slot would be ordered: the reader could still be given an old link.
/// 3. The scan saw the slot after this reader left. The release of its last store, which later claims of the
///    same slot pass on, orders all its reads before the reuse.
///
/// A reader that was held up before its claim may put an old epoch into its slot. That only delays reuse.
template <template <typename> class Atomic = std::atomic, std::uint32_t Slots = 1024,
          typename Rules = epoch_rules>
class epoch_domain {
    struct slot;

public:
    static constexpr std::uint32_t reader_slots = Slots;

    /// While it lives, nothing that the calling thread can reach is used again. One compare-exchange and
    /// one store when the thread's own slot is free.
    ///
    /// Waits, yielding, only while all reader_slots pins are taken. A thread that holds them all and asks
    /// for one more waits for ever.
    class pin {
    public:
        explicit pin(const epoch_domain& domain) : pin(domain, thread_number()) {
        }

        /// Looks for a free slot from `first` modulo reader_slots on.
        pin(const epoch_domain& domain, std::uint32_t first) : m_slot(domain.claim(first % Slots)) {
        }

        ~pin() {
            // release: pairs with the scan. Who finds the slot idle may reuse what was read before this.
            m_slot.epoch.store(idle, Rules::unpin);
        }

        pin(const pin&) = delete;
        pin& operator=(const pin&) = delete;

    private:
        slot& m_slot;
    };

    /// What the writer retires now, having unlinked it, gets this epoch. Starts at 1. Writer only.
    std::uint64_t current() const {
        // relaxed: the writer reads what it stored itself.
        return m_epoch.load(std::memory_order_relaxed);
    }

    /// Begins a new epoch and returns the smallest one that a reader holds, or the new one if none does.
    /// What was retired with a smaller epoch may be used again. May return less than it did before; what
    /// was free by an earlier answer stays free. Writer only, never waits. Costs a fenced store and one
    /// cache line for each slot that was ever used.
    std::uint64_t advance_and_min() {
        const std::uint64_t next = current() + 1;
        // seq_cst: before the scan in the order of all such operations (2. above). Its release half pairs
        // with the loads of the epoch in claim().
        m_epoch.store(next, Rules::advance);
        std::uint64_t min = next;
        // seq_cst: pairs with the raise in claim(). A mark that misses a reader was read before its raise.
        const std::uint32_t mark = m_mark.load(Rules::scan);
        for (std::uint32_t i = 0; i < mark; i++) {
            // seq_cst: pairs with the claim (2.); its acquire half with the unpin (3.).
            const std::uint64_t held = m_slots[i].epoch.load(Rules::scan);
            if (held != idle && held < min) {
                min = held;
            }
        }
        return min;
    }

private:
    static constexpr std::uint64_t idle = 0;
    static constexpr std::size_t cache_line = 64;

    struct alignas(cache_line) slot {
        Atomic<std::uint64_t> epoch{idle};
    };

    slot& claim(std::uint32_t first) const {
        for (;;) {
            // seq_cst: pairs with the advance. Old is fine, see above.
            const std::uint64_t now = m_epoch.load(std::memory_order_seq_cst);
            for (std::uint32_t i = 0; i < Slots; i++) {
                const std::uint32_t index = first + i < Slots ? first + i : first + i - Slots;
                std::uint64_t expected = idle;
                // seq_cst: pairs with the scan (2.). relaxed when taken: nothing is concluded from that.
                if (m_slots[index].epoch.compare_exchange_strong(expected, now, Rules::claim,
                                                                 std::memory_order_relaxed)) {
                    raise_mark(index + 1);
                    if constexpr (Rules::look_again) {
                        // seq_cst: pairs with the advance (1. and 2.). The value is of no interest.
                        static_cast<void>(m_epoch.load(std::memory_order_seq_cst));
                    }
                    return m_slots[index];
                }
            }
            Rules::wait();
        }
    }

    void raise_mark(std::uint32_t mark) const {
        // seq_cst, the load too: when another reader raised the mark, a scan that missed it came before
        // that raise, so before this load, so before the second look at the epoch.
        std::uint32_t seen = m_mark.load(Rules::raise_mark);
        while (seen < mark &&
               !m_mark.compare_exchange_strong(seen, mark, Rules::raise_mark, Rules::raise_mark)) {
        }
    }

    // One line for both: a reader needs both, and the mark hardly ever changes.
    alignas(cache_line) Atomic<std::uint64_t> m_epoch{1};
    mutable Atomic<std::uint32_t> m_mark{0}; // slots from here on were never used
    mutable std::array<slot, Slots> m_slots;
};

/// Things that were unlinked and wait for their readers to leave, oldest first. A ring that grows when full
/// and never shrinks; every call costs O(1) amortised for each thing.
///
/// T is movable and has a default value; a thing that was handed out leaves one behind.
template <typename T, typename Allocator = std::allocator<T>>
class limbo {
public:
    explicit limbo(const Allocator& allocator = Allocator()) : m_ring(entry_allocator(allocator)) {
    }

    /// Room for `extra` more, so that the next calls of retire() cannot fail. Throws std::bad_alloc and
    /// changes nothing then.
    void reserve(std::size_t extra) {
        const std::size_t need = m_size + extra;
        if (need <= m_ring.size()) {
            return;
        }
        std::size_t grown = m_ring.empty() ? 16 : m_ring.size();
        while (grown < need) {
            grown *= 2;
        }
        ring larger(grown, m_ring.get_allocator());
        for (std::size_t i = 0; i < m_size; i++) {
            larger[i] = std::move(at(i));
        }
        m_ring.swap(larger);
        m_first = 0;
    }

    /// Takes what is unlinked already, with the epoch_domain's current(). Epochs do not fall from call to
    /// call. Throws std::bad_alloc as reserve() does.
    void retire(T what, std::uint64_t epoch) {
        reserve(1);
        at(m_size) = entry{std::move(what), epoch};
        m_size++;
    }

    /// Hands everything with an epoch below `min` to free, oldest first. `free` may retire more; what it
    /// throws passes through, and the thing in its hands is no longer here.
    template <typename F>
    void reclaim(std::uint64_t min, F&& free) {
        while (m_size != 0 && at(0).epoch < min) {
            T what = std::exchange(at(0).what, T());
            m_first = (m_first + 1) & (m_ring.size() - 1);
            m_size--;
            free(std::move(what));
        }
    }

    std::size_t size() const {
        return m_size;
    }

private:
    struct entry {
        T what{};
        std::uint64_t epoch = 0;
    };
    using entry_allocator = typename std::allocator_traits<Allocator>::template rebind_alloc<entry>;
    using ring = std::vector<entry, entry_allocator>;

    entry& at(std::size_t i) {
        return m_ring[(m_first + i) & (m_ring.size() - 1)];
    }

    ring m_ring; // its size is a power of two, or 0
    std::size_t m_first = 0;
    std::size_t m_size = 0;
};

} // namespace kvindex::sync
