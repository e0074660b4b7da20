#include "snapshot/builder.hpp"

#include "snapshot/failure.hpp"

#include <algorithm>

namespace kvindex::snapshot {

using index::private_domain;
using index::private_domains;
using storage::names_per_line;
using storage::place;
using storage::root_run;

builder::builder(const input_file& file, std::uint32_t part, index::core& core)
    : m_file(file), m_runs(file.runs(part)), m_core(core), m_memory(core_access::memory_of(core)),
      m_order(file, part), m_made(m_runs.size(), 0), m_space(m_runs.size(), 0) {
    m_position.reserve(m_runs.size() + 1);
    m_position.push_back(tree_order::none); // runs count from 1
    const std::uint32_t first = part * storage::core_slots;
    for (std::uint32_t i = first; i < std::min<std::size_t>(first + storage::core_slots, file.slots().size());
         i++) {
        if (file.slots()[i].open != 0) {
            m_slots[i - first] = &file.slots()[i];
        }
    }
}

void builder::refuse(std::uint32_t position, const char* what) const {
    throw damaged(m_file.byte_of(m_runs[position]),
                  "run " + std::to_string(record(position).run()) + ": " + what);
}

void builder::conflict(std::uint32_t position, const char* what) const {
    if (m_file.quiet()) {
        refuse(position, what);
    }
}

void builder::build() {
    for (const std::uint32_t i : m_order.order()) {
        if (make_run(i)) {
            make_names(i);
        } else {
            m_dropped_runs++;
        }
    }
    for (std::uint32_t i = 0; i < m_runs.size(); i++) {
        if (m_made[i] != 0) {
            make_holders(i);
            make_spares(i);
            core_access::content_of(m_core).review(m_made[i]);
        }
    }
    settle_own_names();
}

/// False when the run is not part of the tree as the file has it.
bool builder::make_run(std::uint32_t position) {
    const run_record r = record(position);
    place after = r.parent();
    m_space[position] = after.offset;
    if (after.run != root_run) {
        const std::uint32_t parent = m_order.parent_of(position);
        if (parent == tree_order::none || m_made[parent] == 0) {
            return false;
        }
        const auto words = record(parent).locals();
        if (after.offset >= words.size()) {
            conflict(position, "hangs behind its parent's end");
            return false;
        }
        if (after.offset + 1 < words.size() && words[after.offset + 1] == r.locals()[0]) {
            conflict(position, "says what its parent says already");
            return false;
        }
        m_space[position] = m_space[parent];
        after.run = m_made[parent];
    }
    if (m_memory.children.find(after, r.locals()[0]) != 0) {
        conflict(position, "is there twice");
        return false;
    }
    const std::uint32_t run = core_access::make_run(m_core, after, r.locals(), r.domain(0));
    m_made[position] = run;
    m_position.resize(std::max<std::size_t>(m_position.size(), run + 1), tree_order::none);
    m_position[run] = position;
    return true;
}

void builder::make_names(std::uint32_t position) {
    const run_record r = record(position);
    make_plane(position, 0, 0);
    for (std::uint32_t p = 1; p < r.planes(); p++) {
        const std::uint32_t domain = r.domain(p);
        if (domain >= private_domains && !is_open(domain - private_domains)) {
            continue; // of a slot that is not in the file
        }
        auto& planes = m_memory.extra_of(m_made[position]).planes;
        planes.push_back({.domain = domain});
        make_plane(position, p, static_cast<std::uint32_t>(planes.size()));
    }
}

/// The names of one plane of the file into plane `built` of the run.
void builder::make_plane(std::uint32_t position, std::uint32_t plane, std::uint32_t built) {
    constexpr std::uint32_t look_ahead = 12;
    const run_record r = record(position);
    const std::uint32_t domain = r.domain(plane);
    const auto names = r.names(plane);
    auto end = static_cast<std::uint32_t>(names.size());
    while (end != 0 && names[end - 1] == 0) {
        end--;
    }
    if (end == 0) {
        return;
    }
    // The last line first: it makes the list of lines as long as it will be.
    core_access::make_line(m_core, m_made[position], built, (end - 1) / names_per_line);
    for (std::uint32_t o = 0; o < std::min(look_ahead, end); o++) {
        m_memory.names.prefetch(names[o]);
    }
    std::uint32_t line = 0;
    for (std::uint32_t o = 0; o < end; o++) {
        if (o + look_ahead < end) {
            m_memory.names.prefetch(names[o + look_ahead]);
        }
        if (o % names_per_line == 0) {
            line = 0;
        }
        if (names[o] == 0) {
            continue;
        }
        const std::uint32_t known = m_memory.names.find(names[o]);
        if (known != 0 && !wins(position, known, {domain, o, names[o]})) {
            continue;
        }
        if (line == 0) {
            line = core_access::make_line(m_core, m_made[position], built, o / names_per_line);
        }
        const std::uint32_t k = o % names_per_line;
        m_memory.lines[line].names[k] = names[o];
        m_memory.names.insert(names[o], line * 8 + 1 + k);
        if (domain >= private_domains) {
            core_access::count_own(m_core, domain - private_domains, 1);
            m_own.push_back({domain - private_domains, names[o]});
        }
    }
}

/// A name that is at another place already: the later of the two places, in the order of the save, keeps it.
bool builder::wins(std::uint32_t position, std::uint32_t known, const name_at& name) {
    storage::name_line& line = m_memory.lines[known >> 3];
    const std::uint32_t other = m_position[line.run];
    conflict(position, "a name that another block has too");
    if (other == position) {
        refuse(position, "a name twice");
    }
    m_dropped_names++;
    if (other > position) {
        m_lost[position].push_back(name);
        return false;
    }
    const std::uint32_t i = (known & 7) - 1;
    m_lost[other].push_back({name.domain, line.step * names_per_line + i, name.salted});
    m_memory.names.erase(name.salted, known);
    line.names[i] = 0;
    if (name.domain >= private_domains) {
        core_access::count_own(m_core, name.domain - private_domains, -1);
    }
    return true;
}

} // namespace kvindex::snapshot
