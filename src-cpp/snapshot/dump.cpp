#include "snapshot/dump.hpp"

#include "snapshot/failure.hpp"

#include <algorithm>

namespace kvindex::snapshot {
namespace {

constexpr std::size_t section_words = std::size_t{1} << 17; // 1 MiB: a write() costs nothing beside its bytes
constexpr std::uint32_t looks_at_clock = 64;                // numbers, when they are free ones

} // namespace

dump::dump(output_file& to) : m_to(to), m_words(section_words * 5 / 4) {
}

void dump::begin(index::core& from, std::uint32_t part) {
    m_from = &from;
    m_part = part;
    m_next = 1;
    m_end = core_access::run_end(from);
}

std::uint64_t* dump::extend(std::size_t words) {
    if (m_used + words > m_words.size()) {
        m_words.resize(std::max(m_used + words, m_words.size() * 2));
    }
    m_used += words;
    return m_words.data() + m_used - words;
}

bool dump::take(clock::time_point until) {
    index::memory& memory = core_access::memory_of(*m_from);
    while (m_next < m_end) {
        const std::uint32_t run = m_next++;
        const bool live = memory.colds[run].live;
        if (m_next + 4 < m_end) {
            __builtin_prefetch(&memory.colds[m_next + 4]);
            __builtin_prefetch(&memory.heads[m_next + 4]);
        }
        if (live) {
            take_run(run);
        }
        if (m_used >= section_words || ((live || run % looks_at_clock == 0) && clock::now() >= until)) {
            break;
        }
    }
    return m_next < m_end;
}

void dump::flush(bool any) {
    if (m_used >= section_words || (any && m_used != 0)) {
        m_to.write_section(section_kind::runs, m_part, std::as_bytes(std::span(m_words.data(), m_used)));
        m_used = 0;
    }
}

/// The names of one plane, block by block.
void dump::take_names(std::uint32_t names, std::uint32_t lines, std::uint32_t len, std::uint64_t* to) const {
    using storage::names_per_line;
    constexpr std::uint32_t ahead = 8;
    const index::memory& memory = core_access::memory_of(*m_from);
    const auto* ids = reinterpret_cast<const std::uint32_t*>(memory.lists.words(names));
    for (std::uint32_t step = 0; step * names_per_line < len; step++) {
        const std::uint32_t first = step * names_per_line;
        const std::uint32_t n = std::min(names_per_line, len - first);
        if (step + ahead < lines) {
            __builtin_prefetch(&memory.lines[ids[step + ahead]]);
        }
        if (step < lines && ids[step] != 0) {
            std::copy_n(memory.lines[ids[step]].names.data(), n, to + first);
        } else {
            std::fill_n(to + first, n, 0u);
        }
    }
}

void dump::take_run(std::uint32_t run) {
    index::memory& memory = core_access::memory_of(*m_from);
    const index::holders& holders = core_access::holders_of(*m_from);
    const storage::run_head& h = memory.heads[run];
    const storage::run_cold& c = memory.colds[run];
    const index::run_extra* extra = memory.find_extra(run);
    const std::uint32_t len = h.len.load(std::memory_order_relaxed);
    const std::size_t begin = m_used;
    const std::size_t planes = 1 + (extra == nullptr ? 0 : extra->planes.size());
    const std::size_t spares = extra == nullptr ? 0 : extra->spares.size();
    if (planes > 0xffff) {
        throw failed("run " + std::to_string(run) + " has too many planes of names for a snapshot");
    }
    std::uint64_t* to = extend(run_head_words + len + planes * (1 + len));
    to[1] = std::uint64_t{h.parent.load(std::memory_order_relaxed)} |
            std::uint64_t{h.parent_at.load(std::memory_order_relaxed)} << 32 | std::uint64_t{len} << 48;
    std::uint64_t told = 0; // holders by events; decisions are not worth keeping
    holders.for_each(
        run, [&](std::uint32_t slot, std::uint64_t) { told += m_from->is_approximate(slot) ? 0u : 1u; });
    to[2] = planes | told << 16 | std::uint64_t{spares} << 32;
    to = std::copy_n(memory.content.words(h.content.load(std::memory_order_relaxed)), len, to + run_head_words);
    *to = c.domain;
    take_names(c.names, c.name_lines, len, to + 1);
    for (std::size_t p = 1; p < planes; p++) {
        to += 1 + len;
        *to = extra->planes[p - 1].domain;
        take_names(extra->planes[p - 1].names, extra->planes[p - 1].lines, len, to + 1);
    }
    holders.for_each(run, [&](std::uint32_t slot, std::uint64_t word) {
        if (m_from->is_approximate(slot)) {
            return;
        }
        if (!storage::holder::complex(word)) {
            *extend(1) = slot | std::uint64_t{storage::holder::end(word, 0)} << 32;
            return;
        }
        const index::residency held = holders.residency_of(run, slot);
        std::uint64_t* out = extend(1 + held.size());
        *out++ = slot | std::uint64_t{held.size()} << 16 | std::uint64_t{held.back().end} << 32;
        for (const index::stretch& s : held) {
            *out++ = s.begin | std::uint64_t{s.end} << 16 | std::uint64_t{s.tiers} << 32;
        }
    });
    for (std::size_t i = 0; i < spares; i++) {
        const index::spare_name& s = extra->spares[i];
        std::uint64_t* out = extend(spare_words);
        out[0] = s.slot | std::uint64_t{s.offset} << 16 | std::uint64_t{s.tiers} << 32;
        out[1] = s.name;
    }
    m_words[begin] = run | std::uint64_t{m_used - begin} << 32;
    m_runs++;
}

} // namespace kvindex::snapshot
