/// Counts the memory of an index part by part, by looking at every run. For measurements only.
#include "base/memory_parts.hpp"

#include "facade/state.hpp"
#include "snapshot/core_access.hpp"

namespace kvindex {
namespace {

using snapshot::core_access;
using storage::granule_arena;

/// One core's tables; adds to what other cores have.
class survey {
public:
    survey(index::core& c, memory_parts& to) : m_core(c), m_memory(core_access::memory_of(c)), m_out(to) {
    }

    void take() {
        const statistics s = m_core.stats();
        m_out.residencies += s.residencies;
        m_out.blocks += s.blocks;
        m_out.ghosts += s.ghosts;
        m_out.runs += s.runs;
        for (std::uint32_t run = 1; run < core_access::run_end(m_core); run++) {
            if (m_memory.colds[run].live) {
                count_run(run);
            }
        }
        count_arenas();
        m_out.runs_of_slots += core_access::holders_of(m_core).bytes();
        count_extras();
        // What stats() sums up and the tables above do not have: the orphans' lists and tables.
        const index::names& n = core_access::names_of(m_core);
        const index::content& c = core_access::content_of(m_core);
        m_out.decisions += core_access::decisions_of(m_core).bytes();
        m_out.orphans += s.bytes - core_access::decisions_of(m_core).bytes() - c.run_bytes() - n.line_bytes() -
                         core_access::holders_of(m_core).bytes() - m_memory.content.bytes() -
                         m_memory.lists.bytes() - m_memory.covers.bytes() - m_memory.name_table.bytes() -
                         m_memory.child_lines.bytes();
    }

private:
    void count_run(std::uint32_t run) {
        const storage::run_head& h = m_memory.heads[run];
        const storage::run_cold& c = m_memory.colds[run];
        const std::uint32_t len = h.len.load(std::memory_order_relaxed);
        m_out.content_words += std::uint64_t{len} * 8;
        m_out.content_empty += std::uint64_t{h.cold - len} * 8;
        m_content_taken += std::uint64_t{h.cold} * 8;
        m_out.short_runs += len <= 8 ? 1u : 0u;
        m_out.slot_runs += c.holder_count;
        count_ids(c.names, c.name_lines);
        if (const index::run_extra* extra = m_memory.find_extra(run)) {
            for (const index::plane& p : extra->planes) {
                count_ids(p.names, p.lines);
            }
        }
        if (const std::uint32_t cover = h.cover.load(std::memory_order_relaxed); cover != 0) {
            count_table(cover);
        } else {
            m_out.head_words += c.holder_count;
        }
    }

    void count_ids(std::uint32_t at, std::uint32_t room) {
        const auto* ids = reinterpret_cast<const std::uint32_t*>(m_memory.lists.words(at));
        for (std::uint32_t i = 0; i < room; i++) {
            if (ids[i] == 0) {
                m_out.ids_empty += sizeof(std::uint32_t);
                continue;
            }
            m_out.ids_used += sizeof(std::uint32_t);
            const storage::name_line& line = m_memory.lines[ids[i]];
            std::uint64_t used = 0;
            for (const engine_hash name : line.names) {
                used += name != 0 ? 1u : 0u;
            }
            m_lines++;
            m_out.lines++;
            m_out.names += used;
            m_out.lone_lines += used <= 3 ? 1u : 0u;
            m_out.line_heads += 8;
            m_out.line_names += used * 8;
            m_out.line_empty += (storage::names_per_line - used) * 8;
        }
        m_ids_taken += std::uint64_t{room} * sizeof(std::uint32_t);
    }

    void count_table(std::uint32_t at) {
        const auto& t = *reinterpret_cast<const storage::holder_table*>(m_memory.covers.words(at));
        const std::uint64_t counts = t.counts.load(std::memory_order_relaxed);
        const std::uint64_t all = std::uint64_t{t.granules()} * sizeof(storage::granule);
        std::uint64_t words = storage::holder_table::head_words + std::uint64_t{t.levels()} * t.words();
        for (std::uint32_t i = 0; i < storage::holder_table::used(counts); i++) {
            words += t.holders()[i].load(std::memory_order_relaxed) != storage::holder::none ? 1u : 0u;
        }
        m_out.tables++;
        m_out.table_words += words * 8;
        m_out.table_empty += all - words * 8;
        m_tables_taken += all;
    }

    void count_arenas() {
        m_out.content_idle += m_memory.content.bytes() - m_content_taken;
        m_out.ids_idle += m_memory.lists.bytes() - m_ids_taken;
        m_out.table_idle += m_memory.covers.bytes() - m_tables_taken;
        const index::names& n = core_access::names_of(m_core);
        m_out.line_idle += n.line_bytes() - m_lines * sizeof(storage::name_line);

        const storage::name_map& map = m_memory.names;
        const std::uint64_t lines = m_memory.name_table.bytes_in_use() / sizeof(storage::granule);
        m_out.map_lines += lines;
        m_out.map_entries += map.size() * 6;
        m_out.map_heads += lines * 4;
        m_out.map_empty += (lines * 10 - map.size()) * 6;
        m_out.map_directory += map.bytes() - lines * sizeof(storage::granule);
        m_out.map_idle += m_memory.name_table.bytes() - lines * sizeof(storage::granule);

        const storage::granule_arena& children = m_memory.child_lines;
        m_out.child_entries += m_memory.children.size() * 8;
        m_out.child_empty += children.bytes_in_use() - m_memory.children.size() * 8;
        m_out.child_idle += children.bytes() - children.bytes_in_use();

        const index::content& c = core_access::content_of(m_core);
        m_out.heads += c.runs() * sizeof(storage::run_head);
        m_out.colds += c.runs() * sizeof(storage::run_cold);
        m_out.runs_idle += c.run_bytes() - c.run_bytes_in_use();
    }

    void count_extras() {
        m_out.extras += m_memory.extras.size() * sizeof(m_memory.extras[0]);
        for (const auto& e : m_memory.extras) {
            m_out.extras += sizeof(*e) + e->details.capacity() * sizeof(index::holder_detail) +
                            e->planes.capacity() * sizeof(index::plane) +
                            e->spares.capacity() * sizeof(index::spare_name);
            for (const index::holder_detail& d : e->details) {
                m_out.extras += d.held.capacity() * sizeof(index::stretch);
            }
        }
    }

    index::core& m_core;
    index::memory& m_memory;
    memory_parts& m_out;
    std::uint64_t m_content_taken = 0;
    std::uint64_t m_ids_taken = 0;
    std::uint64_t m_lines = 0;
    std::uint64_t m_tables_taken = 0;
};

} // namespace

memory_parts prefix_index::memory() const {
    const std::lock_guard alone(m_state->writers);
    memory_parts sum;
    const std::uint32_t made = m_state->cores_made.load(std::memory_order_relaxed);
    for (std::uint32_t i = 0; i < made; i++) {
        survey(*m_state->cores[i], sum).take();
    }
    return sum;
}

} // namespace kvindex
