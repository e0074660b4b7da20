#include "snapshot/tree_order.hpp"

#include "snapshot/failure.hpp"

#include <algorithm>

namespace kvindex::snapshot {

tree_order::tree_order(const input_file& file, std::uint32_t part) {
    const auto runs = file.runs(part);
    const auto n = static_cast<std::uint32_t>(runs.size());
    std::vector<std::uint32_t> numbers(n);
    std::transform(runs.begin(), runs.end(), numbers.begin(),
                   [](const std::uint64_t* words) { return run_record(words).run(); });
    m_parent.assign(n, none);
    m_order.reserve(n);
    std::vector<std::uint32_t> first(n, none); // child, by parent
    std::vector<std::uint32_t> next(n, none);  // sibling
    for (std::uint32_t i = n; i-- != 0;) {
        const storage::place parent = run_record(runs[i]).parent();
        const auto found = std::lower_bound(numbers.begin(), numbers.end(), parent.run);
        if (parent.run == storage::root_run || found == numbers.end() || *found != parent.run) {
            if (parent.run != storage::root_run && file.quiet()) {
                throw damaged(file.byte_of(runs[i]) + 8,
                              "run " + std::to_string(numbers[i]) + ": its parent is not there");
            }
            m_order.push_back(i);
            continue;
        }
        m_parent[i] = static_cast<std::uint32_t>(found - numbers.begin());
        next[i] = first[m_parent[i]];
        first[m_parent[i]] = i;
    }
    std::reverse(m_order.begin(), m_order.end());
    for (std::size_t k = 0; k < m_order.size(); k++) {
        for (std::uint32_t child = first[m_order[k]]; child != none; child = next[child]) {
            m_order.push_back(child);
        }
    }
    if (m_order.size() != n) {
        std::vector<bool> reached(n, false);
        for (const std::uint32_t i : m_order) {
            reached[i] = true;
        }
        const auto lost =
            static_cast<std::size_t>(std::find(reached.begin(), reached.end(), false) - reached.begin());
        throw damaged(file.byte_of(runs[lost]) + 8,
                      "run " + std::to_string(numbers[lost]) + ": hangs in a ring");
    }
}

} // namespace kvindex::snapshot
