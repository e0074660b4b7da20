#include "index/content_tree.hpp"

#include "base/common_prefix.hpp"

#include <algorithm>

namespace kvindex::index {

using storage::branch;
using storage::child_key;
using storage::max_run_blocks;

namespace {

void write_blocks(run& r, std::span<const local_hash> locals) {
    r.locals.insert(r.locals.end(), locals.begin(), locals.end());
    r.holders.resize(r.locals.size(), 0);
}

auto branch_at(run& r, std::uint32_t offset) {
    return std::lower_bound(r.branches.begin(), r.branches.end(), offset,
                            [](const branch& b, std::uint32_t o) { return b.offset < o; });
}

} // namespace

content_tree::content_tree(memory_account& account) : m_runs(account), m_children(account) {
}

run_id content_tree::find_child(place at, local_hash local) const {
    const auto* found = m_children.find(child_key{at, local});
    return found == nullptr ? run_id::none : found->child;
}

stretch content_tree::lay(place at, std::span<const local_hash> locals) {
    place first = {at.run, at.offset + 1};
    const bool inside = at.run != run_id::none && first.offset < m_runs[at.run].size() &&
                        m_runs[at.run].locals[first.offset] == locals[0];
    if (!inside) {
        const run_id child = find_child(at, locals[0]);
        if (child == run_id::none) {
            const bool at_end = at.run != run_id::none && first.offset == m_runs[at.run].size();
            return at_end && first.offset < max_run_blocks ? append(at.run, locals) : add_run(at, locals);
        }
        first = {child, 0};
    }
    const run& r = m_runs[first.run];
    const std::size_t most = std::min<std::size_t>(locals.size(), r.size() - first.offset);
    const std::size_t same = common_prefix(locals.data(), r.locals.data() + first.offset, most);
    return {first, static_cast<std::uint32_t>(same)};
}

stretch content_tree::add_run(place parent, std::span<const local_hash> locals) {
    locals = locals.first(std::min<std::size_t>(locals.size(), max_run_blocks));
    m_children.reserve(1);
    if (parent.run != run_id::none) {
        make_room(m_runs[parent.run].branches, 1);
    }
    const run_id id = m_runs.acquire();
    run& r = m_runs[id];
    try {
        make_room(r.locals, locals.size());
        make_room(r.holders, locals.size());
    } catch (...) {
        m_runs.release(id);
        throw;
    }
    write_blocks(r, locals);
    r.parent = parent;
    m_children.insert({locals[0], parent, id});
    if (parent.run != run_id::none) {
        run& p = m_runs[parent.run];
        const auto b = branch_at(p, parent.offset);
        if (b != p.branches.end() && b->offset == parent.offset) {
            b->children++;
        } else {
            p.branches.insert(b, {parent.offset, 1});
        }
    }
    mark(id);
    return {{id, 0}, r.size()};
}

stretch content_tree::append(run_id id, std::span<const local_hash> locals) {
    run& r = m_runs[id];
    const std::uint32_t first = r.size();
    locals = locals.first(std::min<std::size_t>(locals.size(), max_run_blocks - first));
    make_room(r.locals, locals.size());
    make_room(r.holders, locals.size());
    write_blocks(r, locals);
    mark(id);
    return {{id, first}, r.size() - first};
}

void content_tree::mark(run_id id) noexcept {
    run& r = m_runs[id];
    if (!r.marked) {
        r.marked = true;
        r.next = m_marked;
        m_marked = id;
    }
}

void content_tree::sweep() noexcept {
    while (m_marked != run_id::none) {
        const run_id id = m_marked;
        run& r = m_runs[id];
        m_marked = r.next;
        r.next = run_id::none;
        r.marked = false;

        std::uint32_t needed = r.size();
        const std::uint32_t last_branch = r.branches.empty() ? 0 : r.branches.back().offset + 1;
        while (needed > last_branch && r.holders[needed - 1] == 0) {
            needed--;
        }
        if (needed == 0) {
            unlink(id); // marks the parent: its end may have been kept for this child only
        } else if (needed < r.size()) {
            r.locals.erase(r.locals.begin() + needed, r.locals.end());
            r.holders.erase(r.holders.begin() + needed, r.holders.end());
            trim_room(r.locals);
            trim_room(r.holders);
        }
    }
}

void content_tree::unlink(run_id id) noexcept {
    const place parent = m_runs[id].parent;
    m_children.erase(m_children.find(child_key{parent, m_runs[id].locals[0]}));
    m_children.shrink();
    if (parent.run != run_id::none) {
        run& p = m_runs[parent.run];
        const auto b = branch_at(p, parent.offset);
        if (--b->children == 0) {
            p.branches.erase(b);
            trim_room(p.branches);
        }
        mark(parent.run);
    }
    m_runs.release(id);
}

} // namespace kvindex::index
