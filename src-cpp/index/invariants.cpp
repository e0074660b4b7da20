/// Checks of the whole core against itself, for tests: nothing here is fast or needed to run.
#include "index/core.hpp"

#include <algorithm>
#include <map>
#include <sstream>

namespace kvindex::index {

using storage::holder;
using storage::root_run;
using storage::run_cold;
using storage::run_head;

class invariant_check {
public:
    explicit invariant_check(const core& c) : m_core(c) {
    }

    std::string first_broken() {
        collect_runs();
        for (const std::uint32_t run : m_runs) {
            check_run(run);
        }
        check_names();
        const statistics s = m_core.stats();
        expect(s.runs == m_runs.size(), "runs counted ", s.runs, ", found ", m_runs.size());
        expect(s.blocks == m_blocks, "blocks counted ", s.blocks, ", found ", m_blocks);
        expect(s.ghosts == m_ghosts, "ghosts counted ", s.ghosts, ", found ", m_ghosts);
        expect(s.residencies == m_residencies, "residencies counted ", s.residencies, ", found ",
               m_residencies);
        for (std::uint32_t slot = 0; slot < storage::core_slots; slot++) {
            for (std::uint32_t t = 0; t < tier_count; t++) {
                const std::uint64_t counted = m_core.m_holders.blocks_in(slot, t);
                expect(counted == m_tier_blocks[slot][t], "slot ", slot, ": ", counted,
                       " blocks counted in tier ", t, ", found ", m_tier_blocks[slot][t]);
            }
        }
        expect(m_core.m_decisions.held() == m_approximate, "decisions hold ", m_core.m_decisions.held(),
               " pairs, their slots ", m_approximate);
        const std::string decisions = m_core.m_decisions.first_broken_invariant();
        expect(decisions.empty(), decisions);
        return m_broken;
    }

private:
    template <typename... Parts>
    void expect(bool holds, const Parts&... parts) {
        if (!holds && m_broken.empty()) {
            std::ostringstream text;
            (text << ... << parts);
            m_broken = text.str();
        }
    }

    const memory& m() const {
        return m_core.m_memory;
    }

    void collect_runs() {
        const std::uint64_t top = m_core.m_content.run_bytes() / (sizeof(run_head) + sizeof(run_cold));
        for (std::uint32_t run = 1; run < top; run++) {
            if (m().colds[run].live) {
                m_runs.push_back(run);
            }
        }
    }

    void check_run(std::uint32_t run) {
        const run_head& h = m().heads[run];
        const run_cold& c = m().colds[run];
        const std::uint32_t len = h.len;
        const place parent{h.parent, h.parent_at};
        expect(len != 0 && len <= storage::max_run && len <= h.cold, "run ", run, " has length ", len);
        expect(m().content.words(h.content)[0] == h.first, "run ", run, ": first block differs from the head");
        expect(m().children.find(parent, h.first) == run, "run ", run, " is not found as a child");
        if (parent.run != root_run) {
            expect(m().colds[parent.run].live && parent.offset < m().heads[parent.run].len, "run ", run,
                   " hangs in the air");
            expect(parent.offset < m().colds[parent.run].child_end, "run ", run,
                   " hangs behind its parent's children");
        }
        std::uint32_t held_end = 0;
        std::uint32_t holders = 0;
        m_core.m_holders.for_each(run, [&](std::uint32_t slot, std::uint64_t word) {
            holders++;
            expect(m_core.m_open[slot], "run ", run, ": slot ", slot, " is closed");
            const residency held = m_core.m_holders.residency_of(run, slot);
            expect(!held.empty() && held.back().end <= len, "run ", run, ": slot ", slot,
                   " holds beyond the end");
            expect(holder::complex(word) != is_simple(held), "run ", run, ": slot ", slot,
                   " is wrongly marked");
            const auto ends = ends_of(held);
            for (std::uint32_t t = 0; t < tier_count; t++) {
                expect(holder::end(word, t) == ends[t], "run ", run, ": slot ", slot, " shows a wrong end");
            }
            for (const stretch& s : held) {
                m_residencies += s.end - s.begin;
                for (std::uint32_t t = 0; t < tier_count; t++) {
                    m_tier_blocks[slot][t] += count_in(s.tiers, t) * (s.end - s.begin);
                }
                m_approximate += m_core.is_approximate(slot) ? s.end - s.begin : 0;
            }
            held_end = std::max(held_end, held.back().end);
            const auto& runs = const_cast<core&>(m_core).m_holders.runs_of(slot);
            expect(std::find(runs.begin(), runs.end(), run) != runs.end(), "slot ", slot, " does not know run ",
                   run);
        });
        expect(holders == c.holder_count, "run ", run, ": ", c.holder_count, " holders counted");
        expect(held_end == c.held_end, "run ", run, ": held up to ", held_end, ", noted ", c.held_end);
        expect(c.dead == len - std::max(c.held_end, c.child_end), "run ", run, ": ", c.dead, " dead noted");
        expect(c.dead == 0 || c.queued, "run ", run, " has a dead end and is not queued");
        std::uint32_t child_end = 0;
        std::uint32_t children = 0;
        for (std::uint32_t k = c.first_child; k != 0; k = m().colds[k].next_sibling) {
            child_end = std::max(child_end, m().heads[k].parent_at + 1u);
            children++;
        }
        expect(child_end == c.child_end, "run ", run, ": children up to ", child_end, ", noted ", c.child_end);
        expect(children == c.children, "run ", run, ": ", children, " children, noted ", c.children);
        if (const run_extra* extra = m().find_extra(run)) {
            expect(!extra->empty(), "run ", run, " keeps an empty extra part");
            check_spares(run, *extra);
        }
        m_blocks += len;
        m_ghosts += c.dead;
    }

