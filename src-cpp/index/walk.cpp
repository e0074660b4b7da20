#include "index/walk.hpp"

#include "base/common_prefix.hpp"

#include <algorithm>
#include <cstring>

namespace kvindex::index {

using storage::holder;
using storage::holder_table;
using storage::run_head;

namespace {

constexpr std::uint32_t all_words = storage::slot_words;

using slot_set = std::array<std::uint64_t, all_words>;

/// Sets depth of every slot in the word to `depth`.
inline void write_depths(std::uint32_t* depth, std::uint64_t bits, std::uint32_t value) {
    for (; bits != 0; bits &= bits - 1) {
        depth[std::countr_zero(bits)] = value;
    }
}

/// State of one walk: for each tier the slots that hold everything so far.
template <std::uint32_t Tiers>
struct walker {
    const dense_out& out;
    std::uint32_t words;
    std::array<slot_set, Tiers> alive;
    std::uint32_t done = 0; ///< blocks

    bool anyone() const {
        std::uint64_t any = 0;
        for (std::uint32_t w = 0; w < words; w++) {
            any |= alive[Tiers - 1][w]; // the last tier's set holds the others'
        }
        return any != 0;
    }

    void emit(std::uint32_t t, std::uint32_t w, std::uint64_t bits, std::uint32_t depth) const {
        write_depths(out.depth + t * out.stride + w * 64, bits, depth);
    }

    /// The run gave `matched` blocks; these are its holders when there are few.
    void few(const std::array<std::uint64_t, storage::inline_holders>& held, std::uint32_t matched) {
        for (std::uint32_t t = 0; t < Tiers; t++) {
            slot_set keep{};
            for (const std::uint64_t word : held) {
                const std::uint32_t slot = holder::slot(word);
                if (word != holder::none && slot / 64 < words && holder::end(word, t) >= matched) {
                    keep[slot / 64] |= std::uint64_t{1} << (slot % 64);
                }
            }
            leave(t, keep);
            for (const std::uint64_t word : held) {
                raise(t, word, matched);
            }
            keep_only(t, keep);
        }
    }

    void many(const holder_table& table, std::uint32_t matched) {
        // Acquire, bits before words: a slot whose bit is gone has its word already.
        const std::uint64_t counts = table.counts.load(std::memory_order_acquire);
        const std::uint32_t levels = table.levels();
        const std::uint32_t both = std::min(words, table.words());
        std::array<slot_set, holder_table::max_levels> bits;
        for (std::uint32_t level = 0; level < levels; level++) {
            for (std::uint32_t w = 0; w < both; w++) {
                bits[level][w] = table.bits(level)[w].load(std::memory_order_acquire);
            }
        }
        slot_set whole{};
        for (std::uint32_t level = 0; level < levels; level++) {
            if (holder_table::cut(counts, level) >= matched) {
                for (std::uint32_t w = 0; w < both; w++) {
                    whole[w] |= bits[level][w];
                }
            }
        }
        bool enough = true; // the words cannot add anyone
        for (std::uint32_t w = 0; w < words; w++) {
            enough = enough && (alive[Tiers - 1][w] & ~whole[w]) == 0;
        }
        if (enough) {
            for (std::uint32_t t = 0; t < Tiers; t++) {
                keep_only(t, whole);
            }
            return;
        }
        std::array<std::uint64_t, storage::core_slots + 1> held;
        // The count again, after the bits: words that came in between are seen.
        const std::uint32_t used = holder_table::used(table.counts.load(std::memory_order_acquire));
        for (std::uint32_t i = 0; i < used; i++) {
            held[i] = table.holders()[i].load(std::memory_order_acquire);
        }
        // And the bits again, after the words: a word may already say what holds once a bit is cleared that was
        // not yet set when the bits were read first (tests/model/coverage_model.cpp).
        for (std::uint32_t level = 0; level < levels; level++) {
            for (std::uint32_t w = 0; w < both; w++) {
                bits[level][w] |= table.bits(level)[w].load(std::memory_order_acquire);
                whole[w] |= holder_table::cut(counts, level) >= matched ? bits[level][w] : 0;
            }
        }
        for (std::uint32_t t = 0; t < Tiers; t++) {
            slot_set keep = whole;
            for (std::uint32_t i = 0; i < used; i++) {
                const std::uint32_t slot = holder::slot(held[i]);
                if (held[i] != holder::none && slot / 64 < words && holder::end(held[i], t) >= matched) {
                    keep[slot / 64] |= std::uint64_t{1} << (slot % 64);
                }
            }
            leave(t, keep);
            for (std::uint32_t level = 0; level < levels; level++) { // ascending: the longest stays
                const std::uint32_t cut = holder_table::cut(counts, level);
                for (std::uint32_t w = 0; cut < matched && w < both; w++) {
                    emit(t, w, bits[level][w] & alive[t][w] & ~keep[w], done + cut);
                }
            }
            for (std::uint32_t i = 0; i < used; i++) {
                raise(t, held[i], matched);
            }
            keep_only(t, keep);
        }
    }

