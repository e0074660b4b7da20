#include "index/holders.hpp"

#include <algorithm>

namespace kvindex::index {

using storage::holder;
using storage::holder_table;
using storage::run_cold;
using storage::run_head;

namespace {

constexpr std::uint64_t slot_mask = std::uint64_t{1} << 63 | std::uint64_t{0x3ff} << 52;

constexpr std::uint64_t slot_pattern(std::uint32_t slot) {
    return std::uint64_t{1} << 63 | std::uint64_t{slot} << 52;
}

constexpr std::uint32_t nowhere = 0xffffffffu;

/// Index of the slot's word, or nowhere. The writer alone changes them, so it may read them as plain words.
std::uint32_t index_of(const std::atomic<std::uint64_t>* words, std::uint32_t count, std::uint32_t slot) {
    const std::uint64_t pattern = slot_pattern(slot);
    for (std::uint32_t i = 0; i < count; i++) {
        if ((words[i].load(std::memory_order_relaxed) & slot_mask) == pattern) {
            return i;
        }
    }
    return nowhere;
}

std::uint32_t level_of(const holder_table& t, std::uint32_t slot) {
    for (std::uint32_t level = 0; slot / 64 < t.words() && level < t.levels(); level++) {
        if ((t.bits(level)[slot / 64].load(std::memory_order_relaxed) >> (slot % 64) & 1) != 0) {
            return level;
        }
    }
    return nowhere;
}

} // namespace

void holders::expect_slot(std::uint32_t slot) {
    m_words = std::max(m_words, slot / 64 + 1);
}

std::uint64_t holders::word_of(std::uint32_t run, std::uint32_t slot) const {
    const run_head& h = m_memory.heads[run];
    const std::uint32_t cover = h.cover.load(std::memory_order_relaxed);
    if (cover == 0) {
        const std::uint32_t i = index_of(h.holders.data(), storage::inline_holders, slot);
        return i == nowhere ? holder::none : h.holders[i].load(std::memory_order_relaxed);
    }
    const holder_table& t = table(cover);
    const std::uint64_t counts = t.counts.load(std::memory_order_relaxed);
    // Most holders of a popular run have a bit and no word; where there is a word, it says all.
    const std::uint32_t i = index_of(t.holders(), holder_table::used(counts), slot);
    if (i != nowhere) {
        return t.holders()[i].load(std::memory_order_relaxed);
    }
    const std::uint32_t level = level_of(t, slot);
    return level == nowhere ? holder::none : holder::pack(slot, holder_table::cut(counts, level));
}

residency* holders::find_detail(std::uint32_t run, std::uint32_t slot) const {
    if (run_extra* extra = m_memory.find_extra(run)) {
        for (holder_detail& d : extra->details) {
            if (d.slot == slot) {
                return &d.held;
            }
        }
    }
    return nullptr;
}

residency holders::residency_of(std::uint32_t run, std::uint32_t slot) const {
    const std::uint64_t word = word_of(run, slot);
    if (word == holder::none) {
        return {};
    }
    if (holder::complex(word)) {
        return *find_detail(run, slot);
    }
    return {{0, holder::end(word, 0), mask_of(tier::gpu)}};
}

tier_mask holders::tiers_at(std::uint32_t run, std::uint32_t slot, std::uint32_t offset) const {
    const std::uint64_t word = word_of(run, slot);
    if (word == holder::none) {
        return 0;
    }
    if (holder::complex(word)) {
        return index::tiers_at(*find_detail(run, slot), offset);
    }
    return offset < holder::end(word, 0) ? mask_of(tier::gpu) : tier_mask{0};
}

bool holders::anyone_at(std::uint32_t run, std::uint32_t offset) const {
    if (offset >= m_memory.colds[run].held_end) {
        return false;
    }
    bool found = false;
    for_each(run, [&](std::uint32_t slot, std::uint64_t word) {
        found = found || (holder::complex(word) ? index::tiers_at(*find_detail(run, slot), offset) != 0
                                                : offset < holder::end(word, 0));
    });
    return found;
}

/// One past the last block that this holder has.
std::uint32_t holders::end_of(std::uint32_t run, std::uint64_t word) const {
    return holder::complex(word) ? find_detail(run, holder::slot(word))->back().end : holder::end(word, 0);
}

std::uint32_t holders::held_end(std::uint32_t run) const {
    std::uint32_t end = 0;
    for_each(run, [&](std::uint32_t, std::uint64_t word) { end = std::max(end, end_of(run, word)); });
    return end;
}

/// The most common change: one of few holders goes on where it ended, in GPU memory. False: it is not that.
bool holders::extend(std::uint32_t run, std::uint32_t slot, std::uint32_t begin, std::uint32_t end) {
    run_head& h = m_memory.heads[run];
    if (h.cover.load(std::memory_order_relaxed) != 0) {
        return false;
    }
    const std::uint32_t i = index_of(h.holders.data(), storage::inline_holders, slot);
    if (i == nowhere || h.holders[i].load(std::memory_order_relaxed) != holder::pack(slot, begin)) {
        return false;
    }
    m_residencies += end - begin;
    count(slot, tier::gpu, end - begin);
    // Release: pairs with the walk; the content it speaks of was written before.
    h.holders[i].store(holder::pack(slot, end), std::memory_order_release);
    run_cold& c = m_memory.colds[run];
    c.held_end = std::max(c.held_end, end);
    return true;
}

residency_change holders::change(std::uint32_t run, std::uint32_t slot, std::uint32_t begin, std::uint32_t end,
                                 tier where, bool add) {
    if (add && where == tier::gpu && extend(run, slot, begin, end)) {
        return {.touched = end - begin, .held = static_cast<std::int32_t>(end - begin)};
    }
    run_cold& c = m_memory.colds[run];
    const std::uint64_t before = word_of(run, slot);
    if (before == holder::none && !add) {
        return {};
    }
    residency_change done;
    std::uint64_t after = before;
    const bool simple = !holder::complex(before) && where == tier::gpu;
    const std::uint32_t had = before == holder::none ? 0 : holder::end(before, 0);
    if (simple && add && begin <= had) {
        done.touched = end > had ? end - had : 0;
        done.held = static_cast<std::int32_t>(done.touched);
        after = holder::pack(slot, std::max(had, end));
    } else if (simple && !add && end >= had) {
        done.touched = begin < had ? had - begin : 0;
        done.held = -static_cast<std::int32_t>(done.touched);
        after = begin == 0 ? holder::none : holder::pack(slot, std::min(had, begin));
    } else {
        done = change_in_full(run, slot, before, begin, end, where, add);
        after = before; // it has put the word
    }
    if (after != before) {
        set(run, slot, before, after);
    }
    m_residencies += static_cast<std::uint64_t>(static_cast<std::int64_t>(done.held));
    count(slot, where, add ? std::int64_t{done.touched} : -std::int64_t{done.touched});
    if (add) {
        c.held_end = std::max(c.held_end, end);
    } else if (done.held != 0 && end >= c.held_end) {
        c.held_end = held_end(run);
    }
    return done;
}

/// Where one number does not say it before and after. All that may fail comes before anything changes.
residency_change holders::change_in_full(std::uint32_t run, std::uint32_t slot, std::uint64_t before,
                                         std::uint32_t begin, std::uint32_t end, tier where, bool add) {
    residency held = residency_of(run, slot);
    const residency_change done = index::change(held, begin, end, mask_of(where), add);
    if (where != tier::gpu && add) {
        m_tiered.store(true, std::memory_order_relaxed); // before the word, see reader_view::tiered()
    }
    std::uint64_t after = holder::none;
    if (!is_simple(held)) {
        after = holder::pack(slot, ends_of(held), true);
        if (find_detail(run, slot) == nullptr) {
            m_memory.room_in(run, &run_extra::details);
        }
    } else if (!held.empty()) {
        after = holder::pack(slot, held[0].end);
    }
    if (after != before) {
        try {
            set(run, slot, before, after);
        } catch (...) {
            m_memory.trim_extra(run); // of the room made above
            throw;
        }
    }
    if (is_simple(held)) {
        forget_detail(run, slot);
    } else if (residency* detail = find_detail(run, slot)) {
        *detail = std::move(held);
    } else {
        m_memory.extra_of(run).details.push_back({slot, std::move(held)});
    }
    return done;
}

void holders::forget_detail(std::uint32_t run, std::uint32_t slot) noexcept {
    if (run_extra* extra = m_memory.find_extra(run)) {
        std::erase_if(extra->details, [&](const holder_detail& d) { return d.slot == slot; });
        m_memory.trim_extra(run);
    }
}

void holders::forget_all(std::uint32_t run, std::uint32_t slot) noexcept {
    const std::uint64_t word = word_of(run, slot);
    if (word == holder::none) {
        return;
    }
    const std::uint32_t end = end_of(run, word);
    if (holder::complex(word)) {
        for (const stretch& s : *find_detail(run, slot)) {
            m_residencies -= s.end - s.begin;
            for (std::uint32_t t = 0; t < tier_count; t++) {
                if (count_in(s.tiers, t) != 0) {
                    count(slot, tier{static_cast<std::uint8_t>(t)}, -std::int64_t{s.end - s.begin});
                }
            }
        }
    } else {
        m_residencies -= end;
        count(slot, tier::gpu, -std::int64_t{end});
    }
    set(run, slot, word, holder::none);
    forget_detail(run, slot);
    run_cold& c = m_memory.colds[run];
    if (end >= c.held_end) {
        c.held_end = held_end(run);
    }
}

void holders::forget(std::uint32_t run, std::uint32_t slot, tier_mask tiers) {
    if (tiers == all_tiers) {
        forget_all(run, slot);
        return;
    }
    for (std::uint32_t t = 0; t < tier_count; t++) {
        if (count_in(tiers, t) != 0) {
            change(run, slot, 0, storage::max_run, tier{static_cast<std::uint8_t>(t)}, false);
        }
    }
}

void holders::set(std::uint32_t run, std::uint32_t slot, std::uint64_t before, std::uint64_t word) {
    run_cold& c = m_memory.colds[run];
    if (word == holder::none) {
        c.holder_count--;
        m_slots[slot].held--;
        put_word(run, slot, word); // needs no memory
        return;
    }
    if (before != holder::none) {
        put_word(run, slot, word);
        return;
    }
    make_room_for_run(slot);
    c.holder_count++;
    try {
        put_word(run, slot, word);
    } catch (...) {
        c.holder_count--;
        throw;
    }
    m_slots[slot].held++;
    m_slots[slot].runs.push_back(run);
}

/// The slot's list gets one more. The list that is being swept, which may be another's, is swept further.
void holders::tidy_runs(std::uint32_t slot) {
    if (m_sweep.slot() == run_sweep::nobody) {
        if (m_slots[slot].runs.size() <= 2 * std::size_t{m_slots[slot].held} + 64) {
            return;
        }
        m_sweep.begin(slot);
    }
    const std::uint32_t swept = m_sweep.slot();
    m_sweep.step(m_slots[swept].runs, [&](std::uint32_t run) {
        return m_memory.colds[run].live && word_of(run, swept) != holder::none;
    });
}

/// Throws std::bad_alloc without effect.
void holders::make_room_for_run(std::uint32_t slot) {
    tidy_runs(slot);
    std::vector<std::uint32_t>& runs = m_slots[slot].runs;
    if (runs.size() == runs.capacity()) {
        runs.reserve(runs.size() * 2 + 1);
    }
}

void holders::put_word(std::uint32_t run, std::uint32_t slot, std::uint64_t word) {
    run_head& h = m_memory.heads[run];
    const std::uint32_t cover = h.cover.load(std::memory_order_relaxed);
    if (cover != 0) {
        put_in_table(run, cover, slot, word);
        return;
    }
    std::uint32_t i = index_of(h.holders.data(), storage::inline_holders, slot);
    for (std::uint32_t k = 0; i == nowhere && k < storage::inline_holders; k++) {
        i = h.holders[k].load(std::memory_order_relaxed) == holder::none ? k : nowhere;
    }
    if (i == nowhere) {
        rebuild(run, slot, word);
    } else {
        // Release: pairs with the walk; the content it speaks of was written before.
        h.holders[i].store(word, std::memory_order_release);
    }
}

void holders::put_in_table(std::uint32_t run, std::uint32_t at, std::uint32_t slot, std::uint64_t word) {
    holder_table& t = table(at);
    const std::uint64_t counts = t.counts.load(std::memory_order_relaxed);
    const std::uint32_t used = holder_table::used(counts);
    const std::uint32_t has_bit = level_of(t, slot);
    const std::uint32_t has_word = index_of(t.holders(), used, slot);
    const std::uint64_t mask = std::uint64_t{1} << (slot % 64);
    const auto clear_bit = [&] {
        std::atomic<std::uint64_t>& bits = t.bits(has_bit)[slot / 64];
        bits.store(bits.load(std::memory_order_relaxed) & ~mask, std::memory_order_release);
    };
    if (word == holder::none) {
        if (m_memory.colds[run].holder_count <= 2) {
            try {
                rebuild(run, slot, word);
                return;
            } catch (const std::bad_alloc&) {
                // Then the table stays: it serves as well.
            }
        }
        if (has_word != nowhere) {
            t.holders()[has_word].store(word, std::memory_order_release);
        }
        if (has_bit != nowhere) {
            clear_bit();
        }
        return;
    }
    const bool plain = !holder::complex(word);
    const bool bit_stays =
        has_bit != nowhere && plain && holder_table::cut(counts, has_bit) == holder::end(word, 0);
    if (has_word == nowhere) {
        if (bit_stays) {
            return;
        }
        if (has_bit == nowhere && plain && slot / 64 < t.words()) {
            for (std::uint32_t level = 0; level < t.levels(); level++) {
                if (holder_table::cut(counts, level) == holder::end(word, 0)) {
                    std::atomic<std::uint64_t>& bits = t.bits(level)[slot / 64];
                    bits.store(bits.load(std::memory_order_relaxed) | mask, std::memory_order_release);
                    return;
                }
            }
        }
        std::uint32_t free = 0;
        while (free < used && t.holders()[free].load(std::memory_order_relaxed) != holder::none) {
            free++;
        }
        if (free == t.capacity()) {
            rebuild(run, slot, word);
            return;
        }
        t.holders()[free].store(word, std::memory_order_release);
        if (free == used) {
            t.counts.store(counts + 1, std::memory_order_release); // `used` is the lowest part
        }
    } else {
        t.holders()[has_word].store(word, std::memory_order_release);
    }
    if (has_bit != nowhere && !bit_stays) {
        clear_bit();
    }
}

/// Makes the run's holders anew, with this word in the place of the slot's old one: the most common ends get
/// a bit set each, and few holders go back into the head. Throws std::bad_alloc without effect.
void holders::rebuild(std::uint32_t run, std::uint32_t slot, std::uint64_t word) {
    run_head& h = m_memory.heads[run];
    m_memory.reclaim.make_room(1);
    std::vector<std::uint64_t> words;
    words.reserve(m_memory.colds[run].holder_count + 1);
    for_each(run, [&](std::uint32_t s, std::uint64_t w) {
        if (s != slot) {
            words.push_back(w);
        }
    });
    if (word != holder::none) {
        words.push_back(word);
    }
    const std::uint32_t old = h.cover.load(std::memory_order_relaxed);
    const auto retire_old = [&] {
        if (old != 0) {
            m_memory.reclaim.retire(m_memory.covers, old, table(old).granules());
        }
    };
    if (words.size() <= storage::inline_holders) {
        for (std::uint32_t i = 0; i < storage::inline_holders; i++) {
            h.holders[i].store(i < words.size() ? words[i] : holder::none, std::memory_order_release);
        }
        // Release: readers that see no table see the words.
        h.cover.store(0, std::memory_order_release);
        retire_old();
        return;
    }
    // The most common ends of plain holders.
    std::vector<std::uint32_t> ends;
    for (const std::uint64_t w : words) {
        if (!holder::complex(w) && holder::slot(w) / 64 < m_words) {
            ends.push_back(holder::end(w, 0));
        }
    }
    std::sort(ends.begin(), ends.end());
    std::vector<std::pair<std::uint32_t, std::uint32_t>> frequent; // (count, end)
    for (std::size_t i = 0; i < ends.size();) {
        std::size_t k = i;
        while (k < ends.size() && ends[k] == ends[i]) {
            k++;
        }
        if (k - i > 2 && k - i > m_words) {
            frequent.emplace_back(static_cast<std::uint32_t>(k - i), ends[i]);
        }
        i = k;
    }
    std::sort(frequent.rbegin(), frequent.rend());
    frequent.resize(std::min<std::size_t>(frequent.size(), holder_table::max_levels));
    std::sort(frequent.begin(), frequent.end(), [](auto a, auto b) { return a.second < b.second; });
    const auto levels = static_cast<std::uint32_t>(frequent.size());

    auto rest = static_cast<std::uint32_t>(words.size());
    for (const auto& f : frequent) {
        rest -= f.first;
    }
    const std::uint32_t room = std::min(rest + std::max(4u, rest / 2), storage::core_slots + 1);
    std::uint32_t granules = (holder_table::head_words + levels * m_words + room + 7) / 8;
    granules = storage::granule_arena::rounded(granules);
    const std::uint32_t capacity =
        std::min(granules * 8 - holder_table::head_words - levels * m_words, storage::core_slots + 1);
    const std::uint32_t at = m_memory.covers.take(granules);
    holder_table& t = table(at);
    t.shape = m_words | levels << 8 | capacity << 16 | std::uint64_t{granules} << 32;
    for (std::uint32_t i = 0; i < levels * m_words + capacity; i++) {
        t.bits(0)[i].store(0, std::memory_order_relaxed);
    }
    std::uint64_t counts = 0;
    std::uint32_t used = 0;
    for (const std::uint64_t w : words) {
        std::uint32_t level = 0;
        while (level < levels && frequent[level].second != holder::end(w, 0)) {
            level++;
        }
        const std::uint32_t s = holder::slot(w);
        if (level < levels && !holder::complex(w) && s / 64 < m_words) {
            std::atomic<std::uint64_t>& bits = t.bits(level)[s / 64];
            bits.store(bits.load(std::memory_order_relaxed) | std::uint64_t{1} << (s % 64),
                       std::memory_order_relaxed);
        } else {
            t.holders()[used++].store(w, std::memory_order_relaxed);
        }
    }
    counts = used;
    for (std::uint32_t level = 0; level < levels; level++) {
        counts |= std::uint64_t{frequent[level].second} << (16 * (level + 1));
    }
    t.counts.store(counts, std::memory_order_relaxed);
    // Release: pairs with the walk, which reads the table behind it.
    h.cover.store(at, std::memory_order_release);
    retire_old();
}

void holders::release(std::uint32_t run) {
    run_head& h = m_memory.heads[run];
    const std::uint32_t cover = h.cover.load(std::memory_order_relaxed);
    if (cover != 0) {
        m_memory.reclaim.retire(m_memory.covers, cover, table(cover).granules());
    }
}

std::uint64_t holders::bytes() const {
    std::uint64_t all = 0;
    for (const slot_runs& s : m_slots) {
        all += s.runs.capacity() * sizeof(std::uint32_t);
    }
    return all;
}

} // namespace kvindex::index