    /// The names under which a slot holds a block say together what it holds.
    void check_spares(std::uint32_t run, const run_extra& extra) {
        std::map<std::pair<std::uint32_t, std::uint32_t>, tier_mask> told; // (slot, block)
        for (const spare_name& s : extra.spares) {
            expect(s.tiers != 0, "run ", run, ": slot ", s.slot, " has a name in no tier");
            told[{s.slot, s.offset}] |= s.tiers;
        }
        for (const auto& [who, tiers] : told) {
            expect(tiers == m_core.m_holders.tiers_at(run, who.first, who.second), "run ", run, ": slot ",
                   who.first, " holds block ", who.second, " in other tiers than its names say");
        }
    }

    /// Every name in a line is in the map, at this block; the map has no others.
    void check_names() {
        std::uint64_t named = 0;
        for (const std::uint32_t run : m_runs) {
            const run_extra* extra = m().find_extra(run);
            for (std::uint32_t p = 0; p <= (extra == nullptr ? 0 : extra->planes.size()); p++) {
                const run_cold& c = m().colds[run];
                const std::uint32_t at = p == 0 ? c.names : extra->planes[p - 1].names;
                const std::uint32_t lines = p == 0 ? c.name_lines : extra->planes[p - 1].lines;
                const auto* ids = reinterpret_cast<const std::uint32_t*>(m().lists.words(at));
                for (std::uint32_t step = 0; step < lines; step++) {
                    for (std::uint32_t i = 0; ids[step] != 0 && i < storage::names_per_line; i++) {
                        const storage::name_line& l = m().lines[ids[step]];
                        expect(l.run == run && l.step == step && l.plane == p, "run ", run, ": line ",
                               ids[step], " is elsewhere");
                        if (l.names[i] != 0) {
                            named++;
                            expect(m().names.find(l.names[i]) == ids[step] * 8 + 1 + i, "run ", run,
                                   ": a name is not in the map");
                            expect(step * storage::names_per_line + i < m().heads[run].len, "run ", run,
                                   ": a name behind the end");
                        }
                    }
                }
            }
        }
        expect(named == m().names.size(), "the map has ", m().names.size(), " names, the runs ", named);
    }

    const core& m_core;
    std::vector<std::uint32_t> m_runs;
    std::uint64_t m_blocks = 0;
    std::uint64_t m_ghosts = 0;
    std::uint64_t m_residencies = 0;
    std::vector<std::array<std::uint64_t, tier_count>> m_tier_blocks{storage::core_slots};
    std::uint64_t m_approximate = 0; // of these, by decisions
    std::string m_broken;
};

std::string core::first_broken_invariant() const {
    return invariant_check(*this).first_broken();
}

} // namespace kvindex::index