    /// Who drops out here got no further than the run's start.
    void leave(std::uint32_t t, const slot_set& keep) const {
        for (std::uint32_t w = 0; done != 0 && w < words; w++) {
            emit(t, w, alive[t][w] & ~keep[w], done);
        }
    }

    /// ... unless it holds a part of the run.
    void raise(std::uint32_t t, std::uint64_t word, std::uint32_t matched) const {
        const std::uint32_t slot = holder::slot(word);
        const std::uint32_t end = holder::end(word, t);
        if (end != 0 && end < matched && slot / 64 < words && (alive[t][slot / 64] >> (slot % 64) & 1) != 0) {
            std::uint32_t& depth = out.depth[t * out.stride + slot];
            depth = std::max(depth, done + end);
        }
    }

    void keep_only(std::uint32_t t, const slot_set& keep) {
        for (std::uint32_t w = 0; w < words; w++) {
            alive[t][w] &= keep[w];
        }
    }
};

} // namespace

void reader_view::show(std::uint32_t slot) {
    std::atomic<std::uint64_t>& word = m_visible[slot / 64];
    word.store(word.load(std::memory_order_relaxed) | std::uint64_t{1} << (slot % 64), std::memory_order_release);
    m_shown.store(std::max(m_shown.load(std::memory_order_relaxed), slot + 1), std::memory_order_release);
}

void reader_view::hide(std::uint32_t slot) {
    std::atomic<std::uint64_t>& word = m_visible[slot / 64];
    word.store(word.load(std::memory_order_relaxed) & ~(std::uint64_t{1} << (slot % 64)),
               std::memory_order_release);
}

namespace {

template <std::uint32_t Tiers>
std::uint32_t walk_tiers(const memory& m, const std::array<std::atomic<std::uint64_t>, all_words>& visible,
                         std::uint32_t name_space, const local_hash* locals, std::uint32_t count,
                         const dense_out& out, std::uint32_t shown) {
    walker<Tiers> at{.out = out, .words = (shown + 63) / 64, .alive = {}};
    for (std::uint32_t t = 0; t < Tiers; t++) {
        std::memset(out.depth + t * out.stride, 0, std::size_t{at.words} * 64 * sizeof(std::uint32_t));
    }
    if (count == 0) {
        return 0;
    }
    place parent{storage::root_run, name_space};
    std::uint32_t run = m.children.find(parent, locals[0]);
    if (run == 0) {
        return 0;
    }
    for (std::uint32_t w = 0; w < at.words; w++) {
        const std::uint64_t all = visible[w].load(std::memory_order_acquire);
        for (std::uint32_t t = 0; t < Tiers; t++) {
            at.alive[t][w] = all;
        }
    }
    while (run != 0) {
        const run_head& h = m.heads[run];
        // Acquire: pairs with append(), resize(): the content below this length is there.
        const std::uint32_t len = h.len.load(std::memory_order_acquire);
        const std::uint32_t most = std::min(len, count - at.done);
        const std::uint64_t* content = m.content.words(h.content.load(std::memory_order_acquire));
        const std::uint32_t cover = h.cover.load(std::memory_order_acquire);
        for (std::uint32_t i = 0; i < std::min(most, 96u); i += 8) {
            __builtin_prefetch(content + i);
        }
        if (cover != 0) {
            __builtin_prefetch(m.covers.words(cover));
            __builtin_prefetch(m.covers.words(cover) + 8);
        }
        if (most == len && at.done + len < count) {
            m.children.prefetch({run, len - 1}, locals[at.done + len]);
        }
        const auto matched = static_cast<std::uint32_t>(common_prefix(locals + at.done, content, most));
        std::uint32_t next = 0;
        if (matched != 0 && at.done + matched < count) {
            parent = {run, matched - 1};
            next = m.children.find(parent, locals[at.done + matched]);
        }
        if (next != 0) {
            __builtin_prefetch(&m.heads[next]);
        }
        if (matched == 0) {
            break; // shortened in the meantime
        }
        if (cover != 0) {
            at.many(*reinterpret_cast<const holder_table*>(m.covers.words(cover)), matched);
        } else {
            std::array<std::uint64_t, storage::inline_holders> held;
            for (std::uint32_t i = 0; i < storage::inline_holders; i++) {
                held[i] = h.holders[i].load(std::memory_order_acquire);
            }
            at.few(held, matched);
        }
        if (!at.anyone()) {
            return at.done + matched;
        }
        at.done += matched;
        run = next;
    }
    for (std::uint32_t t = 0; t < Tiers && at.done != 0; t++) {
        for (std::uint32_t w = 0; w < at.words; w++) {
            at.emit(t, w, at.alive[t][w], at.done);
        }
    }
    return at.done;
}

} // namespace

std::uint32_t reader_view::walk(std::uint32_t name_space, const local_hash* locals, std::uint32_t count,
                                const dense_out& out) const {
    const std::uint32_t shown = std::min(this->shown(), out.stride);
    return out.tiers == 1 ? walk_tiers<1>(m_memory, m_visible, name_space, locals, count, out, shown)
                          : walk_tiers<tier_count>(m_memory, m_visible, name_space, locals, count, out, shown);
}

} // namespace kvindex::index
