/// (block, next local hash) -> the run that goes on there. Read by look-ups while the writer changes it.
///
/// Lines of seven words (tag:32 | run:32) and the number of entries that found the line full. The key itself is
/// in the run's head, which the look-up reads next anyway. Grows by splitting one segment of at most 2,048
/// lines at a time; the old segment stays readable until its grace period is over.
///
/// find(), prefetch(), glance(), settle(): any thread inside a pin. The rest: the writer.
#pragma once

#include "base/mix.hpp"
#include "base/prefetch.hpp"
#include "storage/granules.hpp"
#include "storage/layout.hpp"
#include "storage/reclaimer.hpp"

namespace kvindex::storage {

class child_table {
public:
    child_table(granule_arena& memory, reclaimer& reclaim, const run_head* runs);

    /// 0 when there is none.
    std::uint32_t find(place parent, local_hash local) const {
        std::uint32_t lines = 0;
        return find(parent, local, lines);
    }

    /// The same; adds the lines that were read to `lines`. One, but for crowded stretches.
    std::uint32_t find(place parent, local_hash local, std::uint32_t& lines) const {
        const std::uint64_t hash = hash_of(parent, local);
        const segment_ref s = of(hash);
        for (std::uint64_t at = hash & s.mask;; at = (at + 1) & s.mask) {
            lines++;
            const std::atomic<std::uint64_t>* line = s.lines + at * 8;
            for (std::uint32_t i = 0; i < per_line; i++) {
                // Acquire: pairs with the release in put(), after which the run is whole.
                const std::uint64_t entry = line[i].load(std::memory_order_acquire);
                if (entry >> 32 == hash >> 32 && entry != 0) {
                    const auto run = static_cast<std::uint32_t>(entry);
                    if (is(run, parent, local)) {
                        return run;
                    }
                }
            }
            // Each line may have been full once: the search ends where it began.
            if (line[per_line].load(std::memory_order_acquire) == 0 || at == ((hash - 1) & s.mask)) {
                return 0;
            }
        }
    }

    /// find() in two halves, so that something else can be done while memory answers. glance() reads the line
    /// that prefetch() asked for, and asks for the head of what is probably the run; settle() reads that.
    std::uint32_t glance(place parent, local_hash local) const {
        const std::uint64_t hash = hash_of(parent, local);
        const segment_ref s = of(hash);
        const std::atomic<std::uint64_t>* line = s.lines + (hash & s.mask) * 8;
        for (std::uint32_t i = 0; i < per_line; i++) {
            const std::uint64_t entry = line[i].load(std::memory_order_acquire); // as in find()
            if (entry >> 32 == hash >> 32 && entry != 0) {
                const auto run = static_cast<std::uint32_t>(entry);
                kvindex::prefetch(&m_runs[run]);
                return run;
            }
        }
        return line[per_line].load(std::memory_order_acquire) == 0 ? 0 : elsewhere;
    }

    /// What find() would have answered, given what glance() answered since the same pin.
    std::uint32_t settle(std::uint32_t glanced, place parent, local_hash local, std::uint32_t& lines) const {
        if (glanced == 0 || (glanced != elsewhere && is(glanced, parent, local))) {
            return glanced;
        }
        return find(parent, local, lines);
    }

    void prefetch(place parent, local_hash local) const {
        const std::uint64_t hash = hash_of(parent, local);
        const segment_ref s = of(hash);
        kvindex::prefetch(s.lines + (hash & s.mask) * 8);
    }

    /// The run's head must be complete: from here on readers find it. Throws std::bad_alloc without effect.
    void insert(place parent, local_hash local, std::uint32_t run);

    void erase(place parent, local_hash local, std::uint32_t run);

    std::uint64_t size() const {
        return m_size;
    }

    std::uint64_t bytes() const;

private:
    static constexpr std::uint32_t per_line = 7;
    static constexpr std::uint32_t first_lines = 4;
    static constexpr std::uint32_t most_lines = 1u << 11;
    static constexpr std::uint32_t most_depth =
        16; // of the directory: hashes made to be alike cannot grow it for ever

    /// From glance(): not in its line, but perhaps in a later one. No run has this number.
    static constexpr std::uint32_t elsewhere = 0xffffffffu;

    struct segment_ref {
        std::atomic<std::uint64_t>* lines;
        std::uint64_t mask;
    };

    /// Writer's view of a segment, beside its lines.
    struct segment {
        std::uint32_t at = 0; // granule
        std::uint32_t lines = 0;
        std::uint32_t used = 0;
        std::uint32_t depth = 0;
    };

    bool is(std::uint32_t run, place parent, local_hash local) const {
        const run_head& r = m_runs[run];
        return r.first.load(std::memory_order_relaxed) == local &&
               r.parent.load(std::memory_order_relaxed) == parent.run &&
               r.parent_at.load(std::memory_order_relaxed) == parent.offset;
    }

    static std::uint64_t hash_of(place parent, local_hash local) {
        return mix(mix(std::uint64_t{parent.run} << 16 | parent.offset) ^ local);
    }

    /// Directory in granules: word 0 = depth, then 2^depth words (granule << 8 | log2 of lines).
    segment_ref of(std::uint64_t hash) const {
        const std::atomic<std::uint64_t>* d = words(m_directory.load(std::memory_order_acquire));
        const std::uint64_t depth = d[0].load(std::memory_order_relaxed);
        // Acquire: pairs with point_at().
        const std::uint64_t ref = d[1 + (hash >> 1 >> (63 - depth))].load(std::memory_order_acquire);
        return {words(static_cast<std::uint32_t>(ref >> 8)), (std::uint64_t{1} << (ref & 0xff)) - 1};
    }

    std::atomic<std::uint64_t>* words(std::uint32_t at) const {
        return reinterpret_cast<std::atomic<std::uint64_t>*>(m_memory.words(at));
    }

    std::uint32_t depth() const {
        return static_cast<std::uint32_t>(
            words(m_directory.load(std::memory_order_relaxed))[0].load(std::memory_order_relaxed));
    }

    std::uint64_t hash_of_run(std::uint32_t run) const;
    segment make(std::uint32_t lines, std::uint32_t depth);
    void put(segment& s, std::uint64_t hash, std::uint32_t run);
    void grow(std::uint32_t which);
    void double_directory();
    void point_at(std::uint32_t first, std::uint32_t count, const segment& s, std::uint32_t number);

    granule_arena& m_memory;
    reclaimer& m_reclaim;
    const run_head* m_runs;
    std::atomic<std::uint32_t> m_directory{0};
    std::vector<std::uint32_t> m_numbers; // directory entry -> segment
    std::vector<segment> m_segments;
    std::uint64_t m_size = 0;
};

} // namespace kvindex::storage
