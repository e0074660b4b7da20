/// In which order the runs of a part are made: parents first.
#pragma once

#include "snapshot/input_file.hpp"
#include "snapshot/record.hpp"

namespace kvindex::snapshot {

/// Runs are meant by their position in the file here.
class tree_order {
public:
    static constexpr std::uint32_t none = 0xffffffffu;

    /// Throws damaged when runs hang in a ring, or, in a quiet file, in the air.
    tree_order(const input_file& file, std::uint32_t part);

    /// Every run after its parent; children of one parent in the order of the file. Runs whose parent is not
    /// there are first.
    const std::vector<std::uint32_t>& order() const {
        return m_order;
    }

    /// Position of the parent; none at the root, or when it is not there.
    std::uint32_t parent_of(std::uint32_t position) const {
        return m_parent[position];
    }

private:
    std::vector<std::uint32_t> m_order;
    std::vector<std::uint32_t> m_parent;
};

} // namespace kvindex::snapshot
