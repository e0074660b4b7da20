/// The tree of runs: lays content, keeps for a while what nobody holds, frees it. Writer only.
#pragma once

#include "index/names.hpp"

namespace kvindex::index {

/// Consecutive blocks of one run that content was found at or laid into.
struct laid_blocks {
    place first;
    std::uint32_t count = 0;
    bool fresh = false; ///< laid now: nameless
};

class content {
public:
    content(memory& m, holders& h, names& n, const limits& l)
        : m_memory(m), m_holders(h), m_names(n), m_limits(l) {
    }

    /// Finds or lays the start of `locals` behind `after` (a block, or the root with a name space); what is
    /// laid gets the domain's plane. At least one block; at most to the end of a run.
    /// Without `may_grow` nothing new is laid: count 0 where the content is not known. The caller calls
    /// review() for the run when it is held, or is not going to be.
    laid_blocks lay(place after, std::span<const local_hash> locals, std::uint32_t domain, bool may_grow);

    /// What the run's holders need changed: its end may be kept for nobody now, or no longer.
    void review(std::uint32_t run);

    bool keeps_too_many() const {
        return m_dead > to_keep();
    }

    /// Frees ends that nobody needs, oldest first, down to what may be kept.
    void reap();

    /// Frees everything that nobody needs.
    void reap_all() {
        reap_to(0);
    }

    void give_number_back(std::uint32_t run) {
        m_memory.colds[run].first_child = m_free_run; // the list of free numbers
        m_free_run = run;
    }

    std::uint64_t runs() const {
        return m_runs;
    }

    /// In the tree, those kept for nobody included.
    std::uint64_t blocks() const {
        return m_blocks;
    }

    /// At the ends of runs, kept for nobody.
    std::uint64_t ghosts() const {
        return m_dead;
    }

    std::uint64_t run_bytes_in_use() const {
        return m_runs * (sizeof(storage::run_head) + sizeof(storage::run_cold));
    }

    std::uint64_t run_bytes() const {
        return std::uint64_t{m_top} * (sizeof(storage::run_head) + sizeof(storage::run_cold));
    }

private:
    friend struct snapshot::core_access;

    std::uint32_t make_run(place after, std::span<const local_hash> locals, std::uint32_t domain,
                           laid_blocks& out);
    std::uint32_t append(std::uint32_t run, std::span<const local_hash> locals);
    void shorten(std::uint32_t run, std::uint32_t len);
    void remove(std::uint32_t run);
    void resize(std::uint32_t run, std::uint32_t capacity);
    void find_child_end(std::uint32_t run);
    void enqueue(std::uint32_t run);
    std::uint64_t to_keep() const;
    void reap_to(std::uint64_t kept);
    void look_ahead(std::uint32_t run);
    std::uint32_t needed(const storage::run_cold& c) const {
        return c.held_end > c.child_end ? c.held_end : c.child_end;
    }

    std::uint64_t* words_of(std::uint32_t run) const {
        return m_memory.content.words(m_memory.heads[run].content.load(std::memory_order_relaxed));
    }

    memory& m_memory;
    holders& m_holders;
    names& m_names;
    const limits m_limits;
    std::uint32_t m_top = 1;
    std::uint32_t m_free_run = 0;
    std::uint32_t m_first_dead = 0; // queue of runs whose end nobody may need
    std::uint32_t m_last_dead = 0;
    std::uint64_t m_runs = 0;
    std::uint64_t m_blocks = 0;
    std::uint64_t m_dead = 0;
};

} // namespace kvindex::index
