/// Where names lie: a run's planes, their lines, and the map that leads to them.
#include "index/names.hpp"

#include <algorithm>

namespace kvindex::index {

using storage::name_line;
using storage::names_per_line;

namespace {

constexpr std::uint32_t ids_per_granule = 16;

} // namespace

plane names::plane_at(std::uint32_t run, std::uint32_t index) const {
    if (index == 0) {
        const storage::run_cold& c = m_memory.colds[run];
        return {c.domain, c.names, c.name_lines};
    }
    return m_memory.find_extra(run)->planes[index - 1];
}

/// First plane of the domain, or no_plane.
std::uint32_t names::plane_of(std::uint32_t run, std::uint32_t domain) const {
    if (m_memory.colds[run].domain == domain) {
        return 0;
    }
    if (const run_extra* extra = m_memory.find_extra(run)) {
        for (std::uint32_t i = 0; i < extra->planes.size(); i++) {
            if (extra->planes[i].domain == domain) {
                return i + 1;
            }
        }
    }
    return no_plane;
}

/// Block number of the name that this plane has for the block, 0 = none.
std::uint32_t names::number_at(std::uint32_t run, std::uint32_t index, std::uint32_t offset) const {
    const plane p = plane_at(run, index);
    const std::uint32_t step = offset / names_per_line;
    if (step >= p.lines) {
        return 0;
    }
    const auto* ids = reinterpret_cast<const std::uint32_t*>(m_memory.lists.words(p.names));
    const std::uint32_t line = ids[step];
    const std::uint32_t i = offset % names_per_line;
    return line == 0 || m_memory.lines[line].names[i] == 0 ? 0 : line * 8 + 1 + i;
}

std::uint32_t names::make_line(std::uint32_t run, std::uint32_t index, std::uint32_t step) {
    storage::run_cold& c = m_memory.colds[run];
    plane p = plane_at(run, index);
    if (step >= p.lines) {
        const std::uint32_t wanted = std::max(step + 1, p.lines + p.lines / 2);
        const std::uint32_t granules =
            storage::granule_arena::rounded((wanted + ids_per_granule - 1) / ids_per_granule);
        const std::uint32_t made = m_memory.lists.take(granules);
        auto* to = reinterpret_cast<std::uint32_t*>(m_memory.lists.words(made));
        const auto* from = reinterpret_cast<const std::uint32_t*>(m_memory.lists.words(p.names));
        std::copy_n(from, p.lines, to);
        std::fill(to + p.lines, to + granules * ids_per_granule, 0u);
        if (p.lines != 0) {
            m_memory.lists.give_back(p.names, p.lines / ids_per_granule);
        }
        p.names = made;
        p.lines = granules * ids_per_granule;
        if (index == 0) {
            c.names = p.names;
            c.name_lines = p.lines;
        } else {
            m_memory.find_extra(run)->planes[index - 1] = p;
        }
    }
    auto* ids = reinterpret_cast<std::uint32_t*>(m_memory.lists.words(p.names));
    if (ids[step] == 0) {
        std::uint32_t line = m_top;
        if (!m_free_lines.empty()) {
            line = m_free_lines.back();
            m_free_lines.pop_back();
        } else if (m_top == m_memory.lines.capacity() || m_top >= 1u << 29) {
            throw std::bad_alloc();
        } else {
            m_top++;
        }
        name_line& l = m_memory.lines[line];
        l.run = run;
        l.step = static_cast<std::uint16_t>(step);
        l.plane = static_cast<std::uint16_t>(index);
        l.names.fill(0);
        ids[step] = line;
    }
    return ids[step];
}

std::uint32_t names::add_plane(std::uint32_t run, std::uint32_t domain) {
    auto& planes = m_memory.extra_of(run).planes;
    planes.push_back({.domain = domain});
    return static_cast<std::uint32_t>(planes.size());
}

/// Writes a name into its empty place; false, and the place stays empty, when another block has it.
bool names::bind(engine_hash& place_of_name, engine_hash salted_name, std::uint32_t number) {
    place_of_name = salted_name;
    try {
        if (m_memory.names.find_or_insert(salted_name, number) == 0) [[likely]] {
            return true;
        }
    } catch (...) {
        place_of_name = 0;
        throw;
    }
    place_of_name = 0;
    return false;
}

/// Gives the block this name in the first plane of the domain that has none for it.
void names::write(std::uint32_t domain, place at, engine_hash name) {
    std::uint32_t index = plane_of(at.run, domain);
    if (index == no_plane || number_at(at.run, index, at.offset) != 0) {
        auto& planes = m_memory.extra_of(at.run).planes;
        index = 0;
        for (std::uint32_t i = 0; i < planes.size() && index == 0; i++) {
            if (planes[i].domain == domain && number_at(at.run, i + 1, at.offset) == 0) {
                index = i + 1;
            }
        }
        if (index == 0) {
            index = add_plane(at.run, domain);
        }
    }
    const std::uint32_t line = make_line(at.run, index, at.offset / names_per_line);
    const std::uint32_t i = at.offset % names_per_line;
    bind(m_memory.lines[line].names[i], salted(name, domain), line * 8 + 1 + i);
}

void names::unbind(std::uint32_t number) {
    engine_hash& name = m_memory.lines[number >> 3].names[(number & 7) - 1];
    m_memory.names.erase(name, number);
    name = 0;
}

void names::cut(std::uint32_t run, std::uint32_t from, std::uint32_t len) {
    run_extra* extra = m_memory.find_extra(run);
    const std::uint32_t planes = extra == nullptr ? 1 : static_cast<std::uint32_t>(extra->planes.size() + 1);
    const std::uint32_t kept = (from + names_per_line - 1) / names_per_line; // lines
    for (std::uint32_t index = 0; index < planes; index++) {
        const plane p = plane_at(run, index);
        auto* ids = reinterpret_cast<std::uint32_t*>(m_memory.lists.words(p.names));
        const std::uint32_t end = std::min(p.lines, (len + names_per_line - 1) / names_per_line);
        for (std::uint32_t k = from / names_per_line; k < std::min(end, from / names_per_line + lines_ahead);
             k++) {
            kvindex::prefetch_to_write(&m_memory.lines[ids[k]]);
        }
        for (std::uint32_t step = from / names_per_line; step < end; step++) {
            if (step + lines_ahead < end) {
                kvindex::prefetch_to_write(&m_memory.lines[ids[step + lines_ahead]]);
            }
            if (step + 3 < end) {
                for (const engine_hash n : m_memory.lines[ids[step + 3]].names) {
                    m_memory.names.prefetch(n);
                }
            }
            if (ids[step] == 0) {
                continue;
            }
            name_line& line = m_memory.lines[ids[step]];
            const std::uint32_t first = step * names_per_line < from ? from - step * names_per_line : 0;
            for (std::uint32_t i = first; i < names_per_line; i++) {
                if (line.names[i] != 0) {
                    m_memory.names.erase(line.names[i], ids[step] * 8 + 1 + i);
                    line.names[i] = 0;
                    if (p.domain >= private_domains) {
                        m_own[p.domain - private_domains]--;
                    }
                }
            }
            if (step >= kept) {
                m_free_lines.push_back(ids[step]);
                ids[step] = 0;
            }
        }
        if (from == 0 && p.lines != 0) {
            m_memory.lists.give_back(p.names, p.lines / ids_per_granule);
        }
    }
    if (from == 0) {
        m_memory.colds[run].names = 0;
        m_memory.colds[run].name_lines = 0;
        if (extra != nullptr) {
            extra->planes.clear();
            extra->spares.clear();
        }
    }
    m_memory.trim_extra(run);
}

} // namespace kvindex::index
